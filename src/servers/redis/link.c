/* SPDX-License-Identifier: MIT
 * BF.WEIRLINK and CF.WEIRLINK, the commands in a rewritten append-only file. Each command has one
 * link as an image of weir with its checksums.
 *
 *     BF.WEIRLINK key error capacity expansion seed link items image
 *     CF.WEIRLINK key error capacity expansion seed link items bucket iterations deleted changes
 *                 image
 *
 * Link 0 makes the key. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "keys.h"

void *key_image(const struct weir_filter *f, size_t *bytes)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	void *image = MAP_FAILED;
	int fd = memfd_create("weir-redis", MFD_CLOEXEC);
	if (fd < 0) {
		(void)weir_fail(-errno, "no file in memory for an image");
		return NULL;
	}
	o.allow_uneven = true; /* save even an uneven filter, since it is in the keyspace already */
	const int64_t saved = weir_save(f, weir_location_fd(fd), &o);
	if (saved > 0) {
		*bytes = (size_t)saved;
		image = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image == MAP_FAILED)
			(void)weir_fail(-errno, "no address space for an image of %zu bytes",
			                *bytes);
	}
	close(fd);
	return image == MAP_FAILED ? NULL : image;
}

int key_begin(struct chain **out, const struct key_kind *kind, const struct chain *head)
{
	if (chain_is_cuckoo(head) != kind->cuckoo)
		return weir_fail(-EBADMSG, "a bucket size of %llu does not belong to this kind of "
		                 "key",
		                 (unsigned long long)head->settings.bucket);
	if (head->deleted >= CHAIN_NUMBERS || head->changes >= CHAIN_NUMBERS)
		return weir_fail(-EBADMSG, "%llu deletions or %llu changes are more than there "
		                 "can be", (unsigned long long)head->deleted,
		                 (unsigned long long)head->changes);
	int err = chain_begin(out, &head->settings, &key_memory);
	if (err)
		return err;
	(*out)->deleted = head->deleted;
	(*out)->changes = head->changes;
	return 0;
}

/* ---- rewrite ---- */

static void emit(struct redis_io *io, struct redis_string *key, const struct chain *c, size_t i,
                 const char *error, char *image, size_t bytes)
{
	const struct chain_settings *s = &c->settings;
	long long capacity = (long long)s->capacity, expansion = (long long)s->expansion,
	          seed = (long long)s->seed, items = (long long)c->link[i].items;
	if (chain_is_cuckoo(c))
		redis.EmitAOF(io, cf_keys.link, "sclllllllllb", key, error, capacity, expansion,
		              seed, (long long)i, items, (long long)s->bucket,
		              (long long)s->iterations, (long long)c->deleted,
		              (long long)c->changes, image, bytes);
	else
		redis.EmitAOF(io, bf_keys.link, "sclllllb", key, error, capacity, expansion, seed,
		              (long long)i, items, image, bytes);
}

void key_rewrite(struct redis_io *io, struct redis_string *key, void *value)
{
	const struct chain *c = value;
	char error[32];
	snprintf(error, sizeof error, "%.17g", c->settings.error);
	for (size_t i = 0; i < c->links; i++) {
		size_t bytes = 0;
		void *image = key_image(c->link[i].filter, &bytes);
		if (!image) {
			redis.LogIOError(io, "warning", "link %zu was not written: %s", i,
			                 weir_error_detail());
			return;
		}
		emit(io, key, c, i, error, image, bytes);
		munmap(image, bytes);
	}
}

/* ---- load ---- */

enum { CAPACITY, EXPANSION, SEED, LINK, ITEMS, BUCKET, ITERATIONS, DELETED, CHANGES, NUMBERS };
enum { FIRST = 3 }; /* index in argv; the numbers follow the key and the error rate */

static int numbers_of(const struct key_kind *kind)
{
	return kind->cuckoo ? NUMBERS : BUCKET;
}

static int load_link(const struct key_kind *kind, struct redis_key *key, struct chain *c,
                     struct redis_string **argv)
{
	struct chain head = { .links = 0 };
	uint64_t n[NUMBERS] = { 0 };
	size_t bytes;
	bool made = !c;
	bool bad = redis.StringToDouble(argv[2], &head.settings.error);
	for (int i = 0; i < numbers_of(kind); i++) {
		long long number = 0; /* a seed of 64 bits comes as a negative number */
		bad |= redis.StringToLongLong(argv[FIRST + i], &number) != REDIS_OK;
		n[i] = (uint64_t)number;
	}
	if (bad || n[LINK] != (c ? c->links : 0))
		return weir_fail(-EINVAL, "a number is bad, or the link is not the key's next");
	head.settings = (struct chain_settings){ head.settings.error, n[CAPACITY], n[EXPANSION],
		                                 n[SEED], n[BUCKET], n[ITERATIONS] };
	head.deleted = n[DELETED];
	head.changes = n[CHANGES];
	int err = made ? key_begin(&c, kind, &head) : 0;
	if (err)
		return err;
	const char *image = redis.StringPtrLen(argv[FIRST + numbers_of(kind)], &bytes);
	err = chain_append(c, n[ITEMS], image, bytes);
	if (!err && made)
		redis.ModuleTypeSetValue(key, kind->type, c);
	if (err && made)
		chain_destroy(c);
	return err;
}

static int link_command(struct redis_context *context, const struct key_kind *kind,
                        struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != FIRST + numbers_of(kind) + 1)
		return redis.WrongArity(context);
	if (!(redis.GetContextFlags(context) & (REDIS_LOADING | REDIS_REPLICATED)))
		return redis.ReplyWithError(context, "ERR this command is for append-only files");
	if (!key_open(context, kind, argv[1], REDIS_READ | REDIS_WRITE, &key, &c)) {
		if (load_link(kind, key, c, argv))
			redis.ReplyWithError(context, "ERR received bad data");
		else
			redis.ReplyWithSimpleString(context, "OK");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int bf_link(struct redis_context *context, struct redis_string **argv, int argc)
{
	return link_command(context, &bf_keys, argv, argc);
}

int cf_link(struct redis_context *context, struct redis_string **argv, int argc)
{
	return link_command(context, &cf_keys, argv, argc);
}
