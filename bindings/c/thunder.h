/*
 * thunder.h: the C interface of thundercollective.
 *
 * Each process is one rank of a job. It joins with thunder_init, and then calls the same
 * operations in the same order as the other ranks:
 *
 *     thunder_comm c;
 *     if (thunder_init(NULL, &c) != THUNDER_OK) {
 *         fprintf(stderr, "%s\n", thunder_last_error());
 *         exit(1);
 *     }
 *     thunder_all_reduce(c, NULL, gradients, n, THUNDER_F32, THUNDER_AVG);
 *     thunder_close(c);
 *
 * Errors. Functions return THUNDER_OK or one of the codes below; thunder_last_error()
 * returns the text of the calling thread's last error. After any code except
 * THUNDER_INVALID and THUNDER_RUNNING the group is unusable: every later call returns the
 * same error, on this rank and on the others.
 *
 * Memory. Any memory works; that of thunder_alloc is sent without a copy if the fabric can
 * do that. The program must not use the buffers of an operation until it is done. If the
 * operation fails, the content of its buffers is undefined. Buffers must not overlap. In
 * all_reduce and reduce, send may be NULL: then recv is both input and output. Counts are
 * numbers of elements, not bytes.
 *
 * Threads. All threads may call all functions. The operations of a group run in the order
 * of the calls.
 *
 * Fork. The library does not work after fork without exec: in the child, every function
 * returns THUNDER_FORKED.
 */
#ifndef THUNDER_H
#define THUNDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of this header, as major * 10000 + minor * 100 + patch. Programs compiled
 * with an older header work with a newer library.
 */
#define THUNDER_VERSION 100

/* The version of the loaded library, in the same form. */
int thunder_version(void);

/* Return codes. */
enum {
	THUNDER_OK = 0,
	THUNDER_ERROR = 1,     /* any other error */
	THUNDER_PEER_LOST = 2, /* a rank is gone */
	THUNDER_TIMEOUT = 3,   /* the deadline passed */
	THUNDER_MISMATCH = 4,  /* ranks called different operations */
	THUNDER_AUTH = 5,      /* a peer does not know the token */
	THUNDER_ABORTED = 6,   /* a rank called thunder_abort, or was interrupted */
	THUNDER_CLOSED = 7,    /* this process closed the group */
	THUNDER_INVALID = 8,   /* the call was invalid and had no effect */
	THUNDER_FORKED = 9,    /* this process is a forked child */
	THUNDER_RUNNING = 10   /* thunder_wait: not done yet */
};

/* Element types. */
enum {
	THUNDER_F32 = 1, THUNDER_F64, THUNDER_F16, THUNDER_BF16,
	THUNDER_I8, THUNDER_I16, THUNDER_I32, THUNDER_I64,
	THUNDER_U8, THUNDER_U16, THUNDER_U32, THUNDER_U64,
	THUNDER_BOOL
};

/* Reductions. AND, OR and XOR are for integers and bool; AVG is not for bool. */
enum {
	THUNDER_SUM = 1, THUNDER_PROD, THUNDER_MIN, THUNDER_MAX, THUNDER_AVG,
	THUNDER_AND, THUNDER_OR, THUNDER_XOR
};

/* Operations, for thunder_request. */
enum {
	THUNDER_ALL_REDUCE = 1, THUNDER_REDUCE_SCATTER, THUNDER_ALL_GATHER,
	THUNDER_BROADCAST, THUNDER_REDUCE, THUNDER_GATHER, THUNDER_SCATTER,
	THUNDER_ALL_TO_ALL, THUNDER_BARRIER, THUNDER_SEND, THUNDER_RECV,
	THUNDER_SEND_RECV
};

typedef uint64_t thunder_comm; /* a group of ranks; 0 means none */
typedef uint64_t thunder_work; /* a started operation; 0 means none */

/*
 * Who this process is and how it reaches the others. Set all fields to zero first, and
 * struct_size to sizeof(thunder_options): fields that only newer headers have count as
 * zero. A field that is zero is taken from the environment (THUNDER_RANK and so on, or the
 * variables of a launcher) or has a default.
 */
typedef struct thunder_options {
	size_t struct_size;
	int32_t rank, size;       /* ignored if size is 0 */
	const char *addrs;        /* host:port of each rank, separated by spaces */
	const char *coordinator;  /* host:port where ranks register; rank 0 serves it */
	const char *hostfile;
	const void *token;        /* the job's secret */
	size_t token_len;
	int32_t insecure;         /* 1: listen beyond loopback without a token */
	int32_t streams;          /* connections to each peer */
	const char *fabric;       /* "auto", "tcp", "shm", "rdma" */
	const char *algo;         /* "auto", "ring", ... */
	int64_t timeout_ms;       /* of every operation; five minutes if 0 */
	int64_t start_timeout_ms; /* how far apart ranks may start; one minute if 0 */
} thunder_options;

/*
 * Joins the job and returns when all ranks have joined. options may be NULL. A process
 * that was not started as part of a job is a group of one rank.
 */
int thunder_init(const thunder_options *options, thunder_comm *out);

/*
 * Leaves the group. Closing the group of thunder_init closes all groups made from it.
 * Operations that are still running fail with THUNDER_CLOSED.
 */
int thunder_close(thunder_comm c);

/*
 * Divides the group: ranks with the same color form a new group, ordered by key and then
 * by rank. All ranks of c must call it. A rank with a negative color is in no new group;
 * its *out is 0.
 */
int thunder_split(thunder_comm c, int64_t color, int64_t key, thunder_comm *out);

