/* SPDX-License-Identifier: MIT
 * What comes before the bits: the checked head, the kind it names, the table of checksums. */
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "hash.h"
#include "image/io.h"

static int explain(const char *name, const struct weir_image_fault *fault)
{
	if (fault->rule)
		return weir__fail(fault->err, "%s: %s is %llu; allowed: %s", name, fault->field,
		                  (unsigned long long)fault->found, fault->rule);
	return weir__fail(fault->err, "%s: %s is %llu where %llu should be", name, fault->field,
	                  (unsigned long long)fault->found, (unsigned long long)fault->wanted);
}

static int kind_check(struct weir_preface *p, const char *name)
{
	p->kind = weir__kind(p->head.kind);
	if (!p->kind || !p->kind->layout_legal)
		return weir__fail(-ENOTSUP, "%s: kind is %u, which this library does not know",
		                  name, p->head.kind);
	if (!p->kind->layout_legal(p->head.words_per_key, p->head.bits_per_word))
		return weir__fail(-EBADMSG,
		                  "%s: words_per_key is %u and bits_per_word %u, a layout that "
		                  "kind %s does not have",
		                  name, p->head.words_per_key, p->head.bits_per_word,
		                  p->kind->name);
	return 0;
}

static int head_read(struct weir_preface *p, struct weir_source *source, uint64_t max_bytes)
{
	unsigned char bytes[WEIR_IMAGE_HEAD];
	struct weir_image_fault fault;
	int err = weir__source_read(source, bytes, sizeof bytes);
	if (err)
		return err;
	struct weir_image_given given = {
		.length = source->length,
		.exact = source->exact,
		.max_bytes = max_bytes,
		.header_checksum = weir__checksum(bytes, WEIR_IMAGE_CHECKSUM),
		.commit = weir__checksum(bytes + WEIR_IMAGE_CHECKSUM,
		                         WEIR_IMAGE_COMMIT - WEIR_IMAGE_CHECKSUM)
	};
	if (weir__image_check(bytes, &given, &p->head, &fault))
		return explain(source->name, &fault);
	return kind_check(p, source->name);
}

static int table_read(struct weir_preface *p, struct weir_source *source)
{
	size_t bytes = 8 * (size_t)p->head.shards;
	p->table = malloc(bytes);
	if (!p->table)
		return weir__fail(-ENOMEM, "%s: no memory for %zu bytes of checksums", source->name,
		                  bytes);
	int err = weir__source_read(source, p->table, bytes);
	if (err)
		return err;
	uint64_t sum = weir__checksum(p->table, bytes);
	if (p->head.commit != WEIR_IMAGE_LIVE && sum != p->head.table_checksum)
		return weir__fail(
			-EBADMSG,
			"%s: the table of checksums sums to %016llx where %016llx should be",
			source->name, (unsigned long long)sum,
			(unsigned long long)p->head.table_checksum);
	return weir__source_zeros(source, weir__image_padding(&p->head));
}

int weir__preface_read(struct weir_preface *out, struct weir_source *source, uint64_t max_bytes,
                       bool live_too)
{
	struct weir_preface p = { 0 };
	int err = head_read(&p, source, max_bytes);
	if (!err && p.head.commit == WEIR_IMAGE_LIVE && !live_too)
		err = weir__fail(
			-EBUSY,
			"%s: marked live: inserted into by WEIR_MAP_LIVE and not sealed since",
			source->name);
	if (!err)
		err = table_read(&p, source);
	if (err) {
		free(p.table);
		return err;
	}
	p.shard_bytes = 64 * p.head.nblocks / p.head.shards;
	*out = p;
	return 0;
}

void weir__preface_free(struct weir_preface *preface)
{
	free(preface->table);
}

int weir__preface_check(const struct weir_preface *preface, uint32_t shard, const void *bits,
                        const char *name)
{
	uint64_t sum = weir__checksum(bits, preface->shard_bytes),
	         wanted = weir__image_get64(preface->table + 8 * (size_t)shard);
	if (sum == wanted)
		return 0;
	return weir__fail(-EBADMSG,
	                  "%s: the bits of shard %u sum to %016llx where %016llx should be", name,
	                  shard, (unsigned long long)sum, (unsigned long long)wanted);
}

void weir__head_layout(const struct weir_image_head *head, struct weir_plan *out)
{
	double rate;
	memcpy(&rate, &head->rate_bits, sizeof rate);
	*out = (struct weir_plan){ .struct_size = sizeof *out,
	                           .kind = head->kind,
	                           .words_per_key = head->words_per_key,
	                           .bits_per_word = head->bits_per_word,
	                           .shards = head->shards,
	                           .bytes = 64 * head->nblocks,
	                           .capacity = head->capacity,
	                           .fp_rate = rate };
}

void weir__head_of(const struct weir_filter *f, uint32_t compression, uint64_t generation,
                   struct weir_image_head *out)
{
	*out = (struct weir_image_head){ .kind = f->kind->id,
	                                 .words_per_key = f->view.words_per_key,
	                                 .bits_per_word = f->view.bits_per_word,
	                                 .shards = f->shards,
	                                 .compression = compression,
	                                 .nblocks = f->view.nblocks,
	                                 .capacity = f->capacity,
	                                 .seed = f->view.seed,
	                                 .generation = generation };
	memcpy(&out->rate_bits, &f->fp_rate, sizeof f->fp_rate);
}

void weir__head_commit(struct weir_image_head *head, const unsigned char *table,
                       unsigned char *bytes)
{
	head->table_checksum = weir__checksum(table, 8 * (size_t)head->shards);
	weir__image_put(bytes, head);
	head->header_checksum = weir__checksum(bytes, WEIR_IMAGE_CHECKSUM);
	weir__image_put(bytes, head);
	head->commit = weir__checksum(bytes + WEIR_IMAGE_CHECKSUM,
	                              WEIR_IMAGE_COMMIT - WEIR_IMAGE_CHECKSUM);
	weir__image_put(bytes, head);
}

void weir__shard_copy(const struct weir_filter *f, uint32_t shard, uint64_t *out)
{
	uint64_t words = 8 * f->view.nblocks / f->shards;
	const uint64_t *from = f->view.words + shard * words;
	for (uint64_t i = 0; i < words; i++)
		out[i] = WEIR__LE64(weir__word_load_relaxed(from + i));
}

int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total)
{
	if (!progress || progress(arg, done, total) == 0)
		return 0;
	return weir__fail(-ECANCELED,
	                  "stopped by the caller's progress function after %llu of %llu bytes",
	                  (unsigned long long)done, (unsigned long long)total);
}
