/* SPDX-License-Identifier: MIT */
#include "toy.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

struct toy_entry {
	unsigned refs;
	bool spoilt; /* nodes cannot read the entry */
	struct weir_entry e;
	unsigned char hashes[];
};

struct toy_generation {
	unsigned refs;
	struct weir_manifest m;
};

/* The images. A manifest has an image's number in place of the image's hash. */
static struct pool {
	struct pool *later;
	uint64_t number;
	struct weir_filter *image;
	bool lost;
} *pool;

uint64_t toy_number(struct toy *t, uint64_t below)
{
	uint64_t x = t->random += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return (x ^ (x >> 31)) % below;
}

static uint64_t draw(struct toy *t)
{
	return toy_number(t, UINT64_MAX) + 1;
}

/* ---- states ---- */

static void unref_entry(const struct toy_entry *e)
{
	struct toy_entry *own = (struct toy_entry *)(uintptr_t)e;
	if (!--own->refs)
		free(own);
}

static void unref_generation(struct toy_generation *g)
{
	if (g && !--g->refs)
		free(g);
}

static void cut(struct toy_server *s, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		unref_entry(s->log[i]);
	memmove(s->log + from, s->log + from + n, (s->n - from - n) * sizeof *s->log);
	s->n -= n;
}

void toy_drop_log(struct toy_server *s)
{
	if (s->n)
		cut(s, 0, s->n);
	s->log_there = false;
	s->last_id = (struct weir_log_id){ 0, 0 };
}

void toy_flush(struct toy_server *s)
{
	toy_drop_log(s);
	for (unsigned i = 0; i < TOY_KEEP; i++) {
		unref_generation(s->kept[i]);
		s->kept[i] = NULL;
	}
	s->head_there = false;
	s->head = (struct weir_head){ 0 };
	s->holder = 0;
}

static void push(struct toy_server *s, const struct toy_entry *e)
{
	if (s->n == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 64;
		s->log = realloc(s->log, s->capacity * sizeof *s->log);
		if (!s->log)
			abort();
	}
	s->log[s->n++] = e;
	s->last_id = e->e.id;
	s->log_there = true;
}

static void copy(struct toy_server *to, const struct toy_server *from)
{
	toy_flush(to);
	for (size_t i = 0; i < from->n; i++) {
		((struct toy_entry *)(uintptr_t)from->log[i])->refs++;
		push(to, from->log[i]);
	}
	for (unsigned i = 0; i < TOY_KEEP; i++) {
		to->kept[i] = from->kept[i];
		if (to->kept[i])
			to->kept[i]->refs++;
	}
	to->head = from->head;
	to->head_there = from->head_there;
	to->head_run = from->head_run;
	to->last_id = from->last_id;
	to->log_there = from->log_there;
}

void toy_save(struct toy *t)
{
	copy(&t->server[0], &t->server[1]);
}

void toy_fall_back(struct toy *t, bool restart)
{
	copy(&t->server[1], &t->server[0]);
	if (restart)
		t->server[1].run = draw(t);
}

void toy_delete(struct toy_server *s, size_t i)
{
	if (i < s->n && s->log[i]->e.kind == WEIR_ENTRY_BATCH)
		cut(s, i, 1);
}

void toy_spoil(struct toy_server *s, size_t i)
{
	if (i < s->n)
		((struct toy_entry *)(uintptr_t)s->log[i])->spoilt = true;
}

static struct pool *find_image(const struct weir_manifest *m)
{
	uint64_t number;
	memcpy(&number, m->image, sizeof number);
	for (struct pool *p = pool; p; p = p->later)
		if (p->number == number)
			return p;
	return NULL;
}

void toy_lose_image(struct toy_server *s)
{
	struct pool *p = s->kept[0] ? find_image(&s->kept[0]->m) : NULL;
	if (p)
		p->lost = true;
}

bool toy_log_has(const struct toy_server *s, uint64_t hash)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->log[i]->e.n; k++)
			if (weir__entry_hash(&s->log[i]->e, k) == hash)
				return true;
	return false;
}

