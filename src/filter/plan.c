/* SPDX-License-Identifier: MIT
 * The planner: checks for every kind, then the kind's own plan. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/sizing.h"

/* ---- checks ---- */

static int check_kind(uint32_t id)
{
#define KNOWN(number, constant, name, summary) " " #number " (" #name ")"
	if (!weir__kind(id))
		return weir__fail(-ENOTSUP, "kind %u: this library has" WEIR_KINDS(KNOWN), id);
#undef KNOWN
	return 0;
}

int weir__flags_check(uint32_t flags)
{
	const uint32_t known = WEIR_HUGETLB | WEIR_NO_HUGE_PAGES | WEIR_PREFAULT | WEIR_ONCE;
	if (flags & ~known)
		return weir__fail(-EINVAL, "flags 0x%x: 0x%x is unknown, all known flags are 0x%x",
		                  flags, flags & ~known, known);
	if (flags & WEIR_HUGETLB && flags & WEIR_NO_HUGE_PAGES)
		return weir__fail(-EINVAL, "flags 0x%x: WEIR_HUGETLB and WEIR_NO_HUGE_PAGES "
		                  "exclude each other", flags);
	return 0;
}

static int check_hash_bits(const struct weir_params *p)
{
	if (!p->hash_bits || (p->hash_bits >= 8 && p->hash_bits <= 64))
		return 0;
	return weir__refused(
		weir__fail(-EINVAL, "hash_bits %u: 8 to 64, or 0 for 64", p->hash_bits),
		WEIR_ERROR_RANGE, "hash_bits", p->hash_bits, 8, 64, 0);
}

static int check_ranges(const struct weir_params *p)
{
	if (p->capacity > WEIR__MOST_KEYS)
		return weir__refused(
			weir__fail(-EINVAL, "capacity %" PRIu64 ": allowed: 1 to 2^48 keys",
			           p->capacity),
			WEIR_ERROR_RANGE, "capacity", (double)p->capacity, 1,
			(double)WEIR__MOST_KEYS, 0);
	if (p->fp_rate != 0 && !(p->fp_rate >= 1e-9 && p->fp_rate <= WEIR__MOST_RATE))
		return weir__refused(
			weir__fail(-EINVAL, "fp_rate %.10g: allowed: 1e-9 to 0.5", p->fp_rate),
			WEIR_ERROR_RANGE, "fp_rate", p->fp_rate, 1e-9, WEIR__MOST_RATE, 0);
	if (p->max_bytes != 0 && (p->max_bytes < 64 || p->max_bytes > WEIR__MOST_BYTES))
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64 ": allowed: 64 to 2^46",
			           p->max_bytes),
			WEIR_ERROR_RANGE, "max_bytes", (double)p->max_bytes, 64,
			(double)WEIR__MOST_BYTES, 0);
	if ((p->capacity != 0) + (p->fp_rate != 0) + (p->max_bytes != 0) < 2)
		return weir__refused(
			weir__fail(-EINVAL, "capacity %" PRIu64 ", fp_rate %g, max_bytes %" PRIu64
			           ": give two of the three (0 means not given)", p->capacity,
			           p->fp_rate, p->max_bytes),
			WEIR_ERROR_TWO_OF_THREE, "capacity", (double)p->capacity, p->fp_rate,
			(double)p->max_bytes, 0);
	if (p->fp_rate != 0 && p->fp_rate < 2 * (double)p->capacity / WEIR__HASHES)
		return weir__refused(
			weir__fail(-EINVAL, "fp_rate %g: at a capacity of %" PRIu64
			           " at least %g, since the hashes have 64 bits", p->fp_rate,
			           p->capacity, 2 * (double)p->capacity / WEIR__HASHES),
			WEIR_ERROR_RATE_LEAST, "fp_rate", p->fp_rate, (double)p->capacity,
			2 * (double)p->capacity / WEIR__HASHES, 64);
	return 0;
}

static int check_hashing(const struct weir_params *p)
{
	const struct weir_kind *kind = weir__kind(p->kind);
	if (kind->as_is && p->secret)
		return weir__refused(
			weir__fail(-EINVAL,
			           "secret: kind %s cannot be keyed: others who read the "
			           "filter hash by %s", kind->name, kind->hash->name),
			WEIR_ERROR_KIND_LACKS, "secret", 0, p->kind, 0, 0);
	if (kind->as_is && p->seed)
		return weir__refused(
			weir__fail(-EINVAL, "seed %" PRIu64 ": kind %s has none: others who read "
			           "the filter hash by %s with seed 0", p->seed, kind->name,
			           kind->hash->name),
			WEIR_ERROR_KIND_LACKS, "seed", (double)p->seed, p->kind, 0, 0);
	return 0;
}

