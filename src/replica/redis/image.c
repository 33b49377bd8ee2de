/* SPDX-License-Identifier: MIT
 * The image of a manifest: got in pieces into a file without a name, checked, then loaded. What the
 * manifest declares takes no memory before it has arrived. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <hiredis/hiredis.h>
#include <weir/error.h>
#include <weir/filter.h>
#include <weir/image.h>
#include "../format/scripts.h"
#include "coming.h"
#include "redis.h"

static int put(int fd, const char *data, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, data, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return weir_fail(n < 0 ? -errno : -EIO, "no room in memory for an image");
		data += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

struct chunk {
	char name[WEIR_KEY_TEXT + WEIR_NUMBER_TEXT];
	uint64_t i, at;
	size_t bytes;
};

static int get_from_master(struct weir_redis *r, const struct weir_manifest *m,
                           const struct chunk *c, int fd)
{
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("GET"), weir__text(c->name) };
	int err = weir__redis_command(r, args, 2, &reply);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_NIL)
		err = weir_fail(-EAGAIN, "set %s: chunk %" PRIu64 " of generation %" PRIu64
		                " is not there (any more): publish another", r->keys.set, c->i,
		                m->generation);
	else if (reply->type != REDIS_REPLY_STRING)
		err = weir__redis_shape(r, "GET");
	else if (reply->len != c->bytes)
		err = weir_fail(-EBADMSG, "set %s: chunk %" PRIu64 " of generation %" PRIu64 " has "
		                "%zu bytes instead of %zu", r->keys.set, c->i, m->generation,
		                reply->len, c->bytes);
	else
		err = put(fd, reply->str, reply->len, c->at);
	freeReplyObject(reply);
	return err;
}

static void leave_replica(const struct weir_redis *r, struct weir_image_file *f, const char *why)
{
	f->master = true;
	(void)weir_fail(-EAGAIN, "set %s: images are read from the master: %.200s", r->keys.set,
	                why); /* escapes it */
	snprintf(f->away, sizeof f->away, "%s", weir_error_detail());
}

/* A replica may lag, so what it lacks is nothing to speak of.
 * Return: whether the chunk is here. */
static bool get_from_replica(struct weir_redis *r, const struct chunk *c, struct weir_image_file *f)
{
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("GET"), weir__text(c->name) };
	if (!r->read_wire || f->master)
		return false;
	int err = weir__wire_call(r->read_wire, args, 2, &reply);
	if (err) {
		leave_replica(r, f, weir_error_detail());
		return false;
	}
	bool here = reply->type == REDIS_REPLY_STRING && reply->len == c->bytes &&
	            put(f->fd, reply->str, reply->len, c->at) == 0;
	if (!here && reply->type != REDIS_REPLY_NIL)
		leave_replica(r, f, reply->type == REDIS_REPLY_ERROR ? reply->str :
		                    "a replica has another chunk than the manifest says");
	freeReplyObject(reply);
	f->mixed |= here;
	return here;
}

static int get_chunks(struct weir_redis *r, const struct weir_manifest *m,
                      struct weir_image_file *f)
{
	char names[WEIR_KEY_TEXT];
	weir__key_of_chunks(names, &r->keys, m->stored);
	for (; f->chunks < m->chunks; f->chunks++) {
		struct chunk c = { .i = f->chunks, .at = f->chunks * m->chunk_bytes };
		c.bytes = m->bytes - c.at < m->chunk_bytes ? m->bytes - c.at : m->chunk_bytes;
		snprintf(c.name, sizeof c.name, "%s%" PRIu64, names, c.i);
		int err = get_from_replica(r, &c, f) ? 0 : get_from_master(r, m, &c, f->fd);
		if (err)
			return err;
		atomic_store_explicit(&f->here, c.at + c.bytes, memory_order_relaxed);
	}
	return 0;
}

