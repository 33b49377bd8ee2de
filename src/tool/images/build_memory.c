/* SPDX-License-Identifier: MIT
 * Divides the memory of `weir build` between the filter, its builder, the save and the readers. */
#include <string.h>
#include "build.h"
#include "output/say.h"
#include "output/units.h"

/* Bytes that the process takes before it reads keys: libraries, stacks and malloc()'s reserve. */
#define PROCESS_BYTES (UINT64_C(2) << 20)
#define HUGE_PAGE (UINT64_C(2) << 20)

const char *build_limited_by(const struct build *build)
{
	static const char *const names[] = {
		[BY_MACHINE] = "this machine",
		[BY_GROUP] = "its control group",
		[BY_OPTION] = "--max-memory",
	};
	return names[build->limit];
}

bool build_room(struct build *build, uint64_t taken, uint64_t each)
{
	unsigned *threads = &build->fill.threads;
	const uint64_t most = build->max_memory;
	const uint64_t left = most - (PROCESS_BYTES < most ? PROCESS_BYTES : most);
	const uint64_t room = left - (taken < left ? taken : left);
	while (*threads > 1 && !build->threads_given &&
	       (fill_least(*threads) > room || *threads * each > room))
		--*threads;
	build->fill.room = build->exclude.room = room ? room : 1;
	build->exclude.threads = *threads;
	return fill_least(*threads) <= room;
}

int build_readable(struct build *build)
{
	return build_room(build, 0, 0) ? TOOL_OK :
	       trouble("to read the keys takes %s: more than %s allows (%s)",
	               show_bytes(SHOW, PROCESS_BYTES + fill_least(build->fill.threads)),
	               build_limited_by(build), show_bytes(SHOW, build->max_memory));
}

struct spool build_spool(struct build *build)
{
	const uint64_t least = fill_least(build->fill.threads), quarter = build->max_memory / 4;
	const uint64_t room = quarter > least ? quarter : least;
	struct spool spool = { .limited_by = build_limited_by(build) };
	spool.max_bytes = build->fill.room - (room < build->fill.room ? room : build->fill.room);
	build->fill.room = room;
	return spool;
}

bool build_fits(const struct build *build, uint64_t bytes)
{
	return bytes <= build->max_memory && PROCESS_BYTES <= build->max_memory - bytes;
}

