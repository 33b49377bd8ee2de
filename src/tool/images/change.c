/* SPDX-License-Identifier: MIT
 * Loads an image, changes it by the lines of files, and replaces it. */
#include <stdio.h>
#include <unistd.h>
#include "change.h"
#include "host/memory_limit.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"
#include "saving.h"

/* ---- the command line ---- */

struct change change_new(void)
{
	return (struct change){ .fill = { .from.delimiter = '\n', .threads = threads_default() },
		                .found.steps_given = true, /* the image already has its steps */
		                .how = image_how(),
		                .guard.option = "weir build -n",
		                .lost = "added is not in it: add it again",
		                .before = WEIR_STATS_INIT,
		                .after = WEIR_STATS_INIT };
}

static int threads(struct change *c)
{
	uint64_t number;
	if (!parse_number("--threads", optarg, 1, THREADS_MOST, &number))
		return 0;
	c->fill.threads = (unsigned)number;
	return 1;
}

int change_option(int option, struct change *c)
{
	int taken;
	switch (option) {
	case CHANGE_ZSTD: return parse_zstd(optarg, &c->saving.zstd_level);
	case CHANGE_MODE: return parse_mode(optarg, &c->saving.mode);
	case CHANGE_JSON: c->as_json = true; break;
	case CHANGE_ALLOW_EMPTY: c->guard.allow_empty = true; break;
	case 'q': c->quiet = true; break;
	case 't': return threads(c);
	default:
		taken = keying_option(option, &c->fill.keying, &c->fill.from);
		return taken < 0 ? image_option(option, &c->how) : taken;
	}
	return 1;
}

int change_arguments(int argc, char **argv, struct change *c)
{
	int status = image_arguments(argc, argv, false, &c->image, &c->fill.from);
	if (status)
		return status;
	progress_allow(c->how.progress && !c->quiet);
	return keying_fits(&c->fill.keying) ? TOOL_OK : misuse_reported();
}

/* ---- the work ---- */

/* Gives the threads that read the input all memory that the control groups leave, because the
 * filter is in memory already. */
static void share_memory(struct fill *fill)
{
	const uint64_t left = memory_left();
	while (fill->threads > 1 && fill_least(fill->threads) > left)
		fill->threads--;
	const uint64_t least = fill_least(fill->threads);
	fill->room = left > least ? left : least;
}

int change_prepare(struct change *c, const struct weir_filter *f)
{
	int64_t bytes = lines_total_bytes(&c->fill.from);
	if (bytes < 0)
		return TOOL_TROUBLE;
	c->fill.bytes = (uint64_t)bytes;
	weir_text_of(f, &c->fill.keying.normal);
	if (!keying_fits(&c->fill.keying))
		return TOOL_TROUBLE;
	share_memory(&c->fill);
	fill_prepare(&c->fill, &c->found);
	return TOOL_OK;
}

int change_was_read(const struct change *c)
{
	fill_say_passed(&c->found);
	if (c->keys)
		return guard_keyless(&c->guard, &c->found.keyless, "takes the other files alone");
	return guard_empty(&c->guard, &c->fill.from, c->found.bad, "takes that for done");
}

int change_replace(struct change *c, const struct weir_image_info *info,
                   int (*put)(struct change *change, struct weir_filter *f))
{
	struct weir_filter *f;
	if (image_load(&f, c->image, &c->how))
		return TOOL_TROUBLE;
	int status = put(c, f);
	if (info->compressed && !c->saving.zstd_level)
		(void)parse_zstd(NULL, &c->saving.zstd_level);
	c->saving.generation = info->generation;
	c->saving.replaces = info->commit;
	/* A server may still have the set from before the shrink, so the mark must stay. */
	c->saving.marks |= info->marks & WEIR_MARK_SHRINK_ALLOWED;
	if (!status)
		status = place_check_unchanged(c->image, c->lock, c->lost);
	if (!status)
		status = image_save(f, c->image, &c->saving);
	weir_destroy(f);
	return status;
}

static int look(const struct change *c, const struct change_verb *verb,
                struct weir_image_info *info)
{
	*info = (struct weir_image_info)WEIR_IMAGE_INFO_INIT;
	int err = weir_image_inspect(weir_location_path(c->image), info);
	if (err)
		return trouble_weir(err, c->image);
	if (weir_kind_can(info->shape.kind, WEIR_CAN_ROUTE))
		return trouble("%s: is a router, and no verb changes one of its sets: weir route "
		               "--build makes one anew, of the keys of all its sets", c->image);
	return verb->look(c, info);
}

/* Checks the image before waiting for the lock, to refuse a live image at once. Checks the image
 * again under the lock, since the previous owner of the lock may have replaced it. */
int change_run(struct change *c, const struct change_verb *verb)
{
	struct weir_image_info info;
	int status = image_swapped(c->image, c->fill.from.names, c->fill.from.n);
	if (!status)
		status = place_is_not_read(c->image, &c->fill.from);
	if (!status)
		status = look(c, verb, &info);
	if (status)
		return status;
	c->lock = place_lock(c->image, c->in_place);
	status = look(c, verb, &info);
	if (!status && !c->in_place)
		status = place_check(c->image, false, NULL);
	if (!status)
		status = verb->work(c, &info);
	if (c->lock >= 0)
		close(c->lock);
	if (!status)
		verb->report(c);
	return status;
}

/* ---- the report ---- */

void change_report_set(const struct change *c, struct report *r)
{
	const struct weir_stats *s = &c->after;
	report_line(r, "in it now", "%s", show_about(SHOW, s->keys_estimated));
	report_count(r, "capacity", "capacity", s->capacity);
	report_rate(r, "fp_rate", rate_label(&c->found.noted), s->fp_rate);
	report_rate(r, "fp_rate_estimated", "rate, estimated", s->fp_rate_estimated);
}

void change_report_end(const struct change *c, struct report *r)
{
	if (!c->as_json) {
		plain_put(c->image, stdout);
		putchar('\n');
	}
	report_print(r, c->as_json, stdout);
	report_free(r);
}
