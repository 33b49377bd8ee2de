/* SPDX-License-Identifier: MIT
 * Reads and checks the preface of an image: the head, its kind and the table of checksums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "hash/hash.h"
#include "image/delta.h"
#include "image/preface.h"
#include "normalise/normalise.h"

static void number(char text[24], uint64_t value, bool hex)
{
	snprintf(text, 24, hex ? "%016llx" : "%llu", (unsigned long long)value);
}

static int explain(const char *name, const struct weir_image_fault *fault)
{
	char found[24], wanted[24];
	number(found, fault->found, fault->hex);
	if (fault->rule)
		return weir__fail(fault->err, "%s: %s is %s; allowed: %s", name, fault->field,
		                  found, fault->rule);
	number(wanted, fault->wanted, fault->hex);
	return weir__fail(fault->err, "%s: %s is %s where %s should be", name, fault->field, found,
	                  wanted);
}

/* If the shape is not legal, the error message lists all its numbers by name. */
static int shape_check(const struct weir_preface *p, const char *name)
{
	if (weir__shape_legal(p->kind, &p->head.shape, p->head.nblocks))
		return 0;
	char numbers[512] = ""; /* enough for more than seven names and numbers */
	for (size_t i = 0, at = 0; i < WEIR_SHAPE_FIELDS && p->kind->fields[i]; i++) {
		snprintf(numbers + at, sizeof numbers - at, "%s%.40s is %u", i ? ", " : "",
		         p->kind->fields[i], p->head.shape.field[i]);
		at += strlen(numbers + at);
	}
	return weir__fail(-EBADMSG, "%s: %s: a shape that kind %s does not have", name,
	                  numbers, p->kind->name);
}

/* Check that the image has format 3 if and only if its kind is a compound. */
static int form_check(const struct weir_preface *p, const char *name)
{
	const bool compound = p->kind->suits;
	if (compound != (p->head.members != 0))
		return weir__fail(-EBADMSG, "%s: format is %u, and kind %s %s", name,
		                  weir__image_format(&p->head), p->kind->name,
		                  compound ? "has 3 alone" : "is not a compound");
	for (unsigned i = p->kind->own_words; i < WEIR_IMAGE_OWN; i++)
		if (p->head.own[i])
			return weir__fail(-EBADMSG, "%s: the compound's own word %u, at byte %u, "
			                  "is %llu: kind %s has %u of them", name, i, 192 + 8 * i,
			                  (unsigned long long)p->head.own[i], p->kind->name,
			                  p->kind->own_words);
	return 0;
}

/* A kind whose format other programs read has seed 0 and does not normalise keys. Every other kind
 * has a seed that is not 0, since 0 asks for a random seed when a filter is made. */
static int as_is_check(const struct weir_preface *p, const char *name)
{
	const struct weir_image_head *h = &p->head;
	const struct weir_kind *kind = p->kind;
	if (kind->as_is == (h->seed != 0))
		return weir__fail(-EBADMSG, "%s: seed is %llu where kind %s has %s", name,
		                  (unsigned long long)h->seed, kind->name,
		                  kind->as_is ? "0" : "1 or more");
	if (h->text.steps && !(weir__kind_can(kind) & WEIR_CAN_NORMALISE))
		return weir__fail(-EBADMSG, "%s: something is done to keys before they are hashed, "
		                  "which kind %s has not", name, kind->name);
	return 0;
}

static int kind_check(struct weir_preface *p, const struct weir_source *source)
{
	const struct weir_image_head *h = &p->head;
	const char *name = source->name;
	p->kind = weir__kind(h->shape.kind);
	if (!p->kind)
		return weir__fail(-ENOTSUP, "%s: kind is %u, which this library does not know",
		                  name, h->shape.kind);
	if (h->hash != p->kind->hash->id &&
	    (p->kind->as_is || h->hash != weir__siphash_2_4.id))
		return weir__fail(-EBADMSG, "%s: hash is %u where kind %s has %u", name,
		                  h->hash, p->kind->name, p->kind->hash->id);
	int err = as_is_check(p, name);
	if (err)
		return err;
	if (weir__once_check(weir__preface_flags(p), p->kind))
		return weir__fail(-EBADMSG, "%s: the word of marks at byte 136 has 8 (once), which "
		                  "kind %s has not", name, p->kind->name);
	return form_check(p, name);
}

