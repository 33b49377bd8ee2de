/* SPDX-License-Identifier: MIT
 * Normalisation of keys, for the rest of the library. <weir/text.h> has the public functions. */
#ifndef WEIR_SRC_NORMALISE_NORMALISE_H
#define WEIR_SRC_NORMALISE_NORMALISE_H

#include <weir/text.h>

#define WEIR__TEXT_STEPS \
	(WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE | WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES | \
	 WEIR_TEXT_CLOSED)
#define WEIR__IPV4_LENGTHS ((UINT64_C(1) << 33) - 1)

/* Return: true if a lookup probes several keys. */
static inline bool weir__text_several(const struct weir_text *t)
{
	return t->steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES);
}

/* Return: true if both normalisations have the same steps, so that they make the same key of a
 * text. Their noted lengths and WEIR_TEXT_CLOSED may differ. */
static inline bool weir__text_alike(const struct weir_text *a, const struct weir_text *b)
{
	return !((a->steps ^ b->steps) & ~(uint32_t)WEIR_TEXT_CLOSED);
}

/* Return: NULL if the normalisation is valid, else the reason why no set can have it. */
const char *weir__text_wrong(const struct weir_text *t);

/* Trim a text, and strip a domain of "*." or "." at its start and "." at its end, if the steps say
 * so. Return: a slice of @text, not a copy. */
struct iovec weir__text_bare(uint32_t steps, const void *text, size_t len);
/* Make the key of a binary address. Return: bytes of the key, or 0 if @len is not 4 or 16. */
int weir__text_address(unsigned char key[WEIR_TEXT_CIDR_BYTES], const void *address, size_t len);
/* Make the keys that a lookup of an address or prefix probes, as weir_text_lookups() does.
 * @key, @bytes: the key of that address or prefix.  @room: WEIR_TEXT_ROOM(0) bytes.
 * Return: the number of keys. */
int weir__text_covering(const struct weir_text *t, const unsigned char *key, size_t bytes,
                        unsigned char *room, struct iovec *keys);
/* As weir_text_key() and weir_text_lookups(), but they write no error sentence and do not turn the
 * text into lowercase. */
int weir__text_key_quiet(const struct weir_text *t, const void *text, size_t len, void *room,
                         struct iovec *key);
int weir__text_lookups_quiet(const struct weir_text *t, const void *text, size_t len, void *room,
                             struct iovec *keys);

/* Read or note the lengths of a filter, while other threads may note lengths too ([LENGTH-FIRST]).
 * weir__text_noted() returns true if the length of @key is noted, or if no length is needed. */
void weir__text_load(const struct weir_text *shared, struct weir_text *out);
static inline struct weir_text weir__text_now(const struct weir_text *shared)
{
	struct weir_text now;
	weir__text_load(shared, &now);
	return now;
}
bool weir__text_noted(const struct weir_text *shared, const struct iovec *key);
void weir__text_note_shared(struct weir_text *shared, const struct iovec *key);
void weir__text_unite_shared(struct weir_text *shared, const struct weir_text *src);

enum { WEIR__TEXT_WORDS = 72 };
/* Write the steps as words: "trim, lowercase", or "none". Return: @text. */
const char *weir__text_words(const struct weir_text *t, char text[WEIR__TEXT_WORDS]);

#endif
