/* SPDX-License-Identifier: MIT
 * Numbers in what comes from a server: read in one way only, so that what is signed or compared as
 * text has one meaning. */
#ifndef WEIR_REPLICA_NUMBER_H
#define WEIR_REPLICA_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
