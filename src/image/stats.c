/* SPDX-License-Identifier: MIT
 * Describes an image without loading it: its head, the head of a delta, and statistics of its bits.
 * No secret key is needed. */
#include <string.h>
#include <weir/filter.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "hash/hash.h"
#include "image/delta.h"
#include "image/load.h"
#include "image/location.h"
#include "image/map.h"

/* ---- weir_image_inspect() ---- */

/* Return: the bytes of the file or memory. For a stream: the bytes of the image, or 0 if its head
 * does not tell them. */
static uint64_t file_bytes(const struct weir_source *source, const struct weir_image_head *head)
{
	return source->exact ? source->length :
	       head->compression != WEIR_IMAGE_PLAIN ? 0 : weir__image_length(head);
}

static struct weir_image_info info_of(const struct weir_preface *p,
                                      const struct weir_source *source)
{
	struct weir_layout layout;
	/* cannot fail: weir__no_secret skips the check of the key */
	(void)weir__preface_layout(&layout, p, weir__no_secret, source->name);
	return (struct weir_image_info){
		.format = weir__image_format(&p->head),
		.shape = layout.shape,
		.shards = layout.shards,
		.capacity = layout.capacity,
		.fp_rate = layout.fp_rate,
		.bytes = 64 * layout.lines,
		.file_bytes = file_bytes(source, &p->head),
		.generation = p->head.generation,
		.seed_fingerprint = weir__seed_fingerprint(p->head.seed),
		.compressed = p->head.compression != WEIR_IMAGE_PLAIN,
		.live = p->head.commit == WEIR_IMAGE_LIVE,
		.keyed = p->head.marks & WEIR_MARK_KEYED,
		.marks = p->head.marks,
		.hash = layout.hashing.by->name,
		.text = layout.text,
		.commit = p->head.commit == WEIR_IMAGE_LIVE ? 0 : p->head.commit
	};
}

int weir_image_inspect(struct weir_location from, struct weir_image_info *out)
{
	const struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	struct weir_opened opened;
	struct weir_preface p;
	int err = weir__size_check(out, sizeof *out, "weir_image_info");
	if (!err)
		err = weir__location_open(&opened, &from, WEIR__TO_READ, "weir_image_inspect",
		                          &options);
	if (err)
		return err;
	err = weir__preface_read(&p, &opened.source, 0, true);
	if (!err) {
		struct weir_image_info info = info_of(&p, &opened.source);
		info.struct_size = out->struct_size;
		memcpy(out, &info, out->struct_size);
		weir__preface_free(&p);
	}
	return weir__location_close(&opened, err);
}

/* ---- weir_delta_inspect() ---- */

int weir_delta_inspect(struct weir_location from, struct weir_delta_info *out)
{
	const struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	struct weir_delta_head head;
	struct weir_opened opened;
	int err = weir__size_check(out, sizeof *out, "weir_delta_info");
	if (!err)
		err = weir__location_open(&opened, &from, WEIR__TO_PARSE, "weir_delta_inspect",
		                          &options);
	if (err)
		return err;
	err = weir__location_close(&opened, weir__delta_read(&head, &opened.source));
	if (err)
		return err;
	const struct weir_delta_info info = {
		.struct_size = out->struct_size,
		.format = WEIR_DELTA_FORMAT,
		.old_id = head.old.commit,
		.new_id = head.new.commit,
		.old_bytes = head.old.bytes,
		.new_bytes = head.new.bytes,
		.old_generation = head.old.generation,
		.new_generation = head.new.generation,
		.pieces = weir__delta_pieces(&head),
		.changed = head.changed,
		.file_bytes = head.length
	};
	memcpy(out, &info, out->struct_size);
	return 0;
}

int weir_delta_verify(struct weir_location from, const struct weir_load_options *options)
{
	struct weir_load_options o;
	struct weir_opened opened;
	int err = weir__load_options(&o, options);
	if (!err)
		err = weir__location_open(&opened, &from, WEIR__TO_PARSE, "weir_delta_verify", &o);
	return err ? err : weir__location_close(&opened,
	                                        weir__delta_verify(&opened.source, &o));
}

/* ---- weir_image_measure() ---- */

static int measure(struct weir_source *source, uint64_t lines,
                   const struct weir_load_options *options, struct weir_stats *out)
{
	const struct weir_survey survey = { .lines = lines,
		                            .progress = options->progress,
		                            .progress_arg = options->progress_arg };
	struct weir_filter *f;
	int err = weir__map_or_load(&f, source, WEIR_MAP_READ, options);
	if (err)
		return err;
	err = weir__survey(f, &survey, out);
	weir_destroy(f);
	return err;
}

int weir_image_measure(struct weir_location from, uint32_t effort,
                       const struct weir_load_options *options, struct weir_stats *out)
{
	struct weir_load_options o;
	struct weir_opened opened;
	int err = weir__size_check(out, sizeof *out, "weir_stats");
	if (!err)
		err = weir__effort_check(effort);
	if (!err)
		err = weir__load_options(&o, options);
	if (!err)
		err = weir__map_check(&o, WEIR_MAP_READ);
	if (err)
		return err;
	o.secret = weir__no_secret;
	o.run = (struct weir_window_run){ .flavor = NULL };
	err = weir__location_open(&opened, &from, WEIR__TO_READ, "weir_image_measure", &o);
	if (err)
		return err;
	err = measure(&opened.source,
	              effort == WEIR_EXACT ? UINT64_MAX : WEIR__SURVEY_SAMPLE_LINES, &o, out);
	return weir__location_close(&opened, err);
}
