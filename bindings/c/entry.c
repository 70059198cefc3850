/*
 * The functions of thunder.h. They check their arguments, refuse calls of a forked child,
 * in which the Go runtime does not work, and call Go.
 */
#include "entry.h"
#include "_cgo_export.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int forked; /* set once, in a child, before it has threads */

/*
 * The last error of each thread. It is not in thread-local storage, because in a library
 * with Go that would have to fit into the small reserve for libraries loaded late.
 */
static pthread_key_t last_error;
enum { longest_error = 4096 };

static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void prepare(void) {
	pthread_key_create(&last_error, free);
	pthread_atfork(NULL, NULL, in_child);
}

void thunder_set_error(const char *text, size_t n) {
	char *mine = pthread_getspecific(last_error);
	if (mine == NULL) {
		mine = malloc(longest_error);
		if (mine == NULL || pthread_setspecific(last_error, mine) != 0) {
			free(mine);
			return;
		}
	}
	if (n >= longest_error) {
		n = longest_error - 1;
	}
	memcpy(mine, text, n);
	mine[n] = 0;
}

void thunder_call_back(thunder_callback f, void *arg, int code, const char *text) { f(arg, code, text); }

const char *thunder_last_error(void) {
	const char *mine = pthread_getspecific(last_error);
	return mine == NULL ? "" : mine;
}

int thunder_version(void) { return THUNDER_VERSION; }

static int fail(int code, const char *text) {
	thunder_set_error(text, strlen(text));
	return code;
}

#define NOT_IN_CHILD()                                                                                         \
	if (forked) {                                                                                          \
		return fail(THUNDER_FORKED, "thunder: this process was forked after the library was loaded; "   \
		                            "start workers with exec (spawn), or load the library in the child only"); \
	}

#define NOT_NULL(p)                                                       \
	if ((p) == NULL) {                                                \
		return fail(THUNDER_INVALID, "thunder: " #p " is NULL"); \
	}

int thunder_init(const thunder_options *options, thunder_comm *out) {
	NOT_IN_CHILD();
	NOT_NULL(out);
	thunder_options mine;
	if (options != NULL) {
		/* What comes after rank and size may be missing: the program is older. */
		if (options->struct_size < offsetof(thunder_options, addrs) || options->struct_size > sizeof mine) {
			return fail(THUNDER_INVALID, "thunder: options have a size that this library does not know; set struct_size, and use a library that is not older than the header");
		}
		memset(&mine, 0, sizeof mine);
		memcpy(&mine, options, options->struct_size);
		options = &mine;
	}
	return goInit((thunder_options *)options, out);
}

int thunder_close(thunder_comm c) {
	NOT_IN_CHILD();
	return goClose(c);
}

int thunder_split(thunder_comm c, int64_t color, int64_t key, thunder_comm *out) {
	NOT_IN_CHILD();
	NOT_NULL(out);
	return goSplit(c, color, key, out);
}

int thunder_rank(thunder_comm c) { return forked ? -1 : goRank(c); }

int thunder_size(thunder_comm c) { return forked ? -1 : goSize(c); }

int thunder_fabric(thunder_comm c, char *out, size_t n) {
	NOT_IN_CHILD();
	NOT_NULL(out);
	return goFabric(c, out, n);
}

int thunder_comm_error(thunder_comm c) {
	NOT_IN_CHILD();
	return goCommError(c);
}

int thunder_abort(thunder_comm c, const char *reason) {
	NOT_IN_CHILD();
	return goAbort(c, (char *)reason);
}

int thunder_interrupt(const char *reason) { return forked ? 0 : goInterrupt((char *)reason); }

int thunder_alloc(thunder_comm c, size_t n, void **out) {
	NOT_IN_CHILD();
	NOT_NULL(out);
	return goAlloc(c, n, out);
}

int thunder_free(thunder_comm c, void *p) {
	NOT_IN_CHILD();
	return goFree(c, p);
}

size_t thunder_dtype_size(int dtype) {
	static const size_t sizes[] = {0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1};
	return dtype >= THUNDER_F32 && dtype <= THUNDER_BOOL ? sizes[dtype] : 0;
}

static int check(const thunder_request *r) {
	NOT_IN_CHILD();
	NOT_NULL(r);
	if (r->struct_size != sizeof *r) {
		return fail(THUNDER_INVALID, "thunder: the size of the request differs from this library's; set struct_size, and use the header of this library");
	}
	if ((r->send == NULL && r->send_bytes > 0) || (r->recv == NULL && r->recv_bytes > 0)) {
		return fail(THUNDER_INVALID, "thunder: a buffer is NULL but its length is not 0");
	}
	return THUNDER_OK;
}

int thunder_run(thunder_comm c, const thunder_request *r) {
	int code = check(r);
	return code != THUNDER_OK ? code : goRun(c, (thunder_request *)r);
}

int thunder_start(thunder_comm c, const thunder_request *r, thunder_callback done, void *arg, thunder_work *out) {
	int code = check(r);
	if (code != THUNDER_OK) {
		return code;
	}
	if (out == NULL && done == NULL) {
		return fail(THUNDER_INVALID, "thunder: out and done are both NULL, so nothing could wait for the operation");
	}
	return goStart(c, (thunder_request *)r, done, arg, out);
}

int thunder_wait(thunder_work w, int64_t timeout_ms) {
	NOT_IN_CHILD();
	return goWait(w, timeout_ms);
}

int thunder_release(thunder_work w) {
	NOT_IN_CHILD();
	return goRelease(w);
}