const struct weir_manifest *toy_head(const struct toy_server *s)
{
	return s->kept[0] ? &s->kept[0]->m : NULL;
}

const struct weir_manifest *toy_kept(const struct toy_server *s, unsigned i)
{
	return s->kept[i] ? &s->kept[i]->m : NULL;
}

const struct weir_filter *toy_head_image(const struct toy_server *s)
{
	const struct pool *p = s->kept[0] ? find_image(&s->kept[0]->m) : NULL;
	return p && !p->lost ? p->image : NULL;
}

bool toy_image_has(const struct toy_server *s, uint64_t hash)
{
	const struct weir_filter *f = toy_head_image(s);
	return f && weir_contains_hash(f, hash);
}

/* ---- the calls of a store, with the two scripts ---- */

static void append(struct toy_server *s, const struct weir_entry *from)
{
	const size_t bytes = from->kind == WEIR_ENTRY_BATCH ? 8 * from->n : 0;
	struct toy_entry *e = calloc(1, sizeof *e + bytes);
	if (!e)
		abort();
	e->refs = 1;
	e->e = *from;
	e->e.n = bytes / 8;
	if (bytes)
		memcpy(e->hashes, from->hashes, bytes);
	e->e.hashes = e->hashes;
	e->e.id = (struct weir_log_id){ s->head.last.epoch, s->head.last.n + 1 };
	e->e.before = s->head.tag;
	s->head.last = e->e.id;
	s->head.tag = e->e.tag;
	push(s, e);
}

static void begin_epoch(struct toy *t, struct toy_server *s, bool give_up, uint64_t seen)
{
	struct weir_head *h = &s->head;
	const struct weir_log_id base = s->last_id;
	const bool whole = s->head_there, there = s->log_there;
	uint64_t tag = 0;
	if (there && whole && weir__log_id_compare(base, h->last) == 0)
		tag = h->tag;
	else if (s->n && weir__log_id_compare(base, s->log[s->n - 1]->e.id) == 0)
		tag = s->log[s->n - 1]->e.tag;
	uint64_t epoch = base.epoch > h->last.epoch ? base.epoch : h->last.epoch;
	if (!whole && !there && epoch < seen)
		epoch = seen;
	h->prev = whole && !give_up ? h->mark : 0;
	h->lost = give_up ? base : there && whole ? h->lost : (struct weir_log_id){ 0, 0 };
	h->base = base;
	h->mark = draw(t);
	h->last = (struct weir_log_id){ epoch + 1, 0 };
	h->tag = tag;
	s->head_there = true;
	s->head_run = s->run;
	append(s, &(struct weir_entry){ .kind = WEIR_ENTRY_EPOCH, .tag = h->mark, .last = base });
}

static struct toy_server *server_of(struct toy_store *c)
{
	return &c->toy->server[c->server];
}

/* Return: 0: make the call; 1: make the call and lose its answer; < 0: fail at once. */
static int fails(struct toy_store *c)
{
	struct toy *t = c->toy;
	t->calls++;
	if (server_of(c)->down || (t->failing && toy_number(t, 2000) < t->failing))
		return weir_fail(-EIO, "the toy does not answer");
	return t->failing && toy_number(t, 2000) < t->failing;
}

static int fail(int fails)
{
	return fails ? weir_fail(-EIO, "the toy's answer is lost") : 0;
}

static int toy_touch(void *context, const struct weir_touch *touch, struct weir_head *head)
{
	struct toy_store *c = context;
	struct toy_server *s = server_of(c);
	int failing = fails(c);
	if (failing < 0)
		return failing;
	const bool give_up = touch->give_up && touch->mark == s->head.mark;
	if (give_up || !s->head_there || !s->log_there || s->head_run != s->run)
		begin_epoch(c->toy, s, give_up, touch->epoch);
	bool batches = false;
	for (size_t i = 0; i < touch->n; i++)
		batches |= touch->entries[i].kind == WEIR_ENTRY_BATCH;
	const bool full = s->full && batches;
	for (size_t i = 0; i < touch->n && !full; i++) {
		if (s->head.last.epoch < s->last_id.epoch ||
		    (s->head.last.epoch == s->last_id.epoch && s->head.last.n < s->last_id.n))
			begin_epoch(c->toy, s, false, 0);
		append(s, &touch->entries[i]);
		c->toy->bytes_in += 64 + 8 * touch->entries[i].n;
	}
	c->toy->bytes_in += 64;
	c->toy->bytes_out += 128;
	*head = s->head;
	head->full = full;
	head->now_ms = c->toy->clock;
	return fail(failing);
}

