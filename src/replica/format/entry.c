/* SPDX-License-Identifier: MIT */
#include "entry.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <weir/error.h>

enum { STRINGS = 6, HEX = WEIR_HEX_TEXT - 1, WORD = 8 };

static int bad(struct weir_log_id id, const char *what)
{
	char text[WEIR_ID_TEXT];
	return weir_fail(-EBADMSG, "entry %s of the log: %s", weir__log_id_write(text, id), what);
}

static bool equals(const struct iovec *string, const char *name)
{
	return string->iov_len == strlen(name) && memcmp(string->iov_base, name, strlen(name)) == 0;
}

static uint64_t get(const unsigned char *from)
{
	uint64_t n = 0;
	for (int byte = WORD - 1; byte >= 0; byte--)
		n = n << 8 | from[byte];
	return n;
}

static void put(unsigned char *to, uint64_t n)
{
	for (int byte = 0; byte < WORD; byte++)
		to[byte] = (unsigned char)(n >> (8 * byte));
}

static int read_batch(struct weir_entry *e, const unsigned char *data, size_t len)
{
	e->kind = WEIR_ENTRY_BATCH;
	if (len < 3 * WORD || len > WEIR_ENTRY_BYTES || len % WORD != 0)
		return bad(e->id, "its batch is not a node, a seed and 1 to 8190 hashes");
	e->node = get(data);
	e->hashing = get(data + WORD);
	e->hashes = data + (size_t)2 * WORD;
	e->n = len / WORD - 2;
	return e->node ? 0 : bad(e->id, "its batch is of no node");
}

static int read_generation(struct weir_entry *e, const char *data, size_t len)
{
	e->kind = WEIR_ENTRY_GENERATION;
	return weir__version_read(&e->version, data, len) && e->version.era && e->version.number ?
		0 : bad(e->id, "its generation has no version");
}

static int read_call(struct weir_entry *e, const char *data, size_t len)
{
	e->kind = WEIR_ENTRY_CALL;
	return len > HEX && data[HEX] == ' ' && weir__hex_read(&e->node, data, HEX) && e->node &&
	       weir__version_read(&e->version, data + HEX + 1, len - HEX - 1) ?
		0 : bad(e->id, "its call is not a node and a version");
}

static int read_epoch(struct weir_entry *e, const char *data, size_t len)
{
	e->kind = WEIR_ENTRY_EPOCH;
	if (!weir__log_id_read(&e->last, data, len))
		return bad(e->id, "it begins an epoch and does not say after which entry");
	return e->id.n == 1 && e->last.epoch < e->id.epoch ?
		0 : bad(e->id, "it begins an epoch and is not the first of one");
}

static int read_kind(struct weir_entry *e, const struct iovec *strings)
{
	const struct iovec *value = strings + 1;
	if (equals(strings, "b"))
		return read_batch(e, value->iov_base, value->iov_len);
	if (equals(strings, "g"))
		return read_generation(e, value->iov_base, value->iov_len);
	if (equals(strings, "c"))
		return read_call(e, value->iov_base, value->iov_len);
	if (equals(strings, "p"))
		return read_epoch(e, value->iov_base, value->iov_len);
	return weir_fail(-ENOTSUP, "entry %llu-%llu of the log is of a kind that this library does "
	                 "not know: upgrade it", (unsigned long long)e->id.epoch,
	                 (unsigned long long)e->id.n);
}

int weir__entry_read(struct weir_entry *out, struct weir_log_id id, const struct iovec *strings,
                     size_t n)
{
	struct weir_entry e = { .id = id };
	if (!id.epoch || !id.n)
		return bad(id, "epochs and their entries are counted from 1");
	if (n < STRINGS || !equals(&strings[0], "t") || !equals(&strings[2], "a") ||
	    !weir__hex_read(&e.tag, strings[1].iov_base, strings[1].iov_len) || !e.tag ||
	    !weir__hex_read(&e.before, strings[3].iov_base, strings[3].iov_len))
		return bad(id, "it does not begin with its tag and the one before");
	if (n > STRINGS)
		return weir_fail(-ENOTSUP, "entry %llu-%llu of the log has more fields than this "
		                 "library knows: upgrade it", (unsigned long long)id.epoch,
		                 (unsigned long long)id.n);
	int err = read_kind(&e, strings + 4);
	if (!err)
		*out = e;
	return err;
}

size_t weir__entry_write(unsigned char *to, const struct weir_entry *e)
{
	char version[WEIR_ID_TEXT], *text = (char *)to;
	if (e->kind == WEIR_ENTRY_BATCH) {
		put(to, e->node);
		put(to + WORD, e->hashing);
		memcpy(to + (size_t)2 * WORD, e->hashes, e->n * WORD);
		return (e->n + 2) * WORD;
	}
	weir__version_write(version, e->version);
	if (e->kind == WEIR_ENTRY_CALL) {
		weir__hex_write(text, e->node);
		text[HEX] = ' ';
		text += HEX + 1;
	}
	memcpy(text, version, strlen(version));
	return (size_t)(text - (char *)to) + strlen(version);
}
