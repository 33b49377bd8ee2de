/* SPDX-License-Identifier: MIT
 * weir info: prints the header of an image, and figures computed from the image's bits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/compound.h"
#include "images/delta.h"
#include "images/images.h"
#include "input/file.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir info [OPTION]... IMAGE...\n"
	"Print what images hold: their headers, and the keys and the rate that their bits\n"
	"stand for. Of a compressed image that is the header alone. Of a window also how\n"
	"long ago each generation became the newest, at the time of saving.\n"
	"\n"
	"      --exact  count every bit, of a compressed image too; default: a sample of\n"
	"               1 MiB of a larger image\n"
	"      --max-memory=SIZE  of a compressed image, for --exact; default: half of\n"
	"               the memory that is available\n"
	"      --json   as JSON: an array with an object an image\n"
	"      --prometheus  as metrics, in Prometheus' text format\n"
	"  -h, --help   this text\n"
	"\n"
	"The bits are not compared with their checksums: weir verify does that.\n"
	"Exit status: 0 done, 2 an error.\n";

enum { JSON = 256, EXACT, MAX_MEMORY, PROMETHEUS };

static const struct option options[] = {
	{ "exact", no_argument, NULL, EXACT },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "json", no_argument, NULL, JSON },
	{ "prometheus", no_argument, NULL, PROMETHEUS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void report_fingerprint(struct report *r, const struct weir_image_info *info)
{
	char text[20] = "none";
	if (info->seed_fingerprint)
		snprintf(text, sizeof text, "%08llx", (unsigned long long)info->seed_fingerprint);
	report_text(r, "seed_fingerprint", info->keyed ? "key fingerprint" : "seed fingerprint",
	            text);
}

/* Prints a mark of the image (a flag WEIR_MARK_...) as a line only if the mark is set. JSON gets
 * the mark as true or false. */
static void report_mark(struct report *r, const char *key, const char *label, bool marked)
{
	report_bool(r, key, marked ? label : NULL, marked);
}

static void report_header(struct report *r, const struct weir_image_info *info)
{
	report_count(r, "format", NULL, info->format);
	report_shape(r, &info->shape);
	report_count(r, "capacity", weir_kind_can(info->shape.kind, WEIR_CAN_GROW) ?
	             "of the first layer" : "capacity", info->capacity);
	report_rate(r, "fp_rate", rate_label(&info->text), info->fp_rate);
	report_normal(r, &info->text, info->fp_rate);
	report_bytes(r, "bytes", "memory", info->bytes);
	report_count(r, "file_bytes", NULL, info->file_bytes);
	if (info->compressed)
		report_line(r, "file", "%s", show_bytes(SHOW, info->file_bytes));
	else
		report_line(r, "file", "%s: the bits begin at %s of it, after head, checksums and "
		            "padding, %s", show_bytes(SHOW, info->file_bytes),
		            show_bytes(SHOW, info->file_bytes - info->bytes),
		            info->bytes >= 2 << 20 ? "to be mapped with huge pages" :
		                                     "to be mapped by whole pages");
	if (!weir_kind_can(info->shape.kind, WEIR_CAN_GROW))
		report_real(r, "bits_per_key", "bits a key",
		            (double)info->bytes * 8.0 / (double)info->capacity);
	report_count(r, "shards", "shards", info->shards);
	report_count(r, "generation", "generation", info->generation);
	report_fingerprint(r, info);
	report_text(r, "hash", "hash", info->hash);
	report_bool(r, "keyed", "keyed", info->keyed);
	report_mark(r, "overfull_allowed", "overfull allowed",
	            info->marks & WEIR_MARK_OVERFULL_ALLOWED);
	report_mark(r, "shrink_allowed", "shrink allowed", info->marks & WEIR_MARK_SHRINK_ALLOWED);
	report_mark(r, "once", "once", info->marks & WEIR_MARK_ONCE);
	report_bool(r, "compressed", "compressed", info->compressed);
	report_bool(r, "live", "live", info->live);
	report_line(r, "checksums", "not compared: weir verify does that");
}

static void report_stats(struct report *r, const struct weir_stats *s)
{
	if (weir_kind_can(s->shape.kind, WEIR_CAN_GROW)) {
		report_count(r, "max_capacity", "room for keys", s->max_capacity);
		report_real(r, "bits_per_key", "bits a key now", s->keys_estimated >= 1 ?
		            (double)s->bytes * 8.0 / s->keys_estimated : 0.0);
	}
	report_fill(r, s);
	report_stuck(r, s);
	report_rate(r, "fill_max", "in the fullest shard", s->fill_max);
	report_estimate(r, "keys_estimated", "keys, estimated", s->keys_estimated);
	report_estimate(r, "keys_error", NULL, s->keys_error);
	report_rate(r, "fp_rate_estimated", s->lookups > 1 ? "one lookup, estimated" :
	            "rate, estimated", s->fp_rate_estimated);
	report_rate(r, "sampled", "of the bits looked at", s->sampled);
	report_bool(r, "saturated", "saturated", s->saturated);
	report_uneven(r, s);
	report_text(r, "isa", "kernel", s->isa);
}

/* Return: 0, or a negative errno after a message. */
static int look_at_sets(struct report *r, const char *path, const struct image_how *how)
{
	struct weir_filter *f;
	int err = route_load(&f, path, true, how);
	if (err)
		return err;
	err = route_report(r, f);
	weir_destroy(f);
	return err;
}

