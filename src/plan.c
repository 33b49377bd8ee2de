/* SPDX-License-Identifier: MIT
 * The sizing calculator: what every kind's parameters must satisfy, and capacity, rate or bytes
 * from the other two. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "error.h"
#include "kind.h"
#include "options.h"
#include "plan.h"
#include "sizing.h"

static const uint64_t most_keys = UINT64_C(1) << 48, most_bytes = UINT64_C(1) << 46;
static const double least_rate = 1e-9, most_rate = 0.5;
/* 2^64: two keys of one hash cannot be told apart */
static const double hashes = 18446744073709551616.0;

/* ---- checks ---- */

static int check_kind(uint32_t id)
{
	char known[256] = "";
	if (weir__kind(id))
		return 0;
	for (uint32_t i = 0, at = 0; i < 32 && at < sizeof known - 32; i++)
		if (weir__kind(i))
			at += (uint32_t)snprintf(known + at, sizeof known - at, " %u (%.16s)", i,
			                         weir__kind(i)->name);
	return weir__fail(-ENOTSUP, "kind %u: this library has%s", id, known);
}

int weir__flags_check(uint32_t flags)
{
	const uint32_t known = WEIR_HUGETLB | WEIR_NO_HUGE_PAGES | WEIR_PREFAULT;
	if (flags & ~known)
		return weir__fail(-EINVAL, "flags 0x%x: 0x%x is unknown, all known flags are 0x%x",
		                  flags, flags & ~known, known);
	if (flags & WEIR_HUGETLB && flags & WEIR_NO_HUGE_PAGES)
		return weir__fail(
			-EINVAL,
			"flags 0x%x: WEIR_HUGETLB and WEIR_NO_HUGE_PAGES exclude each other",
			flags);
	return 0;
}

static int check_ranges(const struct weir_params *p)
{
	if (p->capacity > most_keys)
		return weir__fail(-EINVAL, "capacity %" PRIu64 ": 1 to 2^48 keys", p->capacity);
	if (p->fp_rate != 0 && !(p->fp_rate >= least_rate && p->fp_rate <= most_rate))
		return weir__fail(-EINVAL, "fp_rate %.10g: 1e-9 to 0.5", p->fp_rate);
	if (p->max_bytes != 0 && (p->max_bytes < 64 || p->max_bytes > most_bytes))
		return weir__fail(-EINVAL, "max_bytes %" PRIu64 ": 64 to 2^46", p->max_bytes);
	if ((p->capacity != 0) + (p->fp_rate != 0) + (p->max_bytes != 0) < 2)
		return weir__fail(-EINVAL,
		                  "capacity %" PRIu64 ", fp_rate %g, max_bytes %" PRIu64
		                  ": give two of the three (0 means not given)",
		                  p->capacity, p->fp_rate, p->max_bytes);
	if (p->fp_rate != 0 && p->fp_rate < 2 * (double)p->capacity / hashes)
		return weir__fail(-EINVAL,
		                  "fp_rate %g: at a capacity of %" PRIu64
		                  " at least %g, since keys are told apart by 64-bit hashes",
		                  p->fp_rate, p->capacity, 2 * (double)p->capacity / hashes);
	return 0;
}

/* The parameters as this library knows them: what an older header's shorter struct lacks is not
 * given. */
static int copy_params(const struct weir_params *in, struct weir_params *out)
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
	int err = copy_params(in, out);
	if (!err)
		err = check_kind(out->kind);
	if (!err)
		err = weir__flags_check(out->flags);
	return err ? err : check_ranges(out);
}

int weir__params_check(const struct weir_params *in, struct weir_params *out)
{
	int err = check_all_but_memory(in, out);
	return err ? err : weir__memory_given(out->memory, out->memory_bytes);
}

/* ---- the third from two ---- */

struct weir_wanted weir__plan_wanted(const struct weir_params *p)
{
	uint32_t shards;
	struct weir_wanted wanted = { 0, 0 };
	if (p->fp_rate > 0)
		wanted.fp_rate = p->fp_rate - (double)p->capacity / hashes;
	else
		wanted.bits_per_key = 512.0 * (double)weir__lines_within(p->max_bytes, &shards) /
		                      (double)p->capacity;
	return wanted;
}

