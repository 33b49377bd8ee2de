/* SPDX-License-Identifier: MIT
 * Saving. For a file each shard is copied, summed and written, and the head is written last. A
 * stream begins with the head, which needs every checksum. So for a stream the whole filter is
 * copied first, which takes as much memory as the filter. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apart.h"
#include "error.h"
#include "hash.h"
#include "image/preface.h"
#include "image/replace.h"
#include "image/zstd.h"
#include "options.h"
#include "progress.h"

struct job {
	const struct weir_filter *f;
	const struct weir_save_options *options;
	int fd;
	const char *name;
	struct weir_image_head head;
	uint64_t front_bytes;      /* before the bits */
	uint64_t table_end;        /* bytes of head and table */
	unsigned char *front;      /* the head and the table */
	uint64_t shard_bytes;      /* of bits, in a shard */
	uint64_t *shard;           /* a copy of one */
	struct weir_packer packer; /* if compressed */
};

static int save_options(struct weir_save_options *out, const struct weir_save_options *options)
{
	const uint32_t allowed = WEIR_MARK_OVERFULL_ALLOWED | WEIR_MARK_SHRINK_ALLOWED;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	int err = weir__options_copy(&o, sizeof o, options, "weir_save_options");
	if (!err && (o.zstd_level < 0 || o.zstd_level > 19))
		err = weir__fail(-EINVAL, "zstd_level %d: allowed: 0 to 19", o.zstd_level);
	if (!err && o.marks & ~allowed)
		err = weir__fail(-EINVAL, "marks 0x%x: 0x%x may be given", o.marks, allowed);
	if (!err && o.mode > 0777)
		err = weir__fail(-EINVAL, "mode 0%o: permissions from 0 to 0777", o.mode);
	*out = o;
	return err;
}

static int save_check(const struct weir_filter *f, struct weir_save_options *out,
                      const struct weir_save_options *options)
{
	return f->kind->snapshot ? save_options(out, options) :
	                           weir__kind_cannot(f->kind, "be saved");
}

static void job_end(struct job *job)
{
	free(job->front);
	free(job->shard);
	if (job->options->zstd_level)
		weir__packer_end(&job->packer);
}

static int job_begin(struct job *job, const struct weir_filter *f, int fd, const char *name,
                     const struct weir_save_options *options)
{
	*job = (struct job){
		.f = f,
		.options = options,
		.fd = fd,
		.name = name,
		.shard_bytes = f->bytes / f->shards
	};
	weir__head_of(f, options->zstd_level ? WEIR_IMAGE_ZSTD : WEIR_IMAGE_PLAIN,
	              options->generation, options->marks, &job->head);
	job->front_bytes = weir__image_bits_offset(&job->head);
	job->table_end = WEIR_IMAGE_HEAD + 8 * (uint64_t)f->shards;
	job->front = malloc(job->table_end);
	job->shard = malloc(job->shard_bytes);
	int err = 0;
	if (!job->front || !job->shard)
		err = weir__fail(-ENOMEM, "%s: no memory for %llu bytes to save through", name,
		                 (unsigned long long)(job->table_end + job->shard_bytes));
	if (!err && options->zstd_level)
		err = weir__packer_begin(&job->packer, job->shard_bytes, options->zstd_level, name);
	if (err)
		job_end(job);
	return err;
}

static void sum_shard(struct job *job, uint32_t shard, const void *bits)
{
	weir__image_put64(job->front + WEIR_IMAGE_HEAD + 8 * (size_t)shard,
	                  weir__checksum(bits, job->shard_bytes));
}

static int write_shard(struct job *job)
{
	uint64_t n = job->shard_bytes;
	int err = job->options->zstd_level ?
	          weir__pack(&job->packer, job->shard, job->shard_bytes, &n) : 0;
	return err ? err :
	       weir__write(job->fd, job->name,
	                   job->options->zstd_level ? (void *)job->packer.buffer :
	                                              (void *)job->shard, n, -1);
}

/* Write the shards one after another from the file's position on, and put their checksums into the
 * table. */
