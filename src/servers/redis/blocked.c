/* SPDX-License-Identifier: MIT
 * Add items to a chain of blocked filters. */
#include <errno.h>
#include "chain.h"

int chain_add(struct chain *c, const void *item, size_t len, uint64_t most)
{
	if (chain_has(c, item, len))
		return 0;
	struct chain_link *last = &c->link[c->links - 1];
	if (last->items >= last->capacity) {
		if (!c->settings.expansion)
			return weir_fail(-ENOSPC, "the chain of one link is full: %llu items",
			                 (unsigned long long)last->items);
		int err = chain_grow(c, most);
		if (err)
			return err;
		last = &c->link[c->links - 1];
	}
	int answer = weir_insert(last->filter, item, len);
	last->items += answer == WEIR_NEW;
	return answer;
}