/* Return: the name of the format that a compressor wrote, or NULL. */
static const char *compressor_of(const unsigned char *bytes, uint64_t got)
{
	static const struct {
		const char *name;
		unsigned char begin[4];
	} forms[] = {
		{ "gzip", { 0x1f, 0x8b, 0x08 } },
		{ "zstd", { 0x28, 0xb5, 0x2f, 0xfd } },
		{ "xz", { 0xfd, '7', 'z', 'X' } },
		{ "bzip2", { 'B', 'Z', 'h' } },
	};
	for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
		unsigned n = forms[i].begin[3] ? 4 : 3;
		if (got >= n && memcmp(bytes, forms[i].begin, n) == 0)
			return forms[i].name;
	}
	return NULL;
}

/* Refuse a file that does not begin like an image, and name its type if known. @got: bytes read. */
static int not_an_image(const char *name, const unsigned char *bytes, uint64_t got)
{
	static const unsigned char begin[8] = { 'W', 'E', 'I', 'R', 'I', 'M', 'G', '1' };
	unsigned at = 0;
	while (at < sizeof begin && at < got && bytes[at] == begin[at])
		at++;
	if (at == sizeof begin || at == got)
		return 0;
	if (got >= 8 && weir__is_delta(bytes))
		return weir__fail(-EBADMSG, "%s: a delta, not an image: make an image of it (weir "
		                  "apply)", name);
	const char *form = compressor_of(bytes, got);
	if (form)
		return weir__fail(-EBADMSG, "%s: not a weir image: it is in %s format: unpack it "
		                  "first", name, form);
	return weir__fail(-EBADMSG, "%s: not a weir image: byte %u is 0x%02x where 0x%02x should "
	                  "be (WEIRIMG1): check the path; weir build -o makes an image", name, at,
	                  bytes[at], begin[at]);
}

static int head_read(struct weir_preface *p, struct weir_source *source, uint64_t max_bytes)
{
	unsigned char bytes[WEIR_IMAGE_HEAD];
	struct weir_image_fault fault;
	const uint64_t from = source->at;
	int err = weir__source_read(source, bytes, sizeof bytes);
	if (!err || err == -EBADMSG) {
		int other = not_an_image(source->name, bytes, source->at - from);
		err = other ? other : err;
	}
	if (err)
		return err;
	source->identity.commit = weir__image_get64(bytes + WEIR_IMAGE_COMMIT);
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
	err = kind_check(p, source);
	if (!err && weir__image_check_numbers(bytes, &p->head, &fault))
		err = explain(source->name, &fault);
	return err ? err : shape_check(p, source->name);
}

static int table_read(struct weir_preface *p, struct weir_source *source)
{
	size_t bytes = weir__image_table(&p->head);
	p->table = malloc(bytes);
	if (!p->table)
		return weir__fail(-ENOMEM, "%s: no memory for %zu bytes of checksums", source->name,
		                  bytes);
	int err = weir__source_read(source, p->table, bytes);
	if (err)
		return err;
	uint64_t sum = weir__checksum(p->table, bytes);
	if (p->head.commit != WEIR_IMAGE_LIVE && sum != p->head.table_checksum)
		return weir__fail(-EBADMSG, "%s: the table of checksums sums to %016llx where "
		                  "%016llx should be", source->name, (unsigned long long)sum,
		                  (unsigned long long)p->head.table_checksum);
	return weir__source_zeros(source, weir__image_padding(&p->head));
}

