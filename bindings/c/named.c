/* The named operations: each fills in a request and runs it. */
#include "thunder.h"

static thunder_request request(int kind, int dtype) {
	thunder_request r = {.struct_size = sizeof r, .kind = kind, .dtype = dtype};
	return r;
}

static void send_from(thunder_request *r, const void *p, size_t count) {
	r->send = p;
	r->send_bytes = p == NULL ? 0 : count * thunder_dtype_size(r->dtype);
}

static void receive_in(thunder_request *r, void *p, size_t count) {
	r->recv = p;
	r->recv_bytes = p == NULL ? 0 : count * thunder_dtype_size(r->dtype);
}

/* The number of ranks; 0 for an unknown group, which thunder_run refuses. */
static size_t ranks(thunder_comm c) {
	int n = thunder_size(c);
	return n < 0 ? 0 : (size_t)n;
}

static size_t total(thunder_comm c, const int64_t *counts) {
	size_t sum = 0;
	for (size_t i = 0, n = counts == NULL ? 0 : ranks(c); i < n; i++) {
		sum += (size_t)counts[i];
	}
	return sum;
}

int thunder_barrier(thunder_comm c) {
	thunder_request r = request(THUNDER_BARRIER, 0);
	return thunder_run(c, &r);
}

int thunder_all_reduce(thunder_comm c, const void *send, void *recv, size_t count, int dtype, int op) {
	thunder_request r = request(THUNDER_ALL_REDUCE, dtype);
	r.op = op;
	send_from(&r, send, count);
	receive_in(&r, recv, count);
	return thunder_run(c, &r);
}

int thunder_reduce(thunder_comm c, const void *send, void *recv, size_t count, int dtype, int op, int root) {
	thunder_request r = request(THUNDER_REDUCE, dtype);
	r.op = op;
	r.root = root;
	send_from(&r, send, count);
	receive_in(&r, recv, count);
	return thunder_run(c, &r);
}

int thunder_reduce_scatter(thunder_comm c, const void *send, void *recv, size_t recv_count, int dtype, int op) {
	thunder_request r = request(THUNDER_REDUCE_SCATTER, dtype);
	r.op = op;
	send_from(&r, send, recv_count * ranks(c));
	receive_in(&r, recv, recv_count);
	return thunder_run(c, &r);
}

int thunder_all_gather(thunder_comm c, const void *send, void *recv, size_t send_count, int dtype) {
	thunder_request r = request(THUNDER_ALL_GATHER, dtype);
	send_from(&r, send, send_count);
	receive_in(&r, recv, send_count * ranks(c));
	return thunder_run(c, &r);
}

int thunder_all_gather_v(thunder_comm c, const void *send, void *recv, const int64_t *counts, int dtype) {
	thunder_request r = request(THUNDER_ALL_GATHER, dtype);
	int rank = thunder_rank(c);
	r.varying = 1;
	r.recv_counts = counts;
	send_from(&r, send, rank < 0 || counts == NULL ? 0 : (size_t)counts[rank]);
	receive_in(&r, recv, total(c, counts));
	return thunder_run(c, &r);
}

int thunder_broadcast(thunder_comm c, void *buf, size_t count, int dtype, int root) {
	thunder_request r = request(THUNDER_BROADCAST, dtype);
	r.root = root;
	receive_in(&r, buf, count);
	return thunder_run(c, &r);
}

int thunder_gather(thunder_comm c, const void *send, void *recv, size_t send_count, int dtype, int root) {
	thunder_request r = request(THUNDER_GATHER, dtype);
	r.root = root;
	send_from(&r, send, send_count);
	if (thunder_rank(c) == root) {
		receive_in(&r, recv, send_count * ranks(c));
	}
	return thunder_run(c, &r);
}

int thunder_gather_v(thunder_comm c, const void *send, size_t send_count, void *recv, const int64_t *counts, int dtype, int root) {
	thunder_request r = request(THUNDER_GATHER, dtype);
	r.root = root;
	r.varying = 1;
	send_from(&r, send, send_count);
	if (thunder_rank(c) == root) {
		r.recv_counts = counts;
		receive_in(&r, recv, total(c, counts));
	}
	return thunder_run(c, &r);
}

int thunder_scatter(thunder_comm c, const void *send, void *recv, size_t recv_count, int dtype, int root) {
	thunder_request r = request(THUNDER_SCATTER, dtype);
	r.root = root;
	receive_in(&r, recv, recv_count);
	if (thunder_rank(c) == root) {
		send_from(&r, send, recv_count * ranks(c));
	}
	return thunder_run(c, &r);
}

int thunder_scatter_v(thunder_comm c, const void *send, const int64_t *counts, void *recv, size_t recv_count, int dtype, int root) {
	thunder_request r = request(THUNDER_SCATTER, dtype);
	r.root = root;
	r.varying = 1;
	receive_in(&r, recv, recv_count);
	if (thunder_rank(c) == root) {
		r.send_counts = counts;
		send_from(&r, send, total(c, counts));
	}
	return thunder_run(c, &r);
}

int thunder_all_to_all(thunder_comm c, const void *send, void *recv, size_t count, int dtype) {
	thunder_request r = request(THUNDER_ALL_TO_ALL, dtype);
	send_from(&r, send, count * ranks(c));
	receive_in(&r, recv, count * ranks(c));
	return thunder_run(c, &r);
}

int thunder_all_to_all_v(thunder_comm c, const void *send, const int64_t *send_counts, void *recv, const int64_t *recv_counts, int dtype) {
	thunder_request r = request(THUNDER_ALL_TO_ALL, dtype);
	r.varying = 1;
	r.send_counts = send_counts;
	r.recv_counts = recv_counts;
	send_from(&r, send, total(c, send_counts));
	receive_in(&r, recv, total(c, recv_counts));
	return thunder_run(c, &r);
}

int thunder_send(thunder_comm c, const void *buf, size_t count, int dtype, int to) {
	thunder_request r = request(THUNDER_SEND, dtype);
	r.root = to;
	send_from(&r, buf, count);
	return thunder_run(c, &r);
}

int thunder_recv(thunder_comm c, void *buf, size_t count, int dtype, int from) {
	thunder_request r = request(THUNDER_RECV, dtype);
	r.root = from;
	receive_in(&r, buf, count);
	return thunder_run(c, &r);
}

int thunder_send_recv(thunder_comm c, const void *send, size_t send_count, int to, void *recv, size_t recv_count, int from, int dtype) {
	thunder_request r = request(THUNDER_SEND_RECV, dtype);
	r.root = to;
	r.from = from;
	send_from(&r, send, send_count);
	receive_in(&r, recv, recv_count);
	return thunder_run(c, &r);
}
