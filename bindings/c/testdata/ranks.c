/*
 * One rank of a job that runs every operation of thunder.h and checks the results. It
 * gets THUNDER_RANK and so on from the environment, and exits 0 if everything was right.
 */
#include "thunder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(cond)                                                                                             \
	do {                                                                                                    \
		if (!(cond)) {                                                                                  \
			fprintf(stderr, "rank %d: line %d: %s: %s\n", rank, __LINE__, #cond, thunder_last_error()); \
			exit(1);                                                                                \
		}                                                                                               \
	} while (0)
#define OK(call) CHECK((call) == THUNDER_OK)

static int rank = -1, size;
static thunder_comm world;

/* Buffers come from malloc with their exact length, so that AddressSanitizer detects accesses beyond. */
static float *floats(size_t n, float first, float step) {
	float *p = malloc(n * sizeof *p + (n == 0));
	for (size_t i = 0; i < n; i++) {
		p[i] = first + step * (float)i;
	}
	return p;
}

static void reductions(size_t n) {
	float *buf = floats(n, (float)rank, 1), *in = floats(n, (float)rank, 1);
	int ranks = size * (size - 1) / 2;
	OK(thunder_all_reduce(world, NULL, buf, n, THUNDER_F32, THUNDER_SUM));
	for (size_t i = 0; i < n; i++) {
		CHECK(buf[i] == (float)(ranks + (int)i * size));
	}
	OK(thunder_all_reduce(world, in, buf, n, THUNDER_F32, THUNDER_MAX));
	for (size_t i = 0; i < n; i++) {
		CHECK(buf[i] == (float)(size - 1 + (int)i));
	}
	OK(thunder_reduce(world, NULL, in, n, THUNDER_F32, THUNDER_SUM, size - 1));
	for (size_t i = 0; i < n; i++) {
		CHECK(in[i] == (rank == size - 1 ? (float)(ranks + (int)i * size) : (float)(rank + (int)i)));
	}
	float *all = floats(n * (size_t)size, 0, 1), *part = floats(n, 0, 0);
	OK(thunder_reduce_scatter(world, all, part, n, THUNDER_F32, THUNDER_AVG));
	for (size_t i = 0; i < n; i++) {
		CHECK(part[i] == (float)((size_t)rank * n + i));
	}
	free(buf), free(in), free(all), free(part);
}

static void movements(size_t n) {
	size_t r = (size_t)rank, s = (size_t)size;
	float *own = floats(n, 100.0f * (float)rank, 1), *all = floats(n * s, -1, 0), *back = floats(n * s, -1, 0);
	OK(thunder_all_gather(world, own, all, n, THUNDER_F32));
	for (size_t i = 0; i < n * s; i++) {
		CHECK(all[i] == 100.0f * (float)(i / n) + (float)(i % n));
	}
	OK(thunder_all_to_all(world, all, back, n, THUNDER_F32));
	for (size_t i = 0; i < n * s; i++) {
		CHECK(back[i] == 100.0f * (float)rank + (float)(i % n));
	}
	memset(back, 0, n * s * sizeof *back);
	OK(thunder_gather(world, own, back, n, THUNDER_F32, 0));
	CHECK(rank != 0 || memcmp(back, all, n * s * sizeof *back) == 0);
	memset(own, 0, n * sizeof *own);
	OK(thunder_scatter(world, back, own, n, THUNDER_F32, 0));
	CHECK(memcmp(own, all + r * n, n * sizeof *own) == 0);
	OK(thunder_broadcast(world, own, n, THUNDER_F32, size - 1));
	CHECK(memcmp(own, all + (s - 1) * n, n * sizeof *own) == 0);
	free(own), free(all), free(back);
}

/* Rank r has r+1 elements of value r. */
static void varying(void) {
	size_t r = (size_t)rank, s = (size_t)size, total = s * (s + 1) / 2, k = 0;
	int64_t counts[64], to_me[64];
	for (size_t i = 0; i < s; i++) {
		counts[i] = (int64_t)i + 1;
		to_me[i] = rank + 1;
	}
	float *own = floats(r + 1, (float)rank, 0), *all = floats(total, -1, 0);
	OK(thunder_all_gather_v(world, own, all, counts, THUNDER_F32));
	for (size_t i = 0; i < s; i++) {
		for (size_t j = 0; j <= i; j++) {
			CHECK(all[k++] == (float)i);
		}
	}
	float *out = floats(rank == 0 ? total : 0, -1, 0);
	OK(thunder_gather_v(world, own, r + 1, out, counts, THUNDER_F32, 0));
	CHECK(rank != 0 || memcmp(out, all, total * sizeof *out) == 0);
	memset(own, 0, (r + 1) * sizeof *own);
	OK(thunder_scatter_v(world, out, counts, own, r + 1, THUNDER_F32, 0));
	CHECK(own[0] == (float)rank && own[r] == (float)rank);
	float *mine = floats(s * (r + 1), -1, 0);
	OK(thunder_all_to_all_v(world, all, counts, mine, to_me, THUNDER_F32));
	for (size_t i = 0; i < s * (r + 1); i++) {
		CHECK(mine[i] == (float)rank); /* the r-th part of everybody's list is r */
	}
	free(own), free(all), free(out), free(mine);
}

static void pairs(void) {
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	int64_t out = rank, in = -1;
	OK(thunder_send_recv(world, &out, 1, next, &in, 1, prev, THUNDER_I64));
	CHECK(in == prev);
	if (size > 1 && rank == 0) {
		OK(thunder_send(world, &out, 1, THUNDER_I64, 1));
	} else if (rank == 1) {
		OK(thunder_recv(world, &in, 1, THUNDER_I64, 0));
		CHECK(in == 0);
	}
}

static void on_done(void *arg, int code, const char *text) {
	int *pipe_end = arg;
	char byte = (char)code;
	(void)text;
	if (write(*pipe_end, &byte, 1) != 1) {
		abort();
	}
}

static void asynchronous(void) {
	enum { n = 1000, many = 8 };
	float *bufs[many];
	thunder_work works[many];
	int ends[2];
	char byte;
	CHECK(pipe(ends) == 0);
	for (int k = 0; k < many; k++) {
		bufs[k] = floats(n, (float)(rank + k), 0);
		thunder_request r = {.struct_size = sizeof r, .kind = THUNDER_ALL_REDUCE, .dtype = THUNDER_F32, .op = THUNDER_SUM};
		r.recv = bufs[k];
		r.recv_bytes = n * sizeof(float);
		r.timeout_ms = 60000;
		OK(thunder_start(world, &r, k == many - 1 ? on_done : NULL, &ends[1], &works[k]));
		memset(&r, 0xff, sizeof r);
	}
	for (int k = 0; k < many; k++) {
		int code;
		while ((code = thunder_wait(works[k], 20)) == THUNDER_RUNNING) {
		}
		CHECK(code == THUNDER_OK);
		CHECK(thunder_wait(works[k], 0) == THUNDER_OK && thunder_wait(works[k], -1) == THUNDER_OK);
		OK(thunder_release(works[k]));
		CHECK(thunder_wait(works[k], 0) == THUNDER_INVALID);
		CHECK(bufs[k][n - 1] == (float)(size * (size - 1) / 2 + k * size));
		free(bufs[k]);
	}
	CHECK(read(ends[0], &byte, 1) == 1 && byte == THUNDER_OK);
	close(ends[0]), close(ends[1]);
}

static void groups(void) {
	thunder_comm half, none;
	int32_t v = rank;
	OK(thunder_split(world, rank % 2, -rank, &half));
	CHECK(thunder_size(half) == (size + 1 - rank % 2) / 2);
	CHECK(thunder_rank(half) == thunder_size(half) - 1 - rank / 2);
	OK(thunder_all_reduce(half, NULL, &v, 1, THUNDER_I32, THUNDER_MIN));
	CHECK(v == rank % 2);
	OK(thunder_close(half));
	CHECK(thunder_barrier(half) == THUNDER_INVALID);
	OK(thunder_split(world, -1, 0, &none));
	CHECK(none == 0);
}

static void memory(void) {
	float *p = NULL;
	OK(thunder_alloc(world, 4096 * sizeof *p, (void **)&p));
	CHECK(p[0] == 0 && p[4095] == 0);
	for (int i = 0; i < 4096; i++) {
		p[i] = 1;
	}
	OK(thunder_all_reduce(world, NULL, p, 4096, THUNDER_F32, THUNDER_SUM));
	CHECK(p[0] == (float)size && p[4095] == (float)size);
	OK(thunder_free(world, p));
	CHECK(thunder_free(world, p) == THUNDER_INVALID);
}

static void mistakes(void) {
	float x = 1;
	thunder_request r = {0};
	char name[16];
	CHECK(thunder_all_reduce(world, NULL, &x, 1, 99, THUNDER_SUM) == THUNDER_INVALID);
	CHECK(thunder_all_reduce(world, NULL, &x, 1, THUNDER_F32, THUNDER_XOR) == THUNDER_INVALID);
	CHECK(strlen(thunder_last_error()) > 0);
	CHECK(thunder_broadcast(world, &x, 1, THUNDER_F32, size) == THUNDER_INVALID);
	CHECK(thunder_barrier(12345) == THUNDER_INVALID && thunder_rank(12345) == -1);
	CHECK(thunder_run(world, NULL) == THUNDER_INVALID && thunder_run(world, &r) == THUNDER_INVALID);
	CHECK(thunder_init(NULL, NULL) == THUNDER_INVALID);
	OK(thunder_fabric(world, name, sizeof name));
	CHECK(thunder_fabric(world, name, 2) == THUNDER_INVALID);
	CHECK(thunder_interrupt("nobody is blocked") == 0);
	OK(thunder_comm_error(world));
}

static void child(void) {
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		_exit(thunder_barrier(world) == THUNDER_FORKED && strlen(thunder_last_error()) > 0 ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Must be last: the group is unusable afterwards. */
static void disagreement(const char *how) {
	float x[2] = {1, 2};
	int code;
	if (strcmp(how, "mismatch") == 0) {
		code = thunder_all_reduce(world, NULL, x, rank == 0 ? 1 : 2, THUNDER_F32, THUNDER_SUM);
		CHECK(size == 1 ? code == THUNDER_OK : code == THUNDER_MISMATCH);
	} else if (strcmp(how, "abort") == 0) {
		/* Not before the others have finished what was before: they send a message then. */
		for (int r = 1; rank == 0 && r < size; r++) {
			OK(thunder_recv(world, x, 1, THUNDER_F32, r));
		}
		if (rank == 0) {
			OK(thunder_abort(world, "enough"));
		} else {
			code = thunder_send(world, x, 1, THUNDER_F32, 0);
			CHECK((code == THUNDER_OK ? thunder_barrier(world) : code) == THUNDER_ABORTED);
		}
		CHECK(thunder_comm_error(world) == THUNDER_ABORTED);
	} else if (rank != 0) { /* timeout: rank 0 sends a message, but never calls the barrier */
		thunder_request r = {.struct_size = sizeof r, .kind = THUNDER_BARRIER, .timeout_ms = 100};
		OK(thunder_recv(world, x, 1, THUNDER_F32, 0));
		CHECK(thunder_run(world, &r) == THUNDER_TIMEOUT);
	} else {
		code = thunder_send(world, x, 1, THUNDER_F32, 1);
		CHECK(code == THUNDER_OK || code == THUNDER_TIMEOUT);
		while (thunder_comm_error(world) == THUNDER_OK) {
			usleep(1000);
		}
		CHECK(thunder_comm_error(world) == THUNDER_TIMEOUT);
	}
}

/* Options of programs that were compiled with another header. */
static void versions(void) {
	CHECK(thunder_version() == THUNDER_VERSION);
	thunder_comm c;
	thunder_options o;
	memset(&o, 0, sizeof o);
	o.size = 1;
	o.start_timeout_ms = -5; /* which is refused, unless it is beyond the end */
	o.struct_size = sizeof o;
	CHECK(thunder_init(&o, &c) == THUNDER_INVALID && strstr(thunder_last_error(), "negative") != NULL);
	o.struct_size = offsetof(thunder_options, start_timeout_ms);
	OK(thunder_init(&o, &c));
	CHECK(thunder_size(c) == 1);
	OK(thunder_close(c));
	static const size_t wrong[] = {0, sizeof(size_t), sizeof o + 8};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		o.struct_size = wrong[i];
		CHECK(thunder_init(&o, &c) == THUNDER_INVALID && strstr(thunder_last_error(), "struct_size") != NULL);
	}
}

int main(int argc, char **argv) {
	OK(thunder_init(NULL, &world));
	rank = thunder_rank(world);
	size = thunder_size(world);
	static const size_t lengths[] = {1, 7, 1000, 100003};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		reductions(lengths[i]);
		movements(lengths[i]);
	}
	varying();
	pairs();
	asynchronous();
	groups();
	memory();
	mistakes();
	if (size == 1) {
		versions();
	}
	child();
	OK(thunder_barrier(world));
	if (argc > 1) {
		disagreement(argv[1]);
	}
	OK(thunder_close(world));
	CHECK(thunder_close(world) == THUNDER_INVALID);
	return 0;
}