int weir__preface_read(struct weir_preface *out, struct weir_source *source, uint64_t max_bytes,
                       bool live_too)
{
	struct weir_preface p = { 0 };
	int err = head_read(&p, source, max_bytes);
	if (!err && p.head.commit == WEIR_IMAGE_LIVE && !live_too)
		err = weir__fail(-EBUSY, "%s: marked live: inserted into by WEIR_MAP_LIVE and not "
		                 "sealed since: weir seal ends that", source->name);
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

int weir__preface_check_sum(const struct weir_preface *preface, uint32_t shard, uint64_t sum,
                            const char *name)
{
	uint64_t wanted = weir__image_get64(preface->table + 8 * (size_t)shard);
	if (sum == wanted)
		return 0;
	return weir__fail(-EBADMSG,
	                  "%s: the bits of shard %u sum to %016llx where %016llx should be", name,
	                  shard, (unsigned long long)sum, (unsigned long long)wanted);
}

int weir__preface_check(const struct weir_preface *preface, uint32_t shard, const void *bits,
                        const char *name)
{
	return weir__preface_check_sum(preface, shard, weir__checksum(bits, preface->shard_bytes),
	                               name);
}

int weir__preface_can(const struct weir_preface *p, const struct weir_filter *f, uint32_t can,
                      const char *name)
{
	const uint32_t lost = p->head.marks & WEIR_MARK_ONCE ?
		                      WEIR_CAN_REMOVE | WEIR_CAN_HOLD_COPIES : 0;
	const uint32_t has = f ? weir_can(f, WEIR_CAN_ALL) : weir__kind_can(p->kind) & ~lost;
	int err = weir__abilities_check(has, can, p->kind, "options.can");
	return err ? weir__fail(err, "%s: %s", name, weir_error_detail()) : 0;
}

const unsigned char weir__no_secret[WEIR_SIPHASH_KEY];

/* Choose how to hash the image's keys. A keyed image needs its secret key, since without the key
 * every lookup would answer no. A key for an image that is not keyed is refused. Otherwise an
 * attacker who can replace the file could make the server read a set that is not keyed. */
static int hashing_of(struct weir_hashing *out, const struct weir_image_head *head,
                      const struct weir_hash *by, const void *secret, const char *name)
{
	bool keyed = head->marks & WEIR_MARK_KEYED, bits_only = secret == weir__no_secret;
	*out = weir__hashing_seeded(keyed ? &weir__siphash_2_4 : by, head->seed);
	if (bits_only || (!keyed && !secret))
		return 0;
	if (!keyed)
		return weir__fail(-EKEYREJECTED, "%s: is not keyed, and a key was given: leave "
		                  "it out", name);
	if (!secret)
		return weir__fail(-EKEYREJECTED,
		                  "%s: is keyed: give the key that it was built with", name);
	struct weir_hashing given = weir__hashing_keyed(secret);
	if (!weir__same_hashing(&given, out))
		return weir__fail(-EKEYREJECTED, "%s: is keyed by another key than the one given",
		                  name);
	*out = given;
	return 0;
}

int weir__preface_layout(struct weir_layout *out, const struct weir_preface *p,
                         const void *secret, const char *name)
{
	*out = (struct weir_layout){
		.kind = p->kind,
		.shape = p->head.shape,
		.shards = p->head.shards,
		.lines = p->head.nblocks,
		.capacity = p->head.capacity,
		.max_capacity = p->kind->grow_ahead ? p->head.own[0] : 0,
		.text = p->head.text,
		.flags = weir__preface_flags(p)
	};
	memcpy(&out->fp_rate, &p->head.rate_bits, sizeof out->fp_rate);
	return hashing_of(&out->hashing, &p->head, p->kind->hash, secret, name);
}

void weir__head_of(const struct weir_filter *f, uint32_t compression, uint64_t generation,
                   uint32_t marks, struct weir_image_head *out)
{
	*out = (struct weir_image_head){
		.shape = f->array.shape,
		.hash = f->hashing.by->id,
		.shards = f->shards,
		.compression = compression,
		.nblocks = f->array.lines,
		.capacity = f->capacity,
		.seed = f->hashing.seed,
		.generation = generation,
		.marks = marks | (weir__keyed(&f->hashing) ? WEIR_MARK_KEYED : 0) |
		         (f->flags & WEIR_ONCE ? WEIR_MARK_ONCE : 0),
		.text = weir__text_now(&f->text)
	};
	memcpy(&out->rate_bits, &f->fp_rate, sizeof f->fp_rate);
}

void weir__head_commit(struct weir_image_head *head, const unsigned char *table,
                       unsigned char *bytes)
{
	head->table_checksum = weir__checksum(table, weir__image_table(head));
	weir__image_put(bytes, head);
	head->header_checksum = weir__checksum(bytes, WEIR_IMAGE_CHECKSUM);
	weir__image_put(bytes, head);
	head->commit = weir__checksum(bytes + WEIR_IMAGE_CHECKSUM,
	                              WEIR_IMAGE_COMMIT - WEIR_IMAGE_CHECKSUM);
	weir__image_put(bytes, head);
}

void weir__shard_copy(const struct weir_filter *f, uint32_t shard, uint64_t *out)
{
	uint64_t lines = f->array.lines / f->shards;
	f->kind->snapshot(f, shard * lines, lines, out);
}
