/* SPDX-License-Identifier: MIT
 * The type of the keys: how Redis saves, loads, copies, measures and frees them. Each link is an
 * image of weir with its checksums; BF.WEIRLINK, which the append-only file has, carries one. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "bf.h"

struct redis_type *bf_type;

static void *get_memory(size_t bytes)
{
	return redis.TryAlloc(bytes);
}

static void put_memory(void *memory)
{
	redis.Free(memory);
}

const struct chain_memory bf_memory = { get_memory, put_memory };

/* ---- images ---- */

/* Return: the plain image, mapped, or NULL. */
static void *image_of(const struct weir_filter *f, size_t *bytes)
{
	struct stat s;
	void *image = MAP_FAILED;
	int fd = memfd_create("weir-redis", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!weir_save_fd(f, fd, NULL) && !fstat(fd, &s)) {
		*bytes = (size_t)s.st_size;
		image = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	return image == MAP_FAILED ? NULL : image;
}

static void save(struct redis_io *io, void *value)
{
	const struct chain *c = value;
	redis.SaveDouble(io, c->settings.error);
	redis.SaveUnsigned(io, c->settings.capacity);
	redis.SaveUnsigned(io, c->settings.expansion);
	redis.SaveUnsigned(io, c->settings.seed);
	redis.SaveUnsigned(io, c->links);
	for (size_t i = 0; i < c->links; i++) {
		size_t bytes = 0;
		void *image = image_of(c->link[i].filter, &bytes);
		/* An empty image is refused at load: no answer is false, and it is logged here. */
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

static void *load(struct redis_io *io, int version)
{
	struct chain *c = NULL;
	struct chain_settings s;
	s.error = redis.LoadDouble(io);
	s.capacity = redis.LoadUnsigned(io);
	s.expansion = redis.LoadUnsigned(io);
	s.seed = redis.LoadUnsigned(io);
	uint64_t links = redis.LoadUnsigned(io);
	int err = version || redis.IsIOError(io)
	                  ? weir_fail(-EBADMSG, "version %d is unknown, or the value ends early",
	                              version)
	                  : chain_begin(&c, &s, &bf_memory);
	if (!err)
		err = load_links(io, c, links);
	if (!err)
		return c;
	redis.LogIOError(io, "warning", "a filter is refused: %s", weir_error_detail());
	chain_destroy(c);
	return NULL;
}

/* ---- the append-only file ---- */

static void rewrite(struct redis_io *io, struct redis_string *key, void *value)
{
	const struct chain *c = value;
	char error[32];
	snprintf(error, sizeof error, "%.17g", c->settings.error);
	for (size_t i = 0; i < c->links; i++) {
		size_t bytes = 0;
		void *image = image_of(c->link[i].filter, &bytes);
		if (!image) {
			redis.LogIOError(io, "warning", "link %zu was not written: %s", i,
			                 weir_error_detail());
			return;
		}
		redis.EmitAOF(io, "BF.WEIRLINK", "sclllllb", key, error,
		              (long long)c->settings.capacity, (long long)c->settings.expansion,
		              (long long)c->settings.seed, (long long)i,
		              (long long)c->link[i].items, (char *)image, bytes);
		munmap(image, bytes);
	}
}

/* BF.WEIRLINK key error capacity expansion seed link items image: link 0 makes the key. */
static int take_link(struct redis_key *key, struct chain *c, struct redis_string **argv)
{
	struct chain_settings s;
	long long n[5] = { 0 };
	size_t bytes;
	bool made = !c;
	int bad = redis.StringToDouble(argv[2], &s.error);
	for (int i = 0; i < 5; i++)
		bad |= redis.StringToLongLong(argv[3 + i], &n[i]);
	s.capacity = (uint64_t)n[0];
	s.expansion = (uint64_t)n[1];
	s.seed = (uint64_t)n[2];
	if (bad || n[3] < 0 || (uint64_t)n[3] != (c ? c->links : 0))
		return weir_fail(-EINVAL, "a number is bad, or the link is not the key's next");
	int err = made ? chain_begin(&c, &s, &bf_memory) : 0;
	if (err)
		return err;
	const char *image = redis.StringPtrLen(argv[8], &bytes);
	err = chain_append(c, (uint64_t)n[4], image, bytes);
	if (!err && made)
		redis.ModuleTypeSetValue(key, bf_type, c);
	if (err && made)
		chain_destroy(c);
	return err;
}

int bf_link(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != 9)
		return redis.WrongArity(context);
	if (!(redis.GetContextFlags(context) & (REDIS_LOADING | REDIS_REPLICATED)))
		return redis.ReplyWithError(context, "ERR BF.WEIRLINK is for append-only files");
	if (!bf_open(context, argv[1], REDIS_READ | REDIS_WRITE, &key, &c)) {
		if (take_link(key, c, argv))
			redis.ReplyWithError(context, "ERR received bad data");
		else
			redis.ReplyWithSimpleString(context, "OK");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- the rest ---- */

static size_t usage(const void *value)
{
	return chain_bytes(value) + sizeof(struct chain);
}

static void release(void *value)
{
	chain_destroy(value);
}

/* Megabytes: from 64 on Redis frees it in the background. */
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

int bf_type_create(struct redis_context *context)
{
	static struct redis_methods methods = { .version = 4, .rdb_load = load, .rdb_save = save,
		.aof_rewrite = rewrite, .mem_usage = usage, .free = release,
		.free_effort = effort, .copy = copy };
	bf_type = redis.CreateDataType(context, "weir-bf-1", 0, &methods);
	return bf_type ? REDIS_OK : REDIS_ERR;
}
