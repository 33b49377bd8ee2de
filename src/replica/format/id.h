/* SPDX-License-Identifier: MIT
 * Log entry ids, tags, and versions of generations. Each has exactly one text form, since
 * signatures cover the text. */
#ifndef WEIR_REPLICA_ID_H
#define WEIR_REPLICA_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry's id in the redis stream, EPOCH-N. In each epoch N counts from 1 without gaps. 0-0 is
 * before all entries. */
struct weir_log_id {
	uint64_t epoch, n;
};

/* A generation's version: ERA.NUMBER; 0.0: no generation. Only a higher era removes keys. */
struct weir_version {
	uint64_t era, number;
};

enum {
	WEIR_ID_TEXT = 42,  /* bytes: two numbers of 20 digits, a separator, a NUL byte */
	WEIR_HEX_TEXT = 17, /* bytes of a mark, a tag or another id: 16 digits, a NUL byte */
};

/* The redis scripts make the ids, and Lua counts exactly up to 2^53. Another client can add any id
 * to the log, so nodes refuse ids of this bound and above. */
static inline bool weir__log_id_in_range(struct weir_log_id id)
{
	const uint64_t beyond = UINT64_C(9007199254740000);
	return id.epoch < beyond && id.n < beyond;
}

/* Another client can publish any version. Nodes refuse versions of this bound and above, so that a
 * node can always count up. */
static inline bool weir__version_in_range(struct weir_version version)
{
	const uint64_t beyond = UINT64_C(1) << 53;
	return version.era < beyond && version.number < beyond;
}

/* @text: two decimal 64-bit numbers, joined by - in a log id and by . in a version, without sign,
 *   blank or leading zeros. Return: false if @text has another form; @out is then unchanged. */
bool weir__log_id_read(struct weir_log_id *out, const char *text, size_t len);
bool weir__version_read(struct weir_version *out, const char *text, size_t len);
/* Return: @text. */
const char *weir__log_id_write(char text[WEIR_ID_TEXT], struct weir_log_id id);
const char *weir__version_write(char text[WEIR_ID_TEXT], struct weir_version version);

/* Return: negative, 0 or positive if @a is before, equal to or after @b. */
static inline int weir__log_id_compare(struct weir_log_id a, struct weir_log_id b)
{
	if (a.epoch != b.epoch)
		return a.epoch < b.epoch ? -1 : 1;
	return (a.n > b.n) - (a.n < b.n);
}
static inline int weir__version_compare(struct weir_version a, struct weir_version b)
{
	if (a.era != b.era)
		return a.era < b.era ? -1 : 1;
	return (a.number > b.number) - (a.number < b.number);
}

/* @text: decimal digits without sign, blank or leading zeros. Return: false if @text has another
 *   form. */
bool weir__number_read(uint64_t *out, const char *text, size_t len);
/* @text: 16 hexadecimal digits in lower case. Return: false if @text has another form. */
bool weir__hex_read(uint64_t *out, const char *text, size_t len);
const char *weir__hex_write(char text[WEIR_HEX_TEXT], uint64_t value);

/* Draw a mark, a tag, or the id of a node, generation or token: 64 random bits, never 0. Return: 0;
 * -EIO: @out is then unchanged. */
int weir__draw(uint64_t *out);

/* ---- lists of ids ---- */

enum { WEIR_HAS = 64 }; /* largest number of ids in a manifest */

/* Ids of generations and tokens, newest first. */
struct weir_has {
	uint32_t n;
	uint64_t id[WEIR_HAS];
};

bool weir__has(const struct weir_has *has, uint64_t id);
/* Add @id in front unless the list has it. Return: false if the list was full and dropped its
 * oldest id. */
bool weir__has_add(struct weir_has *has, uint64_t id);

#endif