/* This process's rank in the group, and the number of ranks; -1 if there is no such group. */
int thunder_rank(thunder_comm c);
int thunder_size(thunder_comm c);

/* Writes the name of the fabric, such as "tcp", to out, which has n bytes. */
int thunder_fabric(thunder_comm c, char *out, size_t n);

/* Returns the code of the error that made the group unusable; THUNDER_OK if it works. */
int thunder_comm_error(thunder_comm c);

/* Ends the group on all ranks; operations that are still running return THUNDER_ABORTED. */
int thunder_abort(thunder_comm c, const char *reason);

/*
 * Aborts every group of this process in which a thread is blocked in a call. Call it to
 * handle Ctrl-C, from another thread than the blocked one. It is not safe inside a signal
 * handler. Returns the number of groups that it aborted.
 */
int thunder_interrupt(const char *reason);

/* Allocates zeroed, page-aligned memory. Free it before closing the group. */
int thunder_alloc(thunder_comm c, size_t n, void **out);
int thunder_free(thunder_comm c, void *p);

/*
 * Returns the text of this thread's last error, valid until the thread's next call; "" if
 * there was none.
 */
const char *thunder_last_error(void);

/* Returns the number of bytes of an element; 0 if there is no such type. */
size_t thunder_dtype_size(int dtype);

/*
 * Describes any operation. Set all fields to zero first, and struct_size to
 * sizeof(thunder_request).
 *
 *   operation       send             recv                root      counts
 *   ALL_REDUCE      NULL or input    buffer / result
 *   REDUCE          NULL or input    buffer; root's result  root
 *   REDUCE_SCATTER  n * count        count
 *   ALL_GATHER      count            n * count                     recv_counts
 *   BROADCAST       -                buffer              root
 *   GATHER          count            n * count at root   root      recv_counts at root
 *   SCATTER         n * count, root  count               root      send_counts at root
 *   ALL_TO_ALL      n * count        n * count                     both
 *   BARRIER         -                -
 *   SEND            buffer           -                   receiver
 *   RECV            -                buffer              sender
 *   SEND_RECV       to root          from from           receiver
 *
 * n is the number of ranks. Set varying to 1 on all ranks to give a count for each rank;
 * ranks that the table shows no counts for may leave them NULL.
 */
typedef struct thunder_request {
	size_t struct_size;
	int32_t kind, dtype, op;
	int32_t root, from;
	int32_t varying;
	const void *send;
	size_t send_bytes;
	void *recv;
	size_t recv_bytes;
	const int64_t *send_counts, *recv_counts;
	int64_t timeout_ms; /* 0 means that of the options */
} thunder_request;

/* Runs an operation and returns when it is done. */
int thunder_run(thunder_comm c, const thunder_request *r);

/*
 * A function that a thread of the library calls once when an operation is done, with its
 * code and, if that is not THUNDER_OK, its text, which is valid until the function returns.
 */
typedef void (*thunder_callback)(void *arg, int code, const char *text);

/*
 * Starts an operation and returns at once. Operations run in the order of these calls. The
 * program may reuse r. done may be NULL. Release *out with thunder_release; out may be NULL
 * if done is not. If this returns an error, the operation was not started and done is not
 * called.
 */
int thunder_start(thunder_comm c, const thunder_request *r, thunder_callback done, void *arg, thunder_work *out);

/*
 * Waits until an operation is done and returns its code, or THUNDER_RUNNING if timeout_ms
 * pass first. A negative timeout_ms means to wait without limit, 0 not to wait.
 */
int thunder_wait(thunder_work w, int64_t timeout_ms);

/* Releases the handle. An operation that is still running continues and uses its buffers. */
int thunder_release(thunder_work w);

/* The operations as blocking functions; see the table above. */
int thunder_barrier(thunder_comm c);
int thunder_all_reduce(thunder_comm c, const void *send, void *recv, size_t count, int dtype, int op);
int thunder_reduce(thunder_comm c, const void *send, void *recv, size_t count, int dtype, int op, int root);
int thunder_reduce_scatter(thunder_comm c, const void *send, void *recv, size_t recv_count, int dtype, int op);
int thunder_all_gather(thunder_comm c, const void *send, void *recv, size_t send_count, int dtype);
int thunder_all_gather_v(thunder_comm c, const void *send, void *recv, const int64_t *counts, int dtype);
int thunder_broadcast(thunder_comm c, void *buf, size_t count, int dtype, int root);
int thunder_gather(thunder_comm c, const void *send, void *recv, size_t send_count, int dtype, int root);
int thunder_gather_v(thunder_comm c, const void *send, size_t send_count, void *recv, const int64_t *counts, int dtype, int root);
int thunder_scatter(thunder_comm c, const void *send, void *recv, size_t recv_count, int dtype, int root);
int thunder_scatter_v(thunder_comm c, const void *send, const int64_t *counts, void *recv, size_t recv_count, int dtype, int root);
int thunder_all_to_all(thunder_comm c, const void *send, void *recv, size_t count, int dtype);
int thunder_all_to_all_v(thunder_comm c, const void *send, const int64_t *send_counts, void *recv, const int64_t *recv_counts, int dtype);
int thunder_send(thunder_comm c, const void *buf, size_t count, int dtype, int to);
int thunder_recv(thunder_comm c, void *buf, size_t count, int dtype, int from);
int thunder_send_recv(thunder_comm c, const void *send, size_t send_count, int to, void *recv, size_t recv_count, int from, int dtype);

#ifdef __cplusplus
}
#endif
#endif
