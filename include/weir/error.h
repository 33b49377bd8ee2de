/* SPDX-License-Identifier: MIT
 * Errors: a call that fails returns a negative errno and sets a sentence about it. Print the
 * sentence, which is the thread's own:
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

/** Room for any sentence, with its NUL byte. */
#define WEIR_SENTENCE_BYTES 512

/**
 * The sentence about this thread's last failed weir call. It names the parameter, file or shard,
 * its value, and the allowed values.
 * Return: a string owned by the thread, never NULL; "" before the first failure. It is valid until
 *   the thread's next weir call. A call that succeeds may change it too, after a failure that did
 *   not stop it. It is valid UTF-8 of at most 511 bytes. weir_escape() has escaped what it quotes,
 *   file names above all, so that you may print it to a log or a terminal as it is.
 * Errors: none.  Threads: each thread sees its own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_error_detail(void);

/** The check that refused a parameter, and the meaning of values[] in struct weir_error_info. The
 * numbers never change. There, thing is the parameter, by the name of its field. If the parameter
 * is another kind's or reserved, the name of its group precedes it: "classic.probes". */
enum weir_error_code {
	WEIR_ERROR_OTHER = 0,        /* see the sentence */
	WEIR_ERROR_RANGE = 1,        /* given, least, most */
	WEIR_ERROR_CHOICE = 2,       /* given, and the sum of 2^n over each allowed n */
	WEIR_ERROR_TWO_OF_THREE = 3, /* capacity, fp_rate, max_bytes; 0: not given */
	WEIR_ERROR_KIND_LACKS = 4,   /* given, kind */
	WEIR_ERROR_RATE_LEAST = 5,   /* fp_rate, capacity, least, bits (hash or fingerprint) */
	WEIR_ERROR_TOO_LARGE = 6,    /* capacity, fp_rate, bytes needed, most bytes */
	WEIR_ERROR_LISTS_LARGE = 7,  /* capacity, exclude_keys, bytes needed, most bytes */
	WEIR_ERROR_ONE_KEY = 8,      /* max_bytes, fp_rate: no room for one key */
	WEIR_ERROR_KEYS_MOST = 9,    /* capacity, max_bytes, most keys in them */
	WEIR_ERROR_BLOCK = 10,       /* max_bytes, bytes of a block */
	WEIR_ERROR_RATE_MOST = 11,   /* max_bytes, capacity, resulting rate, most */
	WEIR_ERROR_WIDTH = 12,       /* fingerprint_bits, resulting rate, fp_rate */
	WEIR_ERROR_WIDTH_BYTES = 13, /* max_bytes, capacity, fingerprint_bits, exclude_keys */
	WEIR_ERROR_MORE_KEYS = 14,   /* capacity, different keys that came */
	WEIR_ERROR_HASHES = 15,      /* max_memory, bytes of the hashes so far */
	WEIR_ERROR_THREADS = 16,     /* max_memory, least, threads */
	WEIR_ERROR_PASSED = 17,      /* exclude_keys, keys of the list that passed */
	WEIR_ERROR_SETS_LARGE = 18,  /* capacity, sets, bytes needed, most bytes */
	WEIR_ERROR_OPEN = 19,        /* errno: the file in the sentence cannot be opened */
	WEIR_ERROR_UNEVEN = 20,      /* the filter was filled by hashes that are not uniform */
};

/** A thread's last failed call, for a front end that words its own message. */
struct weir_error_info {
	size_t struct_size; /* sizeof(struct weir_error_info) */
	int err;            /* the negative errno */
	uint32_t code;      /* enum weir_error_code */
	const char *thing;  /* the parameter, a static string; NULL if code is 0 */
	double values[4];   /* as enum weir_error_code says; 0 past the last */
};
#define WEIR_ERROR_INFO_INIT WEIR__INIT(weir_error_info)

/**
 * Describe this thread's last failed weir call in numbers, beside the sentence of
 * weir_error_detail().
 * @out: receives as much of the description as its struct_size has room for; all 0 before the first
 *   failure. It is valid as long as the sentence.
 * Errors: none.  Threads: each thread sees its own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API void weir_error_last(struct weir_error_info *out);

/**
 * The number of keys that this thread's last failed batch of inserts took, by a verb named _keys
 * that returned a negative errno. A batch stops at the first key that it refuses, because the
 * filter is full (-ENOSPC) or cannot read a text (-EINVAL). The keys before it are inserted. That
 * key and those after it are not, and the caller can give them again.
 * Return: a number less than that of the batch's keys; 0 if none was taken. It is valid until the
 *   thread's next weir call.
 * Errors: none.  Threads: each thread sees its own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API size_t weir_error_taken(void);

/**
 * Fail as this library does, in code built on it whose callers read weir_error_detail() for both.
 * @err: a negative errno.
 * @format: as for printf(): a sentence that names the thing and the value. The previous sentence
 *   may be among the arguments. The result is escaped, and cut at 511 bytes.
 * Return: @err.
 * Errors: none.  Threads: each thread has its own.  Progress: wait-free.  Cost: a microsecond.
 */
WEIR_API WEIR_PRINTF(2, 3) int weir_fail(int err, const char *format, ...);

/**
 * Escape text from others, such as a key or a file name, for a log or a terminal. It turns control
 * characters, invisible characters (such as U+202E, which reverses a line) and bytes that are not
 * UTF-8 into \n, \t, \r or three octal digits a byte, as in \033. All other text stays as it is,
 * including a backslash, so that escaping twice changes nothing more.
 * @out: receives as many whole characters and escapes as fit, and a final NUL byte.
 * @room: bytes of @out; 0: nothing is written. From 17 on at least one character fits.
 * @text: @len bytes, of any value; may be NULL when @len is 0. It must not overlap @out.
 * Return: how many bytes of @text are in @out. If fewer than @len, call again with the rest.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: some ns a byte.
 */
WEIR_API size_t weir_escape(char *out, size_t room, const char *text, size_t len);

WEIR_END_DECLS

#endif
