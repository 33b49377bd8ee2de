/* SPDX-License-Identifier: MIT
 * Errors of weir calls. A call that fails returns a negative errno and stores a sentence about the
 * failure. Each thread has its own sentence. Print it:
 *
 *     if (weir_create(&f, &params) < 0)
 *             fprintf(stderr, "%s", weir_error_detail());
 */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

/**
 * The short text of an error code.
 * @err: 0 or a negative errno, as a weir call returned it; a positive errno works too.
 * Return: a static string, never NULL; "unknown error" for an unknown code.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_strerror(int err);

/**
 * The symbolic name of an error code, such as "EINVAL".
 * @err: as for weir_strerror().
 * Return: a static string, never NULL; "E?" for an unknown code.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_error_name(int err);

/** Size of a buffer that holds any sentence of weir_error_detail() and its NUL byte. */
#define WEIR_SENTENCE_BYTES 512

/**
 * The sentence about this thread's last failed weir call. It names the parameter, file or shard,
 * its value, and the allowed values. weir_escape() has escaped quoted text, such as file names, so
 * you may print the sentence to a log or a terminal as it is.
 * Return: a string owned by the thread, never NULL; "" before the first failure. It is valid until
 *   the thread's next weir call. A call that succeeds may change it too, if a part of the call
 *   failed. It is valid UTF-8 of at most 511 bytes.
 * Errors: none.  Threads: each thread sees its own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_error_detail(void);

/** The check that refused a parameter, for weir_error_info.code. Each comment below lists the
 * elements of weir_error_info.values[], in order. weir_error_info.thing is the parameter's name.
 * If the parameter is reserved or belongs to another kind, the name begins with its group:
 * "classic.probes". The numbers of the codes never change. */
enum weir_error_code {
	WEIR_ERROR_OTHER = 0,        /* no values: read the sentence */
	WEIR_ERROR_RANGE = 1,        /* values: given value, least allowed, most allowed */
	WEIR_ERROR_CHOICE = 2,       /* values: given value, sum of 2^n over all allowed values n */
	WEIR_ERROR_TWO_OF_THREE = 3, /* values: capacity, fp_rate, max_bytes; 0: not given */
	WEIR_ERROR_KIND_LACKS = 4,   /* values: given value, enum weir_kind_id */
	WEIR_ERROR_RATE_LEAST = 5,   /* values: fp_rate, capacity, least fp_rate, bits of a hash
	                                or fingerprint */
	WEIR_ERROR_TOO_LARGE = 6,    /* values: capacity, fp_rate, bytes needed, most bytes */
	WEIR_ERROR_LISTS_LARGE = 7,  /* values: capacity, exclude_keys, bytes needed, most bytes */
	WEIR_ERROR_ONE_KEY = 8,      /* values: max_bytes (too few for one key), fp_rate */
	WEIR_ERROR_KEYS_MOST = 9,    /* values: capacity, max_bytes, most keys that fit in it */
	WEIR_ERROR_BLOCK = 10,       /* values: max_bytes, bytes of a block */
	WEIR_ERROR_RATE_MOST = 11,   /* values: max_bytes, capacity, resulting rate, most rate */
	WEIR_ERROR_WIDTH = 12,       /* values: fingerprint_bits, resulting rate, fp_rate */
	WEIR_ERROR_WIDTH_BYTES = 13, /* values: max_bytes, capacity, fingerprint_bits,
	                                exclude_keys */
	WEIR_ERROR_MORE_KEYS = 14,   /* values: capacity, different keys that were added */
	WEIR_ERROR_HASHES = 15,      /* values: max_memory, bytes of the hashes so far */
	WEIR_ERROR_THREADS = 16,     /* values: max_memory, least max_memory, threads */
	WEIR_ERROR_PASSED = 17,      /* values: exclude_keys, keys that the first level let pass */
	WEIR_ERROR_SETS_LARGE = 18,  /* values: capacity, sets, bytes needed, most bytes */
	WEIR_ERROR_OPEN = 19,        /* value: errno of opening the file that the sentence names */
	WEIR_ERROR_UNEVEN = 20,      /* values if thing is "different_keys": number of keys,
	                                number of different hashes, added rate; else none */
};

/** A thread's last failed call in numbers, for a program that words its own messages. Start from
 * WEIR_ERROR_INFO_INIT. */
struct weir_error_info {
	size_t struct_size; /* sizeof(struct weir_error_info) */
	int err;            /* the negative errno */
	uint32_t code;      /* enum weir_error_code */
	const char *thing;  /* name of the parameter, a static string; NULL if code is 0 */
	double values[4];   /* see enum weir_error_code; unused values are 0 */
};
#define WEIR_ERROR_INFO_INIT WEIR__INIT(weir_error_info)

/**
 * Describe this thread's last failed weir call in numbers.
 * @out: receives as much of the description as its struct_size allows; all 0 before the first
 *   failure. It describes the failure that the sentence of weir_error_detail() is about.
 * Errors: none.  Threads: each thread sees its own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API void weir_error_last(struct weir_error_info *out);

/**
 * Get the number of keys that this thread's last failed batch inserted. A batch fails if a function
 * named _keys returns a negative errno. The batch stops at the first key that the filter refuses,
 * since the filter is full (-ENOSPC) or cannot parse a text (-EINVAL). The keys before that key are
 * inserted. The caller can give that key and all later keys again.
 * Return: the number, less than the number of keys in the batch; valid until the thread's next weir
 *   call.
 * Errors: none.  Threads: each thread sees its own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API size_t weir_error_taken(void);

/**
 * Set the sentence of weir_error_detail() for a failure of your own code that is built on weir.
 * @err: a negative errno.
 * @format: as for printf(): a sentence that names the thing and the value. weir_error_detail() may
 *   be among the arguments. The call escapes the result and cuts it at 511 bytes.
 * Return: @err.
 * Errors: none.  Threads: each thread has its own.  Progress: wait-free.  Cost: a microsecond.
 */
WEIR_API WEIR_PRINTF(2, 3) int weir_fail(int err, const char *format, ...);

/**
 * Escape text from others, such as a key or a file name, for a log or a terminal. Control
 * characters, common invisible characters (such as U+202E, which reverses a line) and bytes that
 * are not UTF-8 become \n, \t, \r, or three octal digits a byte, as in \033. All other text stays
 * as it is. A backslash stays too, so that escaping escaped text changes nothing.
 * @out: receives as many whole characters and escapes as fit, and a final NUL byte.
 * @room: size of @out in bytes; with 0 nothing is written. In 17 bytes at least one character fits.
 * @text: @len bytes, of any value; may be NULL when @len is 0. It must not overlap @out.
 * Return: the number of bytes of @text read. If it is less than @len, call again with the rest.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: some ns a byte.
 */
WEIR_API size_t weir_escape(char *out, size_t room, const char *text, size_t len);

WEIR_END_DECLS

#endif
