/* Functions of the library's C files that its Go files call. */
#ifndef THUNDER_ENTRY_H
#define THUNDER_ENTRY_H

#include "thunder.h"

/* Sets the text of this thread's last error. */
void thunder_set_error(const char *text, size_t n);

/* Calls a callback; Go cannot call C function pointers. */
void thunder_call_back(thunder_callback f, void *arg, int code, const char *text);

#endif
