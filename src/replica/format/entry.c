/* SPDX-License-Identifier: MIT
 * Entries of the stream. */
#include "entry.h"
#include <errno.h>
#include <string.h>
#include <weir/error.h>
#include "number.h"

enum { HASH = 8, LENGTH = 4, STRINGS = 10 };

static bool is(const struct iovec *string, const char *text)
{
	return string->iov_len == strlen(text) && memcmp(string->iov_base, text, strlen(text)) == 0;
}

static uint64_t lowest_first(const unsigned char *from, unsigned bytes)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < bytes; i++)
		n |= (uint64_t)from[i] << (8 * i);
	return n;
}

static void put_lowest_first(unsigned char *to, uint64_t n, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(n >> (8 * i));
}

static int bad(const char *what)
{
	return weir_fail(-EBADMSG, "an entry of the stream: %s", what);
}

static int read_version(const struct iovec *strings, size_t n)
{
	uint64_t version;
	if (n < 2 || !is(&strings[0], "v") ||
	    !weir__number_parse(&version, strings[1].iov_base, strings[1].iov_len))
		return bad("it does not begin with its version");
	if (version != 1)
		return weir_fail(-ENOTSUP, "an entry of the stream is of version %llu, this "
		                 "library reads 1: upgrade it", (unsigned long long)version);
	return n == STRINGS ? 0 : bad("it has too many or too few fields");
}

static bool read_hex(uint64_t *out, const struct iovec *strings, const char *name)
{
	return is(&strings[0], name) &&
	       weir__hex_parse(out, strings[1].iov_base, strings[1].iov_len, WEIR_REPLICA_NODE);
}

/* Does every key end where another begins, or at the end? */
static bool keys_fit(const struct weir_entry *e)
{
	size_t at = 0;
	struct iovec key;
	while (weir__entry_key(e, &at, &key))
		;
	return at == e->bytes;
}

static bool read_wanted(struct weir_entry *e)
{
	const char *text = (const char *)e->data;
	return e->bytes > WEIR_REPLICA_NODE + 1 && text[WEIR_REPLICA_NODE] == ' ' &&
	       weir__hex_parse(&e->wanted_node, text, WEIR_REPLICA_NODE, WEIR_REPLICA_NODE) &&
	       weir__number_parse(&e->wanted_sequence, text + WEIR_REPLICA_NODE + 1,
	                          e->bytes - WEIR_REPLICA_NODE - 1) &&
	       e->wanted_sequence > 0;
}

static int read_data(struct weir_entry *e, const struct iovec *strings)
{
	e->data = strings[1].iov_base;
	e->bytes = strings[1].iov_len;
	if (is(&strings[0], "h")) {
		e->kind = WEIR_ENTRY_HASHES;
		return e->bytes % HASH == 0 ? 0 : bad("its hashes are not 8 bytes each");
	}
	if (is(&strings[0], "k")) {
		e->kind = WEIR_ENTRY_KEYS;
		return keys_fit(e) ? 0 : bad("a key ends after the entry");
	}
	if (is(&strings[0], "w")) {
		e->kind = WEIR_ENTRY_WANTED;
		return read_wanted(e) ? 0 : bad("it does not say whose batches are lacking");
	}
	e->kind = WEIR_ENTRY_IDLE;
	return is(&strings[0], "i") && e->bytes == 0 ? 0 : bad("it has no data");
}

int weir__entry_read(struct weir_entry *out, const struct iovec *strings, size_t n)
{
	struct weir_entry e = { .node = 0 };
	int err = read_version(strings, n);
	if (err)
		return err;
	if (!read_hex(&e.node, strings + 2, "n"))
		return bad("it has no node");
	if (!is(&strings[4], "q") || strings[5].iov_len == 0 ||
	    !weir__number_parse(&e.sequence, strings[5].iov_base, strings[5].iov_len))
		return bad("it has no sequence number");
	if (!read_hex(&e.hashing, strings + 6, "s"))
		return bad("it does not say how its keys were hashed");
	err = read_data(&e, strings + 8);
	if (!err && e.sequence == 0 && (e.kind == WEIR_ENTRY_HASHES || e.kind == WEIR_ENTRY_KEYS))
		err = bad("it has no sequence number");
	if (!err)
		*out = e;
	return err;
}

size_t weir__entry_hashes(const struct weir_entry *e)
{
	return e->kind == WEIR_ENTRY_HASHES ? e->bytes / HASH : 0;
}

uint64_t weir__entry_hash(const struct weir_entry *e, size_t i)
{
	return lowest_first(e->data + HASH * i, HASH);
}

void weir__entry_put_hash(unsigned char *data, size_t i, uint64_t hash)
{
	put_lowest_first(data + HASH * i, hash, HASH);
}

bool weir__entry_key(const struct weir_entry *e, size_t *at, struct iovec *key)
{
	if (e->kind != WEIR_ENTRY_KEYS || e->bytes - *at < LENGTH)
		return false;
	uint64_t len = lowest_first(e->data + *at, LENGTH);
	if (len > e->bytes - *at - LENGTH)
		return false;
	*key = (struct iovec){ (void *)(uintptr_t)(e->data + *at + LENGTH), len };
	*at += LENGTH + len;
	return true;
}

size_t weir__entry_key_room(size_t len)
{
	return LENGTH + len;
}

size_t weir__entry_piece(enum weir_entry_kind kind, const unsigned char *data, size_t bytes,
                         size_t most)
{
	const struct weir_entry all = { .kind = kind, .data = data, .bytes = bytes };
	struct iovec key;
	size_t end = 0, next = 0;
	if (bytes <= most)
		return bytes;
	if (kind == WEIR_ENTRY_HASHES)
		return most < HASH ? HASH : most / HASH * HASH;
	while (weir__entry_key(&all, &next, &key) && (next <= most || end == 0))
		end = next;
	return end;
}

void weir__entry_put_key(unsigned char *data, const void *key, uint32_t len)
{
	put_lowest_first(data, len, LENGTH);
	if (len)
		memcpy(data + LENGTH, key, len);
}