static int toy_read(void *context, struct weir_log_id after, size_t most, weir_entry_fn *entry,
                    void *arg, size_t *n)
{
	struct toy_store *c = context;
	struct toy_server *s = server_of(c);
	size_t low = 0, high = s->n;
	int err = fails(c);
	*n = 0;
	if (err || c->no_read)
		return fail(1);
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (weir__log_id_compare(s->log[middle]->e.id, after) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->n && *n < most && !err; low++) {
		const struct toy_entry *e = s->log[low];
		const struct weir_entry unread = { .kind = WEIR_ENTRY_UNREAD, .id = e->e.id };
		if (e->spoilt)
			(void)weir_fail(-EBADMSG, "the toy spoilt it");
		++*n;
		c->toy->bytes_out += 64 + 8 * e->e.n;
		err = entry(arg, e->spoilt ? &unread : &e->e);
	}
	return err;
}

static int toy_manifest(void *context, struct weir_manifest *out)
{
	struct toy_store *c = context;
	struct toy_server *s = server_of(c);
	if (fails(c))
		return fail(1);
	if (!s->kept[0])
		return weir_fail(-ENOENT, "there is no generation");
	*out = s->kept[0]->m;
	c->toy->bytes_out += 1024;
	return 0;
}

static int toy_image(void *context, const struct weir_manifest *m, struct weir_filter **out)
{
	struct toy_store *c = context;
	if (fails(c))
		return fail(1);
	if (c->image != m->id) {
		c->image = m->id;
		c->image_left = c->toy->slow ? (unsigned)toy_number(c->toy, c->toy->slow) : 0;
	}
	if (c->image_left && c->image_left--)
		return weir_fail(-EINPROGRESS, "it is on its way");
	c->image = 0;
	const struct pool *p = find_image(m);
	if (!p || p->lost)
		return weir_fail(-ENOENT, "a chunk is missing");
	c->toy->bytes_out += m->bytes;
	return weir_clone(out, p->image);
}

static int toy_upload(void *context, const struct weir_filter *f, struct weir_manifest *m)
{
	struct toy_store *c = context;
	if (fails(c))
		return fail(1);
	if (c->upload != m->id) {
		weir_destroy(c->uploading);
		c->uploading = NULL;
		if (weir_clone(&c->uploading, f))
			abort();
		c->upload = m->id;
		c->remaining = c->toy->slow ? (unsigned)toy_number(c->toy, c->toy->slow) : 0;
	}
	if (c->remaining && c->remaining--)
		return weir_fail(-EINPROGRESS, "it is on its way");
	struct pool *p = calloc(1, sizeof *p);
	if (!p)
		abort();
	*p = (struct pool){ pool, draw(c->toy), c->uploading, false };
	pool = p;
	c->uploading = NULL;
	c->upload = 0;
	memcpy(m->image, &p->number, sizeof p->number);
	struct weir_stats stats = WEIR_STATS_INIT;
	m->bytes = weir_measure(p->image, WEIR_SAMPLED, &stats) ? 0 : stats.bytes;
	m->chunks = 1;
	c->toy->bytes_in += m->bytes;
	return 0;
}

static bool is_at(const struct toy_server *s, struct weir_log_id position, uint64_t tag)
{
	if (!position.epoch)
		return true;
	if (weir__log_id_compare(position, s->head.last) == 0)
		return tag == s->head.tag;
	for (size_t i = 0; i < s->n; i++) {
		const int order = weir__log_id_compare(s->log[i]->e.id, position);
		if (order >= 0)
			return (order ? s->log[i]->e.before : s->log[i]->e.tag) == tag;
	}
	return false;
}

