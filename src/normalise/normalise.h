/* SPDX-License-Identifier: MIT
 * Normalisation, as other files of the library need it. */
#ifndef WEIR_SRC_NORMALISE_NORMALISE_H
#define WEIR_SRC_NORMALISE_NORMALISE_H

#include <weir/text.h>

#define WEIR__TEXT_STEPS \
	(WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE | WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES | \
	 WEIR_TEXT_CLOSED)
#define WEIR__IPV4_LENGTHS ((UINT64_C(1) << 33) - 1)

/* Does a lookup probe several keys? */
static inline bool weir__text_several(const struct weir_text *t)
{
	return t->steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES);
}

/* Are a text's keys the same in both? Lengths and WEIR_TEXT_CLOSED may differ. */
static inline bool weir__text_alike(const struct weir_text *a, const struct weir_text *b)
{
	return !((a->steps ^ b->steps) & ~(uint32_t)WEIR_TEXT_CLOSED);
}

/* Return: 0, or why no set can have that normalisation. */
const char *weir__text_wrong(const struct weir_text *t);

/* The text, or part of it, without a copy: trimmed, of a domain its name. */
struct iovec weir__text_bare(uint32_t steps, const void *text, size_t len);
/* The key of a binary address of 4 or 16 bytes. Return: its bytes, or 0: it is no address. */
int weir__text_address(unsigned char key[WEIR_TEXT_CIDR_BYTES], const void *address, size_t len);
/* Those of weir_text_lookups(), of the key of an address. @room: WEIR_TEXT_ROOM(0) bytes. */
int weir__text_covering(const struct weir_text *t, const unsigned char *key, size_t bytes,
                        unsigned char *room, struct iovec *keys);
/* As weir_text_key() and weir_text_lookups(), but they set no sentence, and leave case as it is. */
int weir__text_key_quiet(const struct weir_text *t, const void *text, size_t len, void *room,
                         struct iovec *key);
int weir__text_lookups_quiet(const struct weir_text *t, const void *text, size_t len, void *room,
                             struct iovec *keys);

/* N3. Read what other threads note, and note as they do. Return: whether it is noted. */
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
/* The steps in words: "trim, lowercase", or "none". Return: @text. */
const char *weir__text_words(const struct weir_text *t, char text[WEIR__TEXT_WORDS]);

#endif