static int check_shards(const struct weir_params *p)
{
	if (p->shards & (p->shards - 1) || p->shards > WEIR__MOST_SHARDS)
		return weir__refused(
			weir__fail(-EINVAL,
			           "shards %u: a power of two up to %u, or 0 to have it chosen",
			           p->shards, WEIR__MOST_SHARDS),
			WEIR_ERROR_RANGE, "shards", p->shards, 1, WEIR__MOST_SHARDS, 0);
	return p->max_bytes ? weir__shards_fit(p->shards, p->max_bytes) : 0;
}

static int check_text(const struct weir_text *t, const struct weir_kind *kind)
{
	char steps[WEIR__TEXT_WORDS];
	const char *wrong = weir__text_wrong(t);
	if (wrong)
		return weir__fail(-EINVAL, "params.text %s (steps 0x%x)", wrong, t->steps);
	if (t->steps && !(weir__kind_can(kind) & WEIR_CAN_NORMALISE))
		return weir__fail(-EINVAL, "params.text.steps %s: kind %s takes keys as they are",
		                  weir__text_words(t, steps), kind->name);
	return 0;
}

int weir__params_copy(const struct weir_params *in, struct weir_params *out)
{
	int err = weir__size_check(in, sizeof *in, "weir_params");
	if (err)
		return err;
	memset(out, 0, sizeof *out);
	memcpy(out, in, in->struct_size);
	out->struct_size = sizeof *out;
	return 0;
}

static int check_all_but_memory(const struct weir_params *in, struct weir_params *out)
{
	int err = weir__params_copy(in, out);
	if (!err)
		err = check_kind(out->kind);
	if (!err)
		err = weir__flags_check(out->flags);
	if (!err)
		err = weir__once_check(out->flags, weir__kind(out->kind));
	if (!err)
		err = check_text(&out->text, weir__kind(out->kind));
	if (!err)
		err = weir__groups_check(out);
	if (!err && weir__kind(out->kind)->settle)
		err = weir__kind(out->kind)->settle(out);
	if (!err)
		err = check_ranges(out);
	if (!err)
		err = check_hash_bits(out);
	return err ? err : check_shards(out);
}

/* ---- hashes with fewer bits ---- */

/* Return: the rate that equal hashes of different keys add to a filter with @plan. */
static double floor_of(const struct weir_plan *plan, uint32_t bits)
{
	return bits ? ldexp(plan->fp_rate_floor, 64 - (int)bits) : plan->fp_rate_floor;
}

static int no_rate_left(const struct weir_params *p, double least)
{
	return weir__refused(
		weir__fail(-EINVAL, "fp_rate %g: with %" PRIu64 " keys hashes of %u bits alone "
		           "have a rate of %.3g: give keys to weir_insert() or weir_insert_u64(), "
		           "which hash them to 64 bits", p->fp_rate, p->capacity, p->hash_bits,
		           least),
		WEIR_ERROR_RATE_LEAST, "fp_rate", p->fp_rate, (double)p->capacity, least,
		p->hash_bits);
}

/* Return: true if a filter of max_bytes with @keys keys stays within the rate, including the rate
 * that equal hashes add. */
static bool within_rate(const struct weir_params *p, uint64_t keys)
{
	struct weir_params both = *p;
	struct weir_plan plan = WEIR_PLAN_INIT;
	plan.shape.kind = p->kind;
	both.capacity = keys;
	both.fp_rate = 0;
	return !weir__kind(p->kind)->plan(&both, &plan) &&
	       plan.fp_rate + floor_of(&plan, p->hash_bits) <= p->fp_rate;
}

/* Replace the rate by a capacity: the largest number of keys, at most @most, with which a filter of
 * max_bytes stays within the rate. */
static int most_keys(struct weir_params *p, uint64_t most)
{
	uint64_t fit = 0;
	for (uint64_t over = most + 1; over - fit > 1;) {
		const uint64_t middle = fit + (over - fit) / 2;
		if (within_rate(p, middle))
			fit = middle;
		else
			over = middle;
	}
	p->capacity = fit ? fit : 1;
	if (!fit)
		return no_rate_left(p, floor_of(&(struct weir_plan){ .fp_rate_floor = 1 /
		                                WEIR__HASHES }, p->hash_bits));
	p->fp_rate = 0;
	return 0;
}

