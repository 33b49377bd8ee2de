/* SPDX-License-Identifier: MIT
 * The toy of a server. Its clock goes back after a failover, as another machine's may. */
#include "toy.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/filter.h>
#include "../test.h"

struct toy_entry {
	struct toy_entry *older;
	struct weir_stream_id id;
	enum weir_entry_kind kind;
	uint64_t node, sequence, hashing;
	size_t bytes;
	unsigned char data[];
};

struct toy_image {
	struct toy_image *older;
	uint64_t number;
	struct weir_filter *filter;
};

uint64_t toy_number(struct toy *t, uint64_t below)
{
	return test_random(&t->random) % below;
}

static void copy_state(struct toy_state *to, const struct toy_state *from)
{
	free(to->entries);
	free(to->manifest);
	*to = *from;
	to->entries = malloc((from->n + 1) * sizeof *to->entries);
	if (from->n)
		memcpy(to->entries, from->entries, from->n * sizeof *to->entries);
	to->manifest = from->manifest ? strndup(from->manifest, from->manifest_len) : NULL;
}

bool toy_wait(struct toy *t)
{
	if (!t->lags)
		copy_state(&t->replica, &t->now);
	return !t->lags;
}

void toy_fail_over(struct toy *t)
{
	copy_state(&t->now, &t->replica);
	t->epochs++;
	t->clock = t->clock > 50 ? t->clock - toy_number(t, 50) : 1;
}

void toy_trim(struct toy *t, size_t n)
{
	n = n < t->now.n ? n : t->now.n;
	if (n == 0)
		return; /* nor is there an array */
	t->now.n -= n;
	memmove(t->now.entries, t->now.entries + n, t->now.n * sizeof *t->now.entries);
}

void toy_delete(struct toy *t, size_t i)
{
	if (i >= t->now.n)
		return;
	t->now.n--;
	memmove(t->now.entries + i, t->now.entries + i + 1,
	        (t->now.n - i) * sizeof *t->now.entries);
}

void toy_delete_all(struct toy *t)
{
	t->now.n = 0;
	t->now.added += WEIR_STREAM_LEAP;
	t->now.last = t->now.position;
}

static void epoch_of(const struct toy *t, char epoch[WEIR_REPLICA_EPOCH + 1])
{
	snprintf(epoch, WEIR_REPLICA_EPOCH + 1, "%056x", t->epochs);
}

void toy_flush(struct toy *t)
{
	free(t->now.entries);
	free(t->now.manifest);
	t->now = (struct toy_state){ .n = 0 };
	t->epochs++;
}

/* The connection breaks. */
static int breaks(struct toy *t)
{
	return toy_number(t, 1000) < t->failing ? weir_fail(-ECONNRESET, "the toy breaks") : 0;
}

static int check_epoch(const struct toy *t, const char *epoch)
{
	char now[WEIR_REPLICA_EPOCH + 1];
	epoch_of(t, now);
	return strcmp(now, epoch) ? weir_fail(-ESTALE, "the epoch is another") : 0;
}

static struct weir_stream_id next_id(struct toy *t)
{
	struct weir_stream_id *last = &t->now.last;
	t->clock += toy_number(t, 2);
	*last = t->clock > last->ms ? (struct weir_stream_id){ t->clock, 0 } :
	                              (struct weir_stream_id){ last->ms, last->number + 1 };
	return *last;
}

static int append(void *context, const struct weir_sending *s, struct weir_stream_id *id)
{
	struct toy *t = context;
	int err = breaks(t);
	if (!err)
		err = check_epoch(t, s->epoch);
	if (err)
		return err;
	struct toy_entry *e = malloc(sizeof *e + s->bytes);
	*e = (struct toy_entry){ .older = t->all, .id = next_id(t), .kind = s->kind,
	                         .node = s->node, .sequence = s->sequence,
	                         .hashing = s->hashing, .bytes = s->bytes };
	memcpy(e->data, s->data, s->bytes);
	t->all = e;
	t->now.entries = realloc(t->now.entries, (t->now.n + 1) * sizeof *t->now.entries);
	t->now.entries[t->now.n++] = e;
	t->now.added++;
	*id = e->id;
	return breaks(t); /* after it was done */
}

static struct iovec text(const char *of)
{
	return (struct iovec){ (void *)(uintptr_t)of, strlen(of) };
}

static struct weir_entry as_read(const struct toy_entry *e)
{
	static const char *const kinds[] = { "h", "k", "w", "i" };
	char node[17], sequence[21], hashing[17];
	struct weir_entry read;
	snprintf(node, sizeof node, "%016" PRIx64, e->node);
	snprintf(sequence, sizeof sequence, "%" PRIu64, e->sequence);
	snprintf(hashing, sizeof hashing, "%016" PRIx64, e->hashing);
	struct iovec strings[] = { text("v"), text("1"), text("n"), text(node), text("q"),
		text(sequence), text("s"), text(hashing), text(kinds[e->kind]),
		{ (void *)(uintptr_t)e->data, e->bytes } };
	assert_ok(weir__entry_read(&read, strings, COUNT_OF(strings)));
	return read;
}