/* Return: 0, or a negative errno after a message. */
static int look_at_bits(struct report *r, const char *path, const struct weir_image_info *info,
                        bool exact, const struct image_how *how)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_window_stats window;
	if (info->shape.kind == WEIR_ROUTER)
		return look_at_sets(r, path, how);
	if (info->shape.kind == WEIR_WINDOW) {
		int failed = window_stats(path, how, &stats, &window);
		if (!failed)
			window_report(r, &stats, &window);
		return failed;
	}
	int err = image_stats(path, info, exact, how, &stats);
	if (!err)
		report_stats(r, &stats);
	return err;
}

static void report_unread(struct report *r, const char *why)
{
	report_rate(r, "sampled", NULL, 0.0);
	report_text(r, "bits", "bits", why);
}

/* Appends the report to @all, or if @all is NULL, prints the report below its path. Frees the
 * report. */
static void info_put(struct report *r, const char *path, json_t *all)
{
	if (all) {
		json_array_append(all, r->json);
	} else {
		plain_put(path, stdout);
		putchar('\n');
		report_print(r, false, stdout);
	}
	report_free(r);
}

static int info_of_delta(const char *path, const struct weir_delta_info *info, json_t *all)
{
	struct report r = report_new();
	report_text(&r, "delta", NULL, path);
	delta_report(&r, info);
	report_line(&r, "checksums", "of the head alone: weir verify reads the rest");
	info_put(&r, path, all);
	return TOOL_OK;
}

static int info_of(const char *path, bool exact, const struct image_how *how, json_t *all)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_delta_info delta = WEIR_DELTA_INFO_INIT;
	if (!image_named(path))
		return image_unnamed(path, false);
	if (!image_regular(path))
		return TOOL_TROUBLE;
	int err = delta_begins(path) ? weir_delta_inspect(weir_location_path(path), &delta) : 0;
	if (err)
		return trouble_delta(err, path);
	if (delta.format)
		return info_of_delta(path, &delta, all);
	err = weir_image_inspect(weir_location_path(path), &info);
	if (err)
		return trouble_weir(err, path);
	struct report r = report_new();
	report_text(&r, "image", NULL, path);
	report_header(&r, &info);
	if (info.live)
		report_unread(&r, "in use: not looked at");
	else if (info.compressed && !exact)
		report_unread(&r, "compressed: not looked at; --exact unpacks them");
	else
		err = look_at_bits(&r, path, &info, exact, how);
	info_put(&r, path, all);
	return err ? TOOL_TROUBLE : TOOL_OK;
}

static int sample_sets(struct sample *s, const struct image_how *how)
{
	struct weir_router_stats sets;
	struct weir_filter *f;
	int err = route_load(&f, s->path, true, how);
	if (err)
		return err;
	err = route_measure(f, &sets, &s->stats);
	weir_destroy(f);
	return err;
}

static int sample_bits(struct sample *s, bool exact, const struct image_how *how)
{
	struct weir_window_stats window;
	if (s->info.shape.kind == WEIR_ROUTER)
		return sample_sets(s, how);
	if (s->info.shape.kind != WEIR_WINDOW)
		return image_stats(s->path, &s->info, exact, how, &s->stats);
	return window_stats(s->path, how, &s->stats, &window);
}

/* Prints metrics for a collector. An image that cannot be read gets a message on stderr, and no
 * metrics. */
static int print_metrics(char **paths, size_t n, bool exact, const struct image_how *how)
{
	struct sample *samples = xmalloc(n * sizeof *samples);
	size_t found = 0;
	int status = TOOL_OK;
	for (size_t i = 0; i < n; i++) {
		struct stat st = { 0 };
		struct sample s = { .path = paths[i],
			            .info = WEIR_IMAGE_INFO_INIT,
			            .stats = WEIR_STATS_INIT };
		(void)stat(s.path, &st);
		int err = !image_named(s.path)   ? image_unnamed(s.path, false) :
		          !image_regular(s.path) ? TOOL_TROUBLE :
		          weir_image_inspect(weir_location_path(s.path), &s.info);
		if (err < 0)
			say_weir(err, s.path);
		if (!err && !s.info.live && (exact || !s.info.compressed))
			err = sample_bits(&s, exact, how);
		s.modified = st.st_mtim;
		if (err)
			status = TOOL_TROUBLE;
		else
			samples[found++] = s;
	}
	prometheus_print(samples, found, stdout);
	free(samples);
	return status;
}

int cmd_info(int argc, char **argv)
{
	bool exact = false, as_json = false, as_metrics = false;
	struct image_how how = { .max_memory = image_max_memory() };
	for (int option; (option = option_next(argc, argv, "h", options)) != -1;) {
		switch (option) {
		case EXACT: exact = true; break;
		case MAX_MEMORY:
			if (!parse_bytes("--max-memory", optarg, &how.max_memory))
				return misuse_reported();
			break;
		case JSON: as_json = true; break;
		case PROMETHEUS: as_metrics = true; break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default: return misuse_reported();
		}
	}
	if (optind == argc)
		return misuse("the image is missing");
	if (as_json && as_metrics)
		return misuse("--json and --prometheus: one of them");
	if (as_metrics)
		return print_metrics(argv + optind, (size_t)(argc - optind), exact, &how);
	json_t *all = as_json ? json_array() : NULL;
	int status = TOOL_OK;
	for (int i = optind; i < argc; i++)
		if (info_of(argv[i], exact, &how, all))
			status = TOOL_TROUBLE;
	if (all)
		print_json(all, stdout);
	json_decref(all);
	return status;
}