static int get_path(struct weir_redis *r, const struct weir_manifest *m, int fd)
{
	if (!r->http)
		return weir_fail(-ENOTSUP, "set %s: the image of generation %" PRIu64 " is got by "
		                 "HTTP, and no base URL is given here (image_url, "
		                 "--image-url)", r->keys.set, m->generation);
	if (ftruncate(fd, (off_t)m->bytes) != 0)
		return weir_fail(-errno, "no room for an image of %" PRIu64 " bytes", m->bytes);
	void *to = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (to == MAP_FAILED)
		return weir_fail(-errno, "no address space for an image of %" PRIu64 " bytes",
		                 m->bytes);
	int err = weir__fetch(r->http, m->path, to, m->bytes);
	munmap(to, m->bytes);
	return err;
}

static int check(const struct weir_redis *r, const struct weir_manifest *m, int fd)
{
	struct weir_bytes_sum sum;
	int err = weir__bytes_sum(&sum, fd, m->bytes, r->trust != NULL);
	if (err)
		return err;
	const uint64_t *is = sum.checksum, *said = m->checksum;
	if (is[0] != said[0] || is[1] != said[1])
		return weir_fail(-EBADMSG, "set %s: the image of generation %" PRIu64 " is "
		                 "damaged: its checksum is %016" PRIx64 "%016" PRIx64
		                 " instead of %016" PRIx64 "%016" PRIx64, r->keys.set,
		                 m->generation, is[0], is[1], said[0], said[1]);
	if (r->trust && memcmp(sum.hash, r->image_hash, sizeof sum.hash) != 0)
		return weir_fail(-EKEYREJECTED, "set %s: the image of generation %" PRIu64
		                 " is not the one that was signed", r->keys.set, m->generation);
	return 0;
}

/* Without the name that it has here. */
static const char *reason(void)
{
	static const char name[] = "file descriptor ";
	const char *why = weir_error_detail(), *after = strstr(why, ": ");
	return strncmp(why, name, sizeof name - 1) == 0 && after ? after + 2 : why;
}

static int load(const struct weir_redis *r, const struct weir_manifest *m, int fd,
                struct weir_filter **out)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.max_bytes = r->max_image_bytes;
	o.secret = r->secret;
	if (lseek(fd, 0, SEEK_SET) != 0)
		return weir_fail(-errno, "an image cannot be read again");
	struct weir_filter *f;
	int err = weir_load(&f, weir_location_fd(fd), &o);
	if (err)
		return weir_fail(err, "set %s: the image of generation %" PRIu64 ": %s",
		                 r->keys.set, m->generation, reason());
	struct weir_stats s = WEIR_STATS_INIT;
	err = weir_measure(f, WEIR_SAMPLED, &s);
	if (!err && s.shape.kind != m->kind)
		err = weir_fail(-EBADMSG, "set %s: the image of generation %" PRIu64 " is of "
		                "another kind than its manifest says", r->keys.set, m->generation);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

int weir__image_begin(const struct weir_redis *r, const struct weir_manifest *m,
                      struct weir_image_file *f)
{
	if (m->bytes > r->max_image_bytes)
		return weir_fail(-EFBIG, "set %s: the image of generation %" PRIu64 " has %" PRIu64
		                 " bytes, allowed are %" PRIu64, r->keys.set, m->generation,
		                 m->bytes, r->max_image_bytes);
	f->fd = memfd_create("weir-image", MFD_CLOEXEC);
	return f->fd < 0 ? weir_fail(-errno, "no file in memory for an image") : 0;
}

int weir__image_get(struct weir_redis *r, const struct weir_manifest *m, struct weir_image_file *f)
{
	return m->path[0] ? get_path(r, m, f->fd) : get_chunks(r, m, f);
}

bool weir__image_again(struct weir_image_file *f)
{
	bool mixed = f->mixed;
	f->mixed = false;
	f->master = true;
	if (mixed) {
		f->chunks = 0;
		atomic_store(&f->here, 0);
		snprintf(f->away, sizeof f->away, "images are read from the master: what a replica "
		         "gave is another image: %.150s", weir_error_detail());
	}
	return mixed;
}

int weir__image_load(const struct weir_redis *r, const struct weir_manifest *m,
                     const struct weir_image_file *f, struct weir_filter **out)
{
	int err = check(r, m, f->fd);
	return err ? err : load(r, m, f->fd, out);
}

void weir__image_end(struct weir_image_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