static int read_some(void *context, const char *epoch, struct weir_stream_id after, size_t most,
                     struct weir_stream_counts *counts, weir_entry_fn *entry, void *arg, size_t *n)
{
	struct toy *t = context;
	int err = breaks(t);
	if (!err)
		err = check_epoch(t, epoch);
	if (err)
		return err;
	*n = 0;
	*counts = (struct weir_stream_counts){ t->now.added, t->now.n, t->now.last };
	for (size_t i = 0; i < t->now.n && *n < most && !err; i++) {
		const struct toy_entry *e = t->now.entries[i];
		if (weir__stream_id_compare(e->id, after) <= 0)
			continue;
		++*n;
		struct weir_entry seen = as_read(e);
		err = entry(arg, e->id, &seen);
	}
	return err;
}

static int manifest(void *context, char epoch[WEIR_REPLICA_EPOCH + 1], char **text, size_t *len)
{
	struct toy *t = context;
	int err = breaks(t);
	epoch[0] = '\0';
	if (err)
		return err;
	epoch_of(t, epoch);
	*text = t->now.manifest ? strndup(t->now.manifest, t->now.manifest_len) : NULL;
	*len = t->now.manifest_len;
	return 0;
}

static int image(void *context, const struct weir_manifest *m, struct weir_filter **out)
{
	struct toy *t = context;
	int err = breaks(t);
	if (!err && t->slow && toy_number(t, 1000) < t->slow)
		return weir_fail(-EINPROGRESS, "half of it is here");
	if (!err && t->bad_image)
		return weir_fail(-EBADMSG, "its checksum is another");
	for (struct toy_image *i = t->images; i && !err && !t->no_image; i = i->older)
		if (i->number == m->checksum[0])
			return weir_clone(out, i->filter);
	return err ? err : weir_fail(-EAGAIN, "no such image");
}

static int store(void *context, const struct weir_filter *f, struct weir_manifest *m, bool *safe)
{
	struct toy *t = context;
	int err = breaks(t);
	if (err)
		return err;
	struct toy_image *i = calloc(1, sizeof *i);
	i->number = t->images ? t->images->number + 1 : 1;
	i->older = t->images;
	assert_ok(weir_clone(&i->filter, f));
	t->images = i;
	m->bytes = m->chunks = m->chunk_bytes = 1;
	m->checksum[0] = i->number;
	m->published_ms = t->clock;
	*safe = toy_wait(t);
	return 0;
}

static int server_now(void *context, uint64_t *ms)
{
	struct toy *t = context;
	*ms = t->clock;
	return breaks(t);
}

static int publish(void *context, const struct weir_manifest *m, const char *text, size_t len)
{
	struct toy *t = context;
	int err = breaks(t);
	if (!err)
		err = check_epoch(t, m->epoch);
	if (err)
		return err;
	if (t->now.generation != m->base)
		return weir_fail(-EEXIST, "the base is another");
	free(t->now.manifest);
	t->now.manifest = strndup(text, len);
	t->now.manifest_len = len;
	t->now.generation = m->generation;
	t->now.position = m->cursor.at;
	size_t n = 0;
	while (n < t->now.n && weir__stream_id_compare(t->now.entries[n]->id, m->covered) <= 0)
		n++;
	toy_trim(t, n);
	return breaks(t);
}

void toy_make(struct toy *t, uint64_t seed)
{
	*t = (struct toy){ .server = { t, append, read_some, manifest, image, store, server_now,
	                              publish },
	                   .random = seed, .clock = 1000, .epochs = 1 };
	toy_wait(t);
}

int toy_ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

bool toy_stream_has(const struct toy *t, uint64_t hash)
{
	for (size_t i = 0; i < t->now.n; i++) {
		const struct toy_entry *e = t->now.entries[i];
		const struct weir_entry read = { .kind = e->kind, .data = e->data,
			                         .bytes = e->bytes };
		for (size_t k = 0; k < weir__entry_hashes(&read); k++)
			if (weir__entry_hash(&read, k) == hash)
				return true;
	}
	return false;
}

const struct weir_filter *toy_image(const struct toy *t)
{
	const struct weir_filter *found = NULL;
	struct weir_origins origins = { 0 };
	struct weir_manifest m;
	if (t->now.manifest &&
	    weir__manifest_read(&m, &origins, t->now.manifest, t->now.manifest_len) == 0)
		for (const struct toy_image *i = t->images; i && !found; i = i->older)
			found = i->number == m.checksum[0] ? i->filter : NULL;
	weir__origins_free(&origins);
	return found;
}

void toy_free(struct toy *t)
{
	for (struct toy_entry *e = t->all, *older; e; e = older) {
		older = e->older;
		free(e);
	}
	for (struct toy_image *i = t->images, *older; i; i = older) {
		older = i->older;
		weir_destroy(i->filter);
		free(i);
	}
	free(t->now.entries);
	free(t->replica.entries);
	free(t->now.manifest);
	free(t->replica.manifest);
}
