/*
 * thunder.h: the C interface of thundercollective.
 *
 * A process is one rank of a job. It joins with thunder_init, and then calls the
 * same operations in the same order as the other ranks:
 *
 *     thunder_comm c;
 *     if (thunder_init(NULL, &c) != THUNDER_OK) {
 *         fprintf(stderr, "%s\n", thunder_last_error());
 *         exit(1);
 *     }
 *     thunder_all_reduce(c, NULL, gradients, n, THUNDER_F32, THUNDER_AVG);
 *     thunder_close(c);
 *
 * Errors. Functions return THUNDER_OK or one of the codes below; the text of the
 * last error of a thread is thunder_last_error(). After any code but
 * THUNDER_INVALID and THUNDER_RUNNING the group is of no more use: the same error
 * comes from every later call, here and at the other ranks.
 *
 * Memory. Any memory will do; that of thunder_alloc moves without a copy where the
 * fabric can. Buffers belong to the library until the operation is done, and hold
 * anything if it failed. They must not overlap, except that send may be NULL in
 * all_reduce and reduce: then recv is both. Counts are elements, not bytes.
 *
 * Threads. All functions may be called from all threads. Calls of one group are
 * performed in the order in which they are made.
 *
 * Fork. The library does not survive fork without exec: in the child, every
 * function returns THUNDER_FORKED.
 */
#ifndef THUNDER_H
#define THUNDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of this header, as major * 10000 + minor * 100 + patch. Programs that were
 * compiled with an older header work with a newer library.
 */
#define THUNDER_VERSION 100

/* The version of the library that is loaded, in the same form. */
int thunder_version(void);

/* What functions return. */
enum {
	THUNDER_OK = 0,
	THUNDER_ERROR = 1,     /* none of those below */
	THUNDER_PEER_LOST = 2, /* a rank is gone */
	THUNDER_TIMEOUT = 3,   /* the deadline passed */
	THUNDER_MISMATCH = 4,  /* ranks called different things */
	THUNDER_AUTH = 5,      /* a peer does not know the token */
	THUNDER_ABORTED = 6,   /* a rank called thunder_abort, or was interrupted */
	THUNDER_CLOSED = 7,    /* the group was closed here */
	THUNDER_INVALID = 8,   /* the call makes no sense; nothing was done */
	THUNDER_FORKED = 9,    /* this is a child of the process that joined */
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

/* Operations, as a thunder_request names them. */
enum {
	THUNDER_ALL_REDUCE = 1, THUNDER_REDUCE_SCATTER, THUNDER_ALL_GATHER,
	THUNDER_BROADCAST, THUNDER_REDUCE, THUNDER_GATHER, THUNDER_SCATTER,
	THUNDER_ALL_TO_ALL, THUNDER_BARRIER, THUNDER_SEND, THUNDER_RECV,
	THUNDER_SEND_RECV
};

typedef uint64_t thunder_comm; /* a group of ranks; 0 is none */
typedef uint64_t thunder_work; /* an operation under way; 0 is none */

/*
 * Who this process is and how it reaches the others. Set everything to zero first and
 * struct_size to sizeof(thunder_options): fields of newer headers count as zero. What is
 * zero comes from the environment (THUNDER_RANK, ... or that of a launcher) or has a
 * default.
 */
typedef struct thunder_options {
	size_t struct_size;
	int32_t rank, size;       /* count when size is not 0 */
	const char *addrs;        /* host:port per rank, separated by spaces */
	const char *coordinator;  /* host:port where ranks meet; rank 0 serves it */
	const char *hostfile;
	const void *token;        /* the secret of the job */
	size_t token_len;
	int32_t insecure;         /* 1: no token needed beyond loopback */
	int32_t streams;          /* connections to each peer */
	const char *fabric;       /* "tcp" */
	const char *algo;         /* "auto", "ring", ... */
	int64_t timeout_ms;       /* of every operation; five minutes if 0 */
	int64_t start_timeout_ms; /* how far apart ranks may start; a minute if 0 */
} thunder_options;

/*
 * Joins the job and returns when all ranks are there. options may be NULL. A
 * process that nobody launched is a group of one.
 */
int thunder_init(const thunder_options *options, thunder_comm *out);

/*
 * Leaves the group. Closing the group of thunder_init closes all groups made from
 * it. What is under way fails with THUNDER_CLOSED.
 */
int thunder_close(thunder_comm c);

/*
 * Makes groups: ranks with the same color get one, ordered by key and then by
 * rank. All ranks of c call it. A negative color joins none; *out is 0 then.
 */
int thunder_split(thunder_comm c, int64_t color, int64_t key, thunder_comm *out);

int thunder_rank(thunder_comm c); /* -1 if there is no such group */
int thunder_size(thunder_comm c);

/*
 * Names what carries the messages, such as "tcp", in at most n bytes.
 */
int thunder_fabric(thunder_comm c, char *out, size_t n);

/* Why the group is of no more use; THUNDER_OK as long as it works. */
int thunder_comm_error(thunder_comm c);

/* Ends the group at all ranks; what is under way returns THUNDER_ABORTED. */
int thunder_abort(thunder_comm c, const char *reason);

/*
 * Aborts every group of this process in which a thread is blocked in a call now.
 * It is what a handler of Ctrl-C calls, from another thread than the blocked one.
 * It is not safe inside a signal handler. Returns how many groups there were.
 */
int thunder_interrupt(const char *reason);

/* Zeroed, page-aligned memory. Free it before the group is closed. */
int thunder_alloc(thunder_comm c, size_t n, void **out);
int thunder_free(thunder_comm c, void *p);

/*
 * The text of this thread's last error, valid until its next call; "" if there was
 * none.
 */
const char *thunder_last_error(void);

/* The number of bytes in an element; 0 if there is no such type. */
size_t thunder_dtype_size(int dtype);

/*
 * Any operation. Set everything to zero first and struct_size to
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
 * varying marks the form with counts, one per rank; then all ranks set it, and
 * those that need no counts may leave them NULL.
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
	int64_t timeout_ms; /* 0: that of the options */
} thunder_request;

/* Performs an operation and returns when it is done. */
int thunder_run(thunder_comm c, const thunder_request *r);

/*
 * Called once when an operation is done, from a thread of the library, with its
 * code and, if that is not THUNDER_OK, its text, valid until the callback returns.
 */
typedef void (*thunder_callback)(void *arg, int code, const char *text);

/*
 * Begins an operation and returns at once; its place in the order is that of this
 * call. r may be reused. done may be NULL. *out has to be released with
 * thunder_release; out may be NULL if there is a callback. When this returns an
 * error, nothing was begun and done is not called.
 */
int thunder_start(thunder_comm c, const thunder_request *r, thunder_callback done, void *arg, thunder_work *out);

/*
 * Waits until an operation is done and returns its code, or THUNDER_RUNNING when
 * timeout_ms have passed first; negative: as long as it takes, 0: not at all.
 */
int thunder_wait(thunder_work w, int64_t timeout_ms);

/* Forgets an operation. One that is under way goes on and keeps its buffers. */
int thunder_release(thunder_work w);

/* The operations by name, blocking; see the table above. */
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
