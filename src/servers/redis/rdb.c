/* SPDX-License-Identifier: MIT
 * The key types: how Redis saves, loads, copies, measures and frees keys. Each link is an image of
 * weir with its checksums (link.c). */
#include <errno.h>
#include <sys/mman.h>
#include "keys.h"

struct key_kind bf_keys = { NULL, false, "BF.WEIRLINK", "BF.LOADCHUNK",
	                    "ERR non scaling filter is full", bf_replicate };
struct key_kind cf_keys = { NULL, true, "CF.WEIRLINK", "CF.LOADCHUNK", "Filter is full",
	                    cf_replicate };

static void save(struct redis_io *io, void *value)
{
	const struct chain *c = value;
	redis.SaveDouble(io, c->settings.error);
	redis.SaveUnsigned(io, c->settings.capacity);
	redis.SaveUnsigned(io, c->settings.expansion);
	redis.SaveUnsigned(io, c->settings.seed);
	if (chain_is_cuckoo(c)) {
		redis.SaveUnsigned(io, c->settings.bucket);
		redis.SaveUnsigned(io, c->settings.iterations);
		redis.SaveUnsigned(io, c->deleted);
		redis.SaveUnsigned(io, c->changes);
	}
	redis.SaveUnsigned(io, c->links);
	for (size_t i = 0; i < c->links; i++) {
		size_t bytes = 0;
		void *image = key_image(c->link[i].filter, &bytes);
		/* Log a failed save. Redis will not load the empty image, so no lookup becomes
		 * wrong. */
		if (!image)
			redis.LogIOError(io, "warning", "link %zu was not saved: %s", i,
			                 weir_error_detail());
		redis.SaveUnsigned(io, c->link[i].items);
		redis.SaveStringBuffer(io, image ? image : "", bytes);
		if (image)
			munmap(image, bytes);
	}
}

static int load_links(struct redis_io *io, struct chain *c, uint64_t links)
{
	if (!links || links > CHAIN_LINKS)
		return weir_fail(-EBADMSG, "a chain cannot have %llu links",
		                 (unsigned long long)links);
	for (uint64_t i = 0; i < links; i++) {
		size_t bytes = 0;
		uint64_t items = redis.LoadUnsigned(io);
		char *image = redis.LoadStringBuffer(io, &bytes);
		if (!image || redis.IsIOError(io))
			return weir_fail(-EBADMSG, "the value ends within link %llu",
			                 (unsigned long long)i);
		int err = chain_append(c, items, image, bytes);
		redis.Free(image);
		if (err)
			return err;
	}
	return 0;
}

static void load_numbers(struct redis_io *io, const struct key_kind *kind, struct chain *out)
{
	struct chain_settings *s = &out->settings;
	s->error = redis.LoadDouble(io);
	s->capacity = redis.LoadUnsigned(io);
	s->expansion = redis.LoadUnsigned(io);
	s->seed = redis.LoadUnsigned(io);
	if (kind->cuckoo) {
		s->bucket = redis.LoadUnsigned(io);
		s->iterations = redis.LoadUnsigned(io);
		out->deleted = redis.LoadUnsigned(io);
		out->changes = redis.LoadUnsigned(io);
	}
}

static void *load(struct redis_io *io, const struct key_kind *kind, int version)
{
	struct chain *c = NULL, head = { .links = 0 };
	load_numbers(io, kind, &head);
	uint64_t links = redis.LoadUnsigned(io);
	int err = version || redis.IsIOError(io)
	                  ? weir_fail(-EBADMSG, "version %d is unknown, or the value ends early",
	                              version)
	                  : key_begin(&c, kind, &head);
	if (!err)
		err = load_links(io, c, links);
	if (!err)
		return c;
	redis.LogIOError(io, "warning", "a filter is refused: %s", weir_error_detail());
	chain_destroy(c);
	return NULL;
}

static void *load_bf(struct redis_io *io, int version)
{
	return load(io, &bf_keys, version);
}

static void *load_cf(struct redis_io *io, int version)
{
	return load(io, &cf_keys, version);
}

/* ---- other callbacks ---- */

static size_t usage(const void *value)
{
	return chain_bytes(value) + sizeof(struct chain);
}

static void release(void *value)
{
	chain_destroy(value);
}

/* Return: the size in MB; above 64 Redis frees the value in the background. */
static size_t effort(struct redis_string *key, const void *value)
{
	(void)key;
	return chain_bytes(value) >> 20;
}

static void *copy(struct redis_string *from, struct redis_string *to, const void *value)
{
	struct chain *c = NULL;
	(void)from;
	(void)to;
	return chain_copy(&c, value) ? NULL : c;
}

int key_types_create(struct redis_context *context)
{
	static struct redis_methods methods = { .version = 4, .rdb_load = load_bf, .rdb_save = save,
		.aof_rewrite = key_rewrite, .mem_usage = usage, .free = release,
		.free_effort = effort, .copy = copy };
	bf_keys.type = redis.CreateDataType(context, "weir-bf-1", 0, &methods);
	methods.rdb_load = load_cf; /* Redis has copied the methods */
	cf_keys.type = redis.CreateDataType(context, "weir-cf-1", 0, &methods);
	return bf_keys.type && cf_keys.type ? REDIS_OK : REDIS_ERR;
}
