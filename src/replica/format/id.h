/* SPDX-License-Identifier: MIT
 * Names in the log: where an entry stands, which entry it is, and which generation came. Each has
 * one form as text, since texts are signed. */
#ifndef WEIR_REPLICA_ID_H
#define WEIR_REPLICA_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of an entry, as redis has it: EPOCH-N. N counts from 1 within an epoch, without holes. 0-0 is
 * before all. */
struct weir_log_id {
	uint64_t epoch, n;
};

/* Of a generation: ERA.NUMBER. 0.0: none. Only a higher era removes keys. */
struct weir_version {
	uint64_t era, number;
};

enum {
	WEIR_ID_TEXT = 42,  /* of either: two numbers of 20 digits, what joins them, a NUL byte */
	WEIR_HEX_TEXT = 17, /* of a mark, a tag, a node, a generation's or token's id */
};

/* Scripts of redis make the ids, and Lua counts exactly up to 2^53. Another client can give the log
 * any id: no node takes one that is beyond these. */
static inline bool weir__log_id_is_ours(struct weir_log_id id)
{
	const uint64_t beyond = UINT64_C(9007199254740000);
	return id.epoch < beyond && id.n < beyond;
}

/* Another client can give a generation any version. Nodes can count on from one of these. */
static inline bool weir__version_is_ours(struct weir_version version)
{
	const uint64_t beyond = UINT64_C(1) << 53;
	return version.era < beyond && version.number < beyond;
}

/* @text: two decimal numbers of 64 bits joined by @between, without sign, blank or needless zeros.
 * Return: whether it is; if not, @out is untouched. */
bool weir__log_id_read(struct weir_log_id *out, const char *text, size_t len);
bool weir__version_read(struct weir_version *out, const char *text, size_t len);
/* Return: @text. */
const char *weir__log_id_write(char text[WEIR_ID_TEXT], struct weir_log_id id);
const char *weir__version_write(char text[WEIR_ID_TEXT], struct weir_version version);

/* Return: below, at or above 0, as @a is before, at or after @b. */
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

/* @text: decimal digits without sign, blank or needless zeros. Return: as above. */
bool weir__number_read(uint64_t *out, const char *text, size_t len);
/* @text: 16 hexadecimal digits in lower case. Return: as above. */
bool weir__hex_read(uint64_t *out, const char *text, size_t len);
const char *weir__hex_write(char text[WEIR_HEX_TEXT], uint64_t value);

/* A mark, a tag, a node's id, an id of a generation or token: 64 random bits, never 0.
 * Return: 0, or -EIO: then @out is untouched. */
int weir__draw(uint64_t *out);

/* ---- lists of ids ---- */

enum { WEIR_HAS = 64 }; /* that a manifest names */

/* Ids of generations and tokens, the newest first. */
struct weir_has {
	uint32_t n;
	uint64_t id[WEIR_HAS];
};

bool weir__has(const struct weir_has *has, uint64_t id);
/* Put an id in front, if it is not there; the oldest falls out.
 * Return: false: one fell out. */
bool weir__has_add(struct weir_has *has, uint64_t id);

#endif