static void trim(struct toy_server *s)
{
	struct weir_log_id oldest = s->kept[0]->m.position;
	for (unsigned i = 1; i < TOY_KEEP && s->kept[i]; i++)
		if (weir__log_id_compare(s->kept[i]->m.position, oldest) < 0)
			oldest = s->kept[i]->m.position;
	size_t i = 0;
	while (i < s->n && weir__log_id_compare(s->log[i]->e.id, oldest) < 0)
		i++;
	if (i)
		cut(s, 0, i);
}

/* Free each image that no kept generation of a server names. */
static void forget(struct toy *t)
{
	for (struct pool **at = &pool; *at;) {
		struct pool *p = *at;
		bool named = p == pool; /* the newest upload may not be published yet */
		for (unsigned i = 0; i < 2 * TOY_KEEP; i++) {
			const struct toy_generation *g =
				t->server[i / TOY_KEEP].kept[i % TOY_KEEP];
			named |= g && find_image(&g->m) == p;
		}
		if (named) {
			at = &p->later;
			continue;
		}
		*at = p->later;
		weir_destroy(p->image);
		free(p);
	}
}

static int toy_publish(void *context, const struct weir_publication *p)
{
	struct toy_store *c = context;
	struct toy_server *s = server_of(c);
	int failing = fails(c);
	if (failing < 0)
		return failing;
	if (!s->log_there || s->head_run != s->run || s->head.mark != p->mark)
		return weir_fail(-ESTALE, "another epoch");
	if (weir__version_compare(s->head.version, p->base) != 0)
		return weir_fail(-EEXIST, "another generation");
	if (!is_at(s, p->manifest->position, p->manifest->tag))
		return weir_fail(-ESTALE, "another entry is at the position");
	if (!find_image(p->manifest))
		return weir_fail(-ENOENT, "a chunk has gone");
	struct toy_generation *g = calloc(1, sizeof *g);
	if (!g)
		abort();
	p->manifest->signed_ms = c->toy->clock;
	*g = (struct toy_generation){ .refs = 1, .m = *p->manifest };
	unref_generation(s->kept[TOY_KEEP - 1]);
	memmove(s->kept + 1, s->kept, (TOY_KEEP - 1) * sizeof *s->kept);
	s->kept[0] = g;
	s->head.version = g->m.version;
	s->head.generation = g->m.id;
	append(s, &(struct weir_entry){ .kind = WEIR_ENTRY_GENERATION, .tag = draw(c->toy),
	                                .version = g->m.version });
	trim(s);
	forget(c->toy);
	return fail(failing);
}

static int toy_lease(void *context, uint64_t node, uint32_t milliseconds)
{
	struct toy_store *c = context;
	struct toy_server *s = server_of(c);
	if (fails(c))
		return fail(1);
	if (s->holder && s->holder != node && c->toy->clock < s->held_until)
		return weir_fail(-EPERM, "another node has the lease");
	s->holder = node;
	s->held_until = c->toy->clock + milliseconds;
	return 0;
}

void toy_make(struct toy *t, uint64_t seed)
{
	*t = (struct toy){ .random = seed, .clock = 1000 };
	t->server[0].run = t->server[1].run = draw(t);
}

void toy_free(struct toy *t)
{
	for (unsigned i = 0; i < 2; i++) {
		toy_flush(&t->server[i]);
		free(t->server[i].log);
	}
	for (unsigned i = 0; i < TOY_STORES; i++)
		weir_destroy(t->stores[i].uploading);
	while (pool) {
		struct pool *later = pool->later;
		weir_destroy(pool->image);
		free(pool);
		pool = later;
	}
}

struct toy_store *toy_store(struct toy *t, unsigned i, unsigned server)
{
	struct toy_store *c = &t->stores[i];
	weir_destroy(c->uploading);
	*c = (struct toy_store){ .store = { c, toy_touch, toy_read, toy_manifest, toy_image,
		                            toy_upload, toy_publish, toy_lease },
		                 .toy = t, .server = server };
	return c;
}
