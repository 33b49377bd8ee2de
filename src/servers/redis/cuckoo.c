/* SPDX-License-Identifier: MIT
 * Add, remove and count items in a chain of cuckoo filters. */
#include <errno.h>
#include "chain.h"

/* Return: true if the links differ in size. */
static bool is_uneven(const struct chain *c)
{
	return c->settings.expansion > 1;
}

/* Return: 1 if added, 0 if the link refuses the item; or a negative errno. */
static int insert_into_link(struct chain *c, struct chain_link *l, const void *item, size_t len)
{
	int answer = weir_insert(l->filter, item, len);
	if (answer < 0)
		return answer == -ENOSPC ? 0 : answer;
	l->items++;
	c->changes++;
	return 1;
}

/* Insert into the newest link first, since it has the most free slots. With uneven links, first try
 * the links that already have the item, even above their capacity: chain_remove() cannot remove an
 * item that two links have. Return: as insert_into_link(). */
static int insert_into_any_link(struct chain *c, const void *item, size_t len)
{
	int answer = 0;
	for (size_t i = is_uneven(c) ? c->links : 0; !answer && i-- > 0;)
		if (weir_contains(c->link[i].filter, item, len))
			answer = insert_into_link(c, &c->link[i], item, len);
	for (size_t i = c->links; !answer && i-- > 0;)
		if (c->link[i].items < c->link[i].capacity)
			answer = insert_into_link(c, &c->link[i], item, len);
	return answer;
}

int chain_insert(struct chain *c, const void *item, size_t len, bool absent, uint64_t most)
{
	if (absent && chain_has(c, item, len))
		return 0;
	int answer = insert_into_any_link(c, item, len);
	if (answer)
		return answer;
	if (!c->settings.expansion)
		return weir_fail(-ENOSPC, "the filter is full: it may not grow, and holds %llu "
		                 "items", (unsigned long long)chain_items(c));
	if (c->links == CHAIN_LINKS)
		return weir_fail(-ENOSPC, "the filter is full: it has %d links, the most there "
		                 "can be", CHAIN_LINKS);
	int err = chain_grow(c, most);
	return err ? err : insert_into_any_link(c, item, len);
}

bool chain_remove(struct chain *c, const void *item, size_t len)
{
	struct chain_link *newest = NULL;
	size_t found = 0;
	for (size_t i = c->links; i-- > 0;) {
		if (!weir_contains(c->link[i].filter, item, len))
			continue;
		newest = newest ? newest : &c->link[i];
		found++;
	}
	if (!found || (found > 1 && is_uneven(c)) || weir_remove(newest->filter, item, len) != 1)
		return false;
	newest->items--;
	c->deleted++;
	c->changes++;
	return true;
}

uint64_t chain_count(const struct chain *c, const void *item, size_t len)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < c->links; i++) {
		int64_t n = weir_count(c->link[i].filter, item, len);
		sum += n > 0 ? (uint64_t)n : 0;
	}
	return sum;
}