int weir__params_settle(struct weir_params *p)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (p->hash_bits == 64)
		p->hash_bits = 0;
	if (!p->hash_bits)
		return 0;
	plan.shape.kind = p->kind;
	int err = p->fp_rate > 0 ? weir__kind(p->kind)->plan(p, &plan) : 0;
	if (!err && p->fp_rate > 0 && !p->capacity)
		err = most_keys(p, plan.capacity);
	else if (!err && p->fp_rate > 0 && p->fp_rate - floor_of(&plan, p->hash_bits) < 1e-9)
		err = no_rate_left(p, floor_of(&plan, p->hash_bits));
	else if (!err && p->fp_rate > 0)
		p->fp_rate -= floor_of(&plan, p->hash_bits);
	p->hash_bits = 0;
	return err;
}

/* ---- the plan ---- */

static int check_open(const struct weir_params *in, struct weir_params *out)
{
	int err = check_all_but_memory(in, out);
	if (!err)
		err = check_hashing(out);
	return err ? err : weir__memory_given(out->memory, out->memory_bytes);
}

int weir__params_check(const struct weir_params *in, struct weir_params *out)
{
	int err = check_open(in, out);
	return err ? err : weir__params_settle(out);
}

int weir__params_check_open(const struct weir_params *in, struct weir_params *out)
{
	struct weir_params given;
	int err = weir__params_copy(in, &given);
	if (err)
		return err;
	const bool open = !given.capacity;
	if (open && given.fp_rate == 0.0 && !given.max_bytes)
		return weir__refused(
			weir__fail(-EINVAL,
			           "fp_rate 0, max_bytes 0: give one of the two (capacity "
			           "0 is as many keys as come)"),
			WEIR_ERROR_TWO_OF_THREE, "fp_rate", 0, 0, 0, 0);
	given.capacity = open ? 1 : given.capacity;
	err = check_open(&given, out);
	if (!err && open)
		out->capacity = 0;
	return err || open ? err : weir__params_settle(out);
}

int weir_plan_make(const struct weir_params *params, struct weir_plan *out)
{
	struct weir_params p;
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir__size_check(out, sizeof *out, "weir_plan");
	if (!err)
		err = check_all_but_memory(params, &p);
	const uint32_t hash_bits = err ? 0 : p.hash_bits;
	if (!err)
		err = weir__params_settle(&p);
	plan.shape.kind = err ? 0 : p.kind;
	if (!err)
		err = weir__kind(p.kind)->plan(&p, &plan);
	if (err)
		return err;
	const double least = floor_of(&plan, hash_bits);
	plan.fp_rate += least - plan.fp_rate_floor;
	plan.fp_rate_floor = least;
	if (hash_bits && plan.fp_rate > WEIR__MOST_RATE * (1 + 1e-6))
		return weir__refused(
			weir__fail(-EINVAL, "hash_bits %u: with %" PRIu64 " keys the rate would be "
			           "%.3g, %g is the most", hash_bits, plan.capacity, plan.fp_rate,
			           WEIR__MOST_RATE),
			WEIR_ERROR_RATE_MOST, "hash_bits", hash_bits, (double)plan.capacity,
			plan.fp_rate, WEIR__MOST_RATE);
	if (!plan.growing.max_capacity) { /* a kind that does not grow */
		plan.growing.max_capacity = plan.capacity;
		plan.growing.full_bytes = plan.bytes;
		plan.growing.full_bits_per_key = plan.growing.worst_bits_per_key =
			plan.growing.late_bits_per_key = plan.bits_per_key;
	}
	plan.lookups = weir_text_most(&p.text);
	plan.struct_size = out->struct_size;
	memcpy(out, &plan, out->struct_size);
	return 0;
}

int weir_params_shape(struct weir_params *params, const struct weir_shape *shape)
{
	struct weir_params p;
	if (!shape)
		return weir__fail(-EINVAL, "shape is NULL: weir_params_shape needs one to ask for");
	const struct weir_kind *kind = weir__kind(shape->kind);
	int err = kind ? weir__params_copy(params, &p) : check_kind(shape->kind);
	if (!err && !weir__shape_legal(kind, shape, UINT64_MAX))
		err = weir__fail(-EINVAL, "shape: kind %s has no such shape", kind->name);
	if (err)
		return err;
	weir__groups_ask(&p, shape);
	err = weir__groups_fit(&p, params->struct_size);
	if (err)
		return err;
	p.struct_size = params->struct_size;
	memcpy(params, &p, p.struct_size);
	return 0;
}
