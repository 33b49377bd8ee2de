/* SPDX-License-Identifier: MIT
 * Filters that know what is done to their keys. */
#include <stdlib.h>
#include "filter/filter.h"
#include "ground/error.h"

enum { ON_STACK = 4096 };

/* Room for a text: on the stack, unless it is long. */
struct room {
	char *bytes, *made;
	char some[ON_STACK];
};

static int room_for(struct room *room, const struct weir_normal *n, size_t len)
{
	size_t bytes = weir_normal_room(n, len);
	room->made = bytes > sizeof room->some ? malloc(bytes) : NULL;
	room->bytes = room->made ? room->made : room->some;
	if (bytes > sizeof room->some && !room->made)
		return weir__fail(-ENOMEM, "no memory for the lowercase of %zu bytes", len);
	return 0;
}

void weir_normal_of(const struct weir_filter *f, struct weir_normal *out)
{
	*out = f->normal;
}

static bool legal(const struct weir_normal *n)
{
	const uint32_t steps = n->steps;
	bool cidr = steps & WEIR_NORMAL_CIDR, suffixes = steps & WEIR_NORMAL_SUFFIXES;
	uint64_t lengths = n->ipv4 | n->ipv6[0] | n->ipv6[1] | n->ipv6[2];
	return !(steps & ~(uint32_t)WEIR__NORMAL_STEPS) && !n->reserved && !(cidr && suffixes) &&
	       (cidr || !lengths) && !(n->ipv4 & ~WEIR__IPV4_LENGTHS) && n->ipv6[2] <= 1 &&
	       (suffixes || !(n->labels[0] | n->labels[1])) && !(n->labels[0] & 1);
}

int weir_normal_set(struct weir_filter *f, const struct weir_normal *n)
{
	static const struct weir_normal nothing;
	char steps[WEIR__NORMAL_TEXT];
	const struct weir_normal *set = n ? n : &nothing;
	if (!legal(set))
		return weir__fail(-EINVAL, "steps 0x%x: 0x%x, not cidr (4) and suffixes (8) "
		                  "together, IPv4 lengths to 32, IPv6 lengths to 128 or labels 1 "
		                  "to 127 of their own step alone", set->steps, WEIR__NORMAL_STEPS);
	if (!(weir__kind_can(f->kind) & WEIR_CAN_NORMALISE) && set->steps)
		return weir__fail(-EINVAL, "%s: kind %s takes keys as they are",
		                  weir__normal_text(set, steps), f->kind->name);
	f->normal = *set;
	return 0;
}

int weir_normal_contains(const struct weir_filter *f, const void *text, size_t len)
{
	struct iovec keys[WEIR_NORMAL_LOOKUPS];
	struct room room;
	if (!f->normal.steps)
		return weir_contains(f, text, len);
	int n = room_for(&room, &f->normal, len);
	if (n)
		return n;
	n = weir_normal_lookups(&f->normal, text, len, room.bytes, keys);
	if (n > 0)
		n = weir_contains_keys(f, weir_keys_iov(keys, (size_t)n), NULL) > 0;
	free(room.made);
	return n;
}

static int insert_key(struct weir_filter *f, const struct iovec *key, const char *text, size_t len)
{
	struct weir_normal noted = f->normal;
	if (weir_normal_note(&noted, key))
		return weir__fail(-EINVAL, "'%.*s': %s that the filter has none of, so no lookup "
		                  "would ask for it: build the set anew with it",
		                  len > 60 ? 60 : (int)len, text,
		                  f->normal.steps & WEIR_NORMAL_CIDR ? "a prefix length" :
		                                                       "a number of labels");
	return weir_insert(f, key->iov_base, key->iov_len);
}

static int remove_key(struct weir_filter *f, const struct iovec *key, const char *text, size_t len)
{
	(void)text, (void)len;
	return weir_remove(f, key->iov_base, key->iov_len);
}

typedef int change_fn(struct weir_filter *f, const struct iovec *key, const char *text, size_t len);

/* By the key that the filter makes of the text. */
static int change(struct weir_filter *f, const void *text, size_t len, change_fn *by)
{
	struct iovec key = { (void *)(uintptr_t)text, len };
	struct room room;
	if (!f->normal.steps)
		return by(f, &key, text, len);
	int answer = room_for(&room, &f->normal, len);
	if (answer)
		return answer;
	answer = weir_normal_key(&f->normal, text, len, room.bytes, &key);
	if (!answer)
		answer = by(f, &key, text, len);
	free(room.made);
	return answer;
}

int weir_normal_insert(struct weir_filter *f, const void *text, size_t len)
{
	return f->normal.steps ? change(f, text, len, insert_key) : weir_insert(f, text, len);
}

int weir__normal_remove(struct weir_filter *f, const void *text, size_t len)
{
	return change(f, text, len, remove_key);
}
