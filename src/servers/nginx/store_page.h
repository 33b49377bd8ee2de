/* SPDX-License-Identifier: MIT
 * The page of state at the start of a store's memory file. */
#ifndef WEIR_NGINX_STORE_PAGE_H
#define WEIR_NGINX_STORE_PAGE_H

#include "store.h"

enum {
	STORE_PAGE = 1 << 16, /* a multiple of every page size */
	STORE_FACT_WORDS = (sizeof(struct store_facts) + 7) / 8,
};

enum store_place { STORE_IN_SLOT_0, STORE_IN_SLOT_1, STORE_NOWHERE, STORE_IN_FILE };

struct store_shared {
	_Alignas(64) _Atomic uint64_t current; /* number * 4 + location; 0: nothing published yet */
	/* bytes of the image, or of the whole slot while the leader fills it; 0: no pages */
	_Alignas(64) _Atomic uint64_t bytes[STORE_SLOTS];
	_Atomic uint64_t count; /* odd during a write of the facts ([FACTS-COUNT]) */
	_Atomic uint64_t facts[STORE_FACT_WORDS];
};

static inline uint64_t store_number(uint64_t word)
{
	return word >> 2;
}

static inline uint64_t store_word(uint64_t number, enum store_place place)
{
	return number << 2 | place;
}

static inline enum store_place store_place(uint64_t word)
{
	return word ? (enum store_place)(word & 3) : STORE_NOWHERE;
}

void store_write_facts(struct store_shared *shared, const struct store_facts *facts);
/* Return: false if facts were never written, or a write has not ended. */
bool store_read_facts(const struct store_shared *shared, struct store_facts *out);

#endif
