/* SPDX-License-Identifier: MIT
 * The names of sets: they are written to the first page of the array ([ROUTER-LAYOUT]), and read
 * from it. The names in an image may be forged. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "ground/error.h"
#include "router/router.h"

/* Return: the length of the character at @c if it is well-formed UTF-8 (RFC 3629) and not a control
 * character, else 0. The text must end with a NUL. */
static size_t character(const unsigned char *c)
{
	uint32_t least, code;
	size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 :
	           c[0] < 0xf5 ? 4 : 0;
	if (n <= 1)
		return c[0] < 0x20 || c[0] == 0x7f ? 0 : n;
	code = c[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3f);
	}
	least = n == 2 ? 0xa0 : n == 3 ? 0x800 : 0x10000; /* 0x80 to 0x9f are control characters */
	return code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : n;
}

/* Return: true if the name has one character or more, all of them allowed. @name: ends with a
 * NUL. */
static bool is_text(const char *name)
{
	const unsigned char *c = (const unsigned char *)name;
	size_t n = 1;
	for (; *c && n; c += n)
		n = character(c);
	return n && c != (const unsigned char *)name;
}

static int name_check(int err, char name[][WEIR_ROUTER_NAME], uint32_t set)
{
	if (!is_text(name[set]))
		return weir__fail(err, "the name of set %" PRIu32 ", \"%s\": allowed: 1 to %d "
		                  "bytes of UTF-8 without control characters", set, name[set],
		                  WEIR_ROUTER_NAME - 1);
	for (uint32_t before = 0; before < set; before++)
		if (strcmp(name[before], name[set]) == 0)
			return weir__fail(err, "sets %" PRIu32 " and %" PRIu32 " have one name, "
			                  "\"%s\"", before, set, name[set]);
	return 0;
}

static int take_name(char name[][WEIR_ROUTER_NAME], const struct weir_params *p, uint32_t set)
{
	char number[16];
	snprintf(number, sizeof number, "%" PRIu32, set);
	const char *given = p->router.names ? p->router.names[set] : number;
	if (!given)
		return weir__fail(-EINVAL, "names: that of set %" PRIu32 " is NULL", set);
	size_t n = strlen(given);
	if (n >= WEIR_ROUTER_NAME)
		return weir__fail(-EINVAL, "the name of set %" PRIu32 ", \"%.80s\", has %zu bytes: "
		                  "allowed: %d at most", set, given, n, WEIR_ROUTER_NAME - 1);
	memcpy(name[set], given, n + 1);
	return name_check(-EINVAL, name, set);
}

int weir__router_name(struct weir_filter *f, const struct weir_params *p)
{
	char name[WEIR_ROUTER_SETS][WEIR_ROUTER_NAME] = { { 0 } };
	int err = 0;
	for (uint32_t set = 0; !err && set < p->router.sets; set++)
		err = take_name(name, p, set);
	if (err)
		return err;
	memcpy(f->array.words, name, sizeof name);
	return weir__router_read_names(f);
}

/* Return: true if a name's line is zero from byte @used on. */
static bool padded(const char *name, size_t used)
{
	static const char zeros[WEIR_ROUTER_NAME];
	return memcmp(name + used, zeros, WEIR_ROUTER_NAME - used) == 0;
}

int weir__router_read_names(const struct weir_filter *f)
{
	struct weir_router_own *own = f->own;
	const uint32_t sets = weir__router_sets(&f->array);
	int err = 0;
	_Static_assert(sizeof own->name == WEIR__PAGE_BYTES, "the names are a page");
	memcpy(own->name, f->array.words, sizeof own->name);
	for (uint32_t set = 0; !err && set < WEIR_ROUTER_SETS; set++) {
		char *name = own->name[set];
		own->names[set] = name;
		size_t n = set < sets ? strnlen(name, WEIR_ROUTER_NAME) : 0;
		if (n == WEIR_ROUTER_NAME || !padded(name, n))
			err = weir__fail(-EBADMSG, "the name of set %" PRIu32 " is not followed by "
			                 "zeros up to %d bytes", set, WEIR_ROUTER_NAME);
		else if (set < sets)
			err = name_check(-EBADMSG, own->name, set);
	}
	return err;
}

void weir__router_names_of(const struct weir_filter *f, struct weir_params *p)
{
	p->router.sets = weir__router_sets(&f->array);
	p->router.names = weir__router_own(f)->names;
}

int weir__router_alike(const struct weir_filter *a, const struct weir_filter *b)
{
	const uint32_t n = weir__router_sets(&a->array), m = weir__router_sets(&b->array);
	if (n != m)
		return weir__fail(-EINVAL, "one router has %" PRIu32 " sets, the other %" PRIu32, n,
		                  m);
	for (uint32_t set = 0; set < n; set++) {
		const char *x = weir__router_own(a)->name[set], *y = weir__router_own(b)->name[set];
		if (strcmp(x, y))
			return weir__fail(-EINVAL, "set %" PRIu32 " of one router is \"%s\", of "
			                  "the other \"%s\"", set, x, y);
	}
	return 0;
}

uint32_t weir_router_sets(const struct weir_filter *f)
{
	return f->kind == &weir__kind_router ? weir__router_sets(&f->array) : 1;
}

const char *weir_router_name(const struct weir_filter *f, uint32_t set)
{
	if (set >= weir_router_sets(f))
		return NULL;
	return f->kind == &weir__kind_router ? weir__router_own(f)->name[set] : "0";
}

int weir_router_find(const struct weir_filter *f, const char *name)
{
	for (uint32_t set = 0; set < weir_router_sets(f); set++)
		if (strcmp(weir_router_name(f, set), name) == 0)
			return (int)set;
	return -ENOENT;
}