static int bytes_from_rate(const struct weir_params *p, double bits_per_key, struct weir_plan *out)
{
	double bits = bits_per_key * (double)p->capacity;
	uint64_t limit = p->max_bytes ? p->max_bytes : most_bytes,
	         lines = weir__lines_within(limit, &out->shards);
	uint32_t shards;
	uint64_t enough = weir__lines(bits, &shards);
	if (512.0 * (double)lines < bits)
		return weir__fail(-EFBIG,
		                  "capacity %" PRIu64 " at fp_rate %g needs %" PRIu64
		                  " bytes: max_bytes is %" PRIu64,
		                  p->capacity, p->fp_rate, 64 * enough, limit);
	if (enough < lines) {
		lines = enough;
		out->shards = shards;
	}
	out->capacity = p->capacity;
	out->bytes = 64 * lines;
	return 0;
}

/* The rate is the layout's plus the floor, and the floor depends on the capacity: half of the
 * rate is left to it at most. */
static int capacity_from_bytes(const struct weir_params *p, const struct weir_formula *formula,
                               struct weir_plan *out)
{
	double bits = 512.0 * (double)weir__lines_within(p->max_bytes, &out->shards);
	double first = bits / formula->bits(p->fp_rate, out->words_per_key, out->bits_per_word);
	double floor_rate = fmin(first / hashes, p->fp_rate / 2);
	double keys = bits / formula->bits(p->fp_rate - floor_rate, out->words_per_key,
	                                   out->bits_per_word);
	keys = fmin(fmin(keys, floor_rate * hashes), (double)most_keys);
	if (keys < 1)
		return weir__fail(-EINVAL,
		                  "max_bytes %" PRIu64 ": too small for one key at fp_rate %g",
		                  p->max_bytes, p->fp_rate);
	out->capacity = (uint64_t)keys;
	out->bytes = (uint64_t)bits / 8;
	return 0;
}

static uint64_t classic_bytes(double fp_rate, double floor_rate, uint64_t capacity)
{
	double bits;
	uint32_t shards;
	weir__classic_best_k(fmax(fp_rate - floor_rate, fp_rate / 2), &bits);
	return 64 * weir__lines(bits * (double)capacity, &shards);
}

int weir__plan_complete(const struct weir_params *p, const struct weir_formula *formula,
                        struct weir_plan *out)
{
	unsigned z = out->words_per_key, g = out->bits_per_word;
	int err = 0;
	if (p->capacity && p->fp_rate > 0) {
		err = bytes_from_rate(p, formula->bits(weir__plan_wanted(p).fp_rate, z, g), out);
	} else if (p->capacity) {
		out->capacity = p->capacity;
		out->bytes = 64 * weir__lines_within(p->max_bytes, &out->shards);
	} else {
		err = capacity_from_bytes(p, formula, out);
	}
	if (err)
		return err;
	out->bits_per_key = 8 * (double)out->bytes / (double)out->capacity;
	out->fp_rate_floor = (double)out->capacity / hashes;
	out->fp_rate = formula->rate(out->bits_per_key, z, g) + out->fp_rate_floor;
	if (out->fp_rate > most_rate * (1 + 1e-6))
		return weir__fail(-EINVAL,
		                  "max_bytes %" PRIu64 ": with %" PRIu64
		                  " keys the rate would be %.3g, %g is the most",
		                  p->max_bytes, p->capacity, out->fp_rate, most_rate);
	out->classic_bytes = classic_bytes(p->fp_rate > 0 ? p->fp_rate : out->fp_rate,
	                                   out->fp_rate_floor, out->capacity);
	return 0;
}

int weir_plan(const struct weir_params *params, struct weir_plan *out)
{
	struct weir_params p;
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir__size_check(out, sizeof *out, "weir_plan");
	if (!err)
		err = check_all_but_memory(params, &p);
	if (err)
		return err;
	plan.kind = p.kind;
	err = weir__kind(p.kind)->plan(&p, &plan);
	if (err)
		return err;
	plan.struct_size = out->struct_size;
	memcpy(out, &plan, out->struct_size);
	return 0;
}