uint64_t build_filter_memory(uint64_t bytes)
{
	return bytes < HUGE_PAGE ? bytes : (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* Return: the bytes of zstd's context at a compression level, from ZSTD_estimateCCtxSize(). */
static uint64_t zstd_memory(int level)
{
	const uint64_t mib = level <= 3  ? 2 :
	                     level <= 6  ? 4 :
	                     level <= 9  ? 14 :
	                     level <= 14 ? 50 : 84;
	return level ? mib << 20 : 0;
}

uint64_t build_to_save(const struct build *build, uint64_t bytes, uint32_t shards)
{
	const int level = build->saving.zstd_level;
	const uint64_t piece = 1 << 20, shard = level ? bytes / shards : 0;
	/* weir_save() copies the whole filter if the output is a stream, or if inserts move keys
	 * within the filter. */
	const bool copied = build->params.kind == WEIR_CUCKOO || strcmp(build->output, "-") == 0;
	return piece + (copied ? build_filter_memory(bytes) : 0) + zstd_memory(level) +
	       2 * shard + shard / 128;
}

int build_no_room(const struct build *build, uint64_t bytes, uint64_t more, const char *what)
{
	return trouble("the filter needs %s, and %s to %s: more than %s allows (%s)%s",
	               show_bytes(SHOW, bytes), show_bytes(SHOW, PROCESS_BYTES + more), what,
	               build_limited_by(build), show_bytes(SHOW, build->max_memory),
	               build->taken.size && !build->like ?
	                       "; the size is that of the image that is replaced: -n gives "
	                       "another" :
	                       "");
}

/* ---- kinds that are built once ---- */

/* The builder's memory for each thread. WORK_BYTES equals thread_bytes in src/build/build.c, and
 * weir/build.h states BUILDER_LEAST. */
#define WORK_BYTES (UINT64_C(56) << 20)     /* part of max_memory that cannot hold hashes */
#define BUILD_BYTES (UINT64_C(48) << 20)      /* allocated after all keys are read */
#define BUILDER_LEAST (UINT64_C(63) << 20) /* smallest max_memory of a builder */

/* Computes the memory of the filter in bytes. @out: receives 0 if the size depends on the number of
 * keys. For a kind with an exclude list, the result is doubled, because the first level of such a
 * filter is in memory twice at the end of the build. Return: 0 or a negative errno. */
static int filter_bytes(const struct weir_params *p, uint64_t *out)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	const unsigned times = weir_kind_can(p->kind, WEIR_CAN_EXCLUDE) ? 2 : 1;
	int err = p->capacity ? weir_plan_make(p, &plan) : 0;
	*out = p->capacity     ? times * build_filter_memory(plan.bytes) :
	       p->fp_rate == 0 ? times * build_filter_memory(p->max_bytes) : 0;
	return err;
}

/* Divides @left bytes between the hashes and the filter of an unknown number of keys. Return: the
 * bytes for hashes. */
static uint64_t for_hashes(const struct weir_params *p, uint64_t left)
{
	struct weir_params some = *p;
	struct weir_plan plan = WEIR_PLAN_INIT;
	some.capacity = 1000000;
	some.max_bytes = 0;
	if (weir_plan_make(&some, &plan))
		return left / 2;
	const double each = (double)build_filter_memory(plan.bytes) / (double)some.capacity;
	return (uint64_t)((double)left * 8 / (8 + 2 * each));
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a - (b < a ? b : a);
}

int build_share(struct build *build, uint64_t kept, struct weir_builder_options *options,
                struct weir_params *params)
{
	const struct weir_params *p = &build->params;
	uint64_t filter;
	*params = *p;
	if (filter_bytes(p, &filter))
		return trouble_refused();
	(void)build_room(build, kept + filter, BUILDER_LEAST);
	(void)build_room(build, kept, 0);
	const uint64_t threads = build->fill.threads, all = build->fill.room;
	const uint64_t least = threads * BUILDER_LEAST, work = threads * WORK_BYTES;
	const uint64_t fixed = build_to_save(build, 0, 1);
	/* bytes that a save takes per byte of the filter */
	const uint64_t saved = (build_to_save(build, HUGE_PAGE, 1) - fixed) / HUGE_PAGE;
	const uint64_t savable = minus(all, fixed) / (saved + 1);
	const uint64_t buildable = minus(all, threads * BUILD_BYTES);
	/* limit on the bytes of the filter */
	uint64_t most = savable < buildable ? savable : buildable;
	options->max_memory = build->max_memory < least ? build->max_memory : least;
	if (build->max_memory < least)
		return build->limit == BY_OPTION ? TOOL_OK : /* the builder reports the fault */
		       trouble("kind %s is built in %s for each thread: more than %s allows (%s)",
		               weir_kind_name(p->kind), show_bytes(SHOW, BUILDER_LEAST),
		               build_limited_by(build), show_bytes(SHOW, build->max_memory));
	if (filter > savable)
		return build_no_room(build, filter, filter * saved + fixed, "save it");
	if (filter > minus(buildable, least - work))
		return build_no_room(build, filter, least, "build it");
	const uint64_t more = filter ? minus(all, filter) : work + for_hashes(p, minus(all, work));
	if (more > least)
		options->max_memory = more;
	build->fill.room = minus(all, options->max_memory - work);
	if (weir_kind_can(p->kind, WEIR_CAN_EXCLUDE)) {
		const uint64_t beside = minus(build->fill.room, threads * BUILD_BYTES);
		most = most / 2 < beside ? most / 2 : beside;
		build->exclude.room = threads * BUILD_BYTES;
	}
	if (p->fp_rate != 0 && (!p->max_bytes || p->max_bytes > most))
		params->max_bytes = most;
	return TOOL_OK;
}

int build_refused(const struct build *build)
{
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	weir_error_last(&info);
	const bool large = info.code == WEIR_ERROR_TOO_LARGE || info.code == WEIR_ERROR_LISTS_LARGE;
	if (!large || info.values[3] == (double)build->params.max_bytes)
		return trouble_refused();
	const uint64_t bytes = (uint64_t)info.values[2], work = build->fill.threads * BUILD_BYTES;
	const uint64_t save = build_to_save(build, bytes, 1);
	return build_no_room(build, bytes, work > save ? work : save, "build and save it");
}