static int write_shards(struct job *job)
{
	int err = 0;
	for (uint32_t shard = 0; !err && shard < job->head.shards; shard++) {
		weir__shard_copy(job->f, shard, job->shard);
		sum_shard(job, shard, job->shard);
		err = write_shard(job);
		if (!err)
			err = weir__progress(job->options->progress, job->options->progress_arg,
			                     (shard + 1) * job->shard_bytes, job->f->bytes);
	}
	return err;
}

/* Reserve the space, so that a full disk fails now. Some file systems cannot reserve, and a sandbox
 * may refuse it: there a full disk fails while writing. */
static int reserve(struct job *job)
{
	int answer;
	if (job->options->zstd_level)
		return 0;
	do
		answer = fallocate(job->fd, 0, 0, (off_t)weir__image_length(&job->head));
	while (answer && errno == EINTR);
	if (answer == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL ||
	    errno == EPERM)
		return 0;
	return weir__fail(-errno, "%s: cannot reserve %llu bytes: %s", job->name,
	                  (unsigned long long)weir__image_length(&job->head), weir_strerror(errno));
}

static int save_file(struct job *job)
{
	int err = reserve(job);
	if (!err && lseek(job->fd, (off_t)job->front_bytes, SEEK_SET) < 0)
		err = weir__fail(-errno, "%s: cannot go to byte %llu: %s", job->name,
		                 (unsigned long long)job->front_bytes, weir_strerror(errno));
	weir__hold(job->f);
	if (!err)
		err = write_shards(job);
	weir__let_go(job->f);
	weir__head_commit(&job->head, job->front + WEIR_IMAGE_HEAD, job->front);
	return err ? err : weir__write(job->fd, job->name, job->front, job->table_end, 0);
}

/* @named: as for weir__replace_begin(). */
static int save_as(const struct weir_filter *f, const char *path,
                   const struct weir_save_options *options, bool named)
{
	struct weir_replace r;
	struct job job;
	int err = weir__replace_begin(&r, path, options->mode, named);
	if (err)
		return err;
	err = job_begin(&job, f, r.new.fd, path, options);
	if (!err) {
		err = save_file(&job);
		job_end(&job);
	}
	if (!err)
		err = weir__replace_publish(&r);
	weir__replace_end(&r);
	return err;
}

int weir_save(const struct weir_filter *f, const char *path,
              const struct weir_save_options *options)
{
	struct weir_save_options o;
	if (!path)
		return weir__fail(-EINVAL, "path is NULL: the file to save to");
	int err = save_check(f, &o, options);
	if (err)
		return err;
	weir__whole_begin(f, "weir_save");
	err = save_as(f, path, &o, false);
	if (err == WEIR_REPLACE_NAMED)
		err = save_as(f, path, &o, true);
	weir__whole_end(f);
	return err;
}

static int save_stream(struct job *job)
{
	static const unsigned char zeros[4096];
	for (uint32_t shard = 0; shard < job->head.shards; shard++)
		sum_shard(job, shard,
		          (const unsigned char *)job->f->array.words + shard * job->shard_bytes);
	weir__head_commit(&job->head, job->front + WEIR_IMAGE_HEAD, job->front);
	int err = weir__write(job->fd, job->name, job->front, job->table_end, -1);
	for (uint64_t left = job->front_bytes - job->table_end; !err && left;) {
		uint64_t n = left < sizeof zeros ? left : sizeof zeros;
		err = weir__write(job->fd, job->name, zeros, n, -1);
		left -= n;
	}
	return err ? err : write_shards(job);
}

int weir_save_fd(const struct weir_filter *f, int fd, const struct weir_save_options *options)
{
	char name[32];
	struct weir_save_options o;
	struct weir_filter *still;
	struct job job;
	int err = save_check(f, &o, options);
	if (!err && fcntl(fd, F_GETFD) < 0)
		err = weir__fail(-errno, "file descriptor %d: is not open", fd);
	if (!err)
		err = weir_clone(&still, f);
	if (err)
		return err;
	snprintf(name, sizeof name, "file descriptor %d", fd);
	err = job_begin(&job, still, fd, name, &o);
	if (!err) {
		err = save_stream(&job);
		job_end(&job);
	}
	weir_destroy(still);
	return err;
}
