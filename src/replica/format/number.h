/* SPDX-License-Identifier: MIT
 * Numbers: in what comes from a server, read in one way only, so that what is signed or compared as
 * text has one meaning; and numbers that no other node draws. */
#ifndef WEIR_REPLICA_NUMBER_H
#define WEIR_REPLICA_NUMBER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <weir/error.h>

/* Lengths of names in hexadecimal digits. */
enum {
	WEIR_REPLICA_EPOCH = 56, /* 40 of the server's master_replid, 16 of the set's token */
	WEIR_REPLICA_NODE = 16,  /* a node's id, drawn at random at each start of the node */
};

/* @text: decimal digits without sign, blank or needless zeros.
 * Return: whether it is such a number of 64 bits; if not, @out is untouched. */
bool weir__number_parse(uint64_t *out, const char *text, size_t len);
/* @text: @digits hexadecimal digits in lower case, at most 16. Return: likewise. */
bool weir__hex_parse(uint64_t *out, const char *text, size_t len, size_t digits);
/* Are these @digits such digits? */
bool weir__is_hex(const char *text, size_t len, size_t digits);
/* The value of one in either case, as URLs have them; -1: it is none. */
int weir__hex_digit(char c);

/* ---- names of nodes and images, tokens ---- */

/* Return: 0, or -EIO: then @out is untouched. */
static inline int weir__random(uint64_t *out)
{
	uint64_t drawn;
	if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) {
		(void)weir_fail(-EIO, "the system gives no random number");
		return -EIO; /* said so that the compiler sees it */
	}
	*out = drawn;
	return 0;
}

#endif
