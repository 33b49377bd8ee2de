/* SPDX-License-Identifier: MIT
 * Error names and texts from one list, and the thread's last sentence. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/version.h>
#include "ground/error.h"

#define WEIR_ERRORS(X) \
	X(EINVAL, "a parameter is out of its range") \
	X(ENOMEM, "not enough memory") \
	X(ENOTSUP, "not supported by this kind, machine or build") \
	X(EFBIG, "larger than the limit that was given") \
	X(EROFS, "the filter or file system is read-only") \
	X(EBADMSG, "the image is damaged") \
	X(EBUSY, "in use by somebody else") \
	X(EKEYREJECTED, "the key is missing, or another one") \
	X(ECANCELED, "stopped by the caller") \
	X(EDEADLK, "would wait for itself") \
	X(ENOENT, "no such file or directory") \
	X(EACCES, "permission denied") \
	X(EPERM, "operation not permitted") \
	X(EEXIST, "the file exists") \
	X(EISDIR, "is a directory") \
	X(ENOTDIR, "a part of the path is not a directory") \
	X(ENOSPC, "no space left") \
	X(EDQUOT, "the disk quota is used up") \
	X(EIO, "input or output error") \
	X(EPIPE, "the reader has gone") \
	X(EINTR, "interrupted") \
	X(EAGAIN, "try again") \
	X(EBADF, "not an open file") \
	X(EMFILE, "too many open files in the process") \
	X(ENFILE, "too many open files in the system") \
	X(ENODEV, "the file cannot be mapped") \
	X(ENXIO, "no such device") \
	X(ELOOP, "too many levels of symbolic links") \
	X(ENAMETOOLONG, "the file name is too long") \
	X(ESTALE, "the file has gone from its server") \
	X(ETXTBSY, "the file is being executed") \
	X(EOVERFLOW, "a number does not fit") \
	X(ECONNRESET, "the other end has gone") \
	X(ECONNREFUSED, "nobody listens there") \
	X(EHOSTUNREACH, "no way to that host") \
	X(ENETUNREACH, "no way to that network") \
	X(EPROTO, "the other end does not speak the protocol") \
	X(EMSGSIZE, "more than the other end may send") \
	X(ENOTCONN, "the socket is not connected") \
	X(ETIMEDOUT, "the other end does not answer") \
	X(ESPIPE, "a pipe or socket has no position") \
	X(EXDEV, "the file would leave its file system") \
	X(EMLINK, "too many links to the file") \
	X(EFAULT, "an address that is not the caller's") \
	X(ENOSYS, "the kernel has no such call")

enum { DETAIL = WEIR_SENTENCE_BYTES, CHARACTER = 4 };

/* Of the thread's last failure; in this order in memory, for tests/schedule. */
static _Thread_local struct {
	char detail[DETAIL];
	size_t taken;
} last;

const char *weir_strerror(int err)
{
	switch (err < 0 ? -(long long)err : err) {
	case 0:
		return "success";
#define TEXT(name, text) \
	case name: \
		return text;
	WEIR_ERRORS(TEXT)
#undef TEXT
	}
	return "unknown error";
}

const char *weir_error_name(int err)
{
	switch (err < 0 ? -(long long)err : err) {
	case 0:
		return "OK";
#define NAME(name, text) \
	case name: \
		return #name;
	WEIR_ERRORS(NAME)
#undef NAME
	}
	return "E?";
}

const char *weir_error_detail(void)
{
	return last.detail;
}

size_t weir_error_taken(void)
{
	return last.taken;
}

int64_t weir__stopped(size_t taken, int64_t err)
{
	last.taken = taken;
	return err;
}

static void explain(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static void explain(const char *format, va_list args)
{
	/* Every character that begins where the sentence has room for it is here whole. An argument
	 * may be the sentence before. */
	char plain[DETAIL + CHARACTER];
	vsnprintf(plain, sizeof plain, format, args);
	weir_escape(last.detail, sizeof last.detail, plain, strlen(plain));
}

int weir__fail(int err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	explain(format, args);
	va_end(args);
	return err;
}

int weir_fail(int err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	explain(format, args);
	va_end(args);
	return err;
}

const char *weir_version(void)
{
	return WEIR_VERSION_STRING;
}

/* ---- structs that begin with their own size ---- */

int weir__size_check(const void *sized, size_t size, const char *whose)
{
	size_t given;
	if (!sized)
		return weir__fail(-EINVAL, "%s is NULL: start from its _INIT macro", whose);
	memcpy(&given, sized, sizeof given);
	if (given < sizeof given || given > size)
		return weir__fail(-EINVAL,
		                  "%s.struct_size %zu: %zu to %zu, as its _INIT macro sets it",
		                  whose, given, sizeof given, size);
	return 0;
}

int weir__options_copy(void *out, size_t size, const void *options, const char *whose)
{
	int err = options ? weir__size_check(options, size, whose) : 0;
	if (options && !err)
		memcpy(out, options, *(const size_t *)options);
	return err;
}

/* ---- the answer of a progress function, as an error ---- */

int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total,
                   const char *unit)
{
	if (!progress || progress(arg, done, total) == 0)
		return 0;
	return weir__fail(-ECANCELED,
	                  "stopped by the caller's progress function after %llu of %llu %s",
	                  (unsigned long long)done, (unsigned long long)total, unit);
}
