/* SPDX-License-Identifier: MIT
 * Refuses sets that look like a mistake. An empty list of keys would build a valid image, which
 * every server loads. Only the user knows whether the set is meant to be empty. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "guard.h"
#include "images.h"
#include "input/file.h"
#include "output/say.h"
#include "output/units.h"

/* Return: the capacity to recommend, or 0 if it is unknown. The capacity follows from the estimated
 * number of keys. But if nearly every bit is set, or if the estimate exceeds the number of inserted
 * keys, it follows from the number of inserted keys. */
static uint64_t advised_capacity(const struct guard *guard, const struct weir_stats *stats)
{
	const uint64_t most = guard->keys ? guard->keys : guard->most;
	double likely = 1.03 * stats->keys_estimated;
	if (stats->fill > 0.98 || !isfinite(likely) || (most && likely > (double)most))
		return most ? round_up(most) : 0;
	return round_up((uint64_t)ceil(likely));
}

const char *guard_advice(const struct guard *guard, const struct weir_stats *stats)
{
	static char advice[80];
	uint64_t room = advised_capacity(guard, stats);
	*advice = '\0';
	if (room)
		snprintf(advice, sizeof advice, "; %s %llu%s has room for them", guard->option,
		         (unsigned long long)room, guard->memory_given ? " without -m" : "");
	return advice;
}

/* Return: true if the keys are within the capacity. Compares the number of keys if it is known,
 * because a measured rate misleads: with few keys and a low rate, it can be twice the asked rate by
 * chance. */
static bool is_within_capacity(const struct guard *guard, const struct weir_stats *fresh)
{
	return guard->keys ? guard->keys <= fresh->capacity : !fresh->saturated;
}

int guard_overfull(const struct guard *guard, const struct weir_stats *fresh, const char *path)
{
	if (guard->allow_overfull || is_within_capacity(guard, fresh) ||
	    fresh->fp_rate_estimated <= WEIR_SANE_RATE * fresh->fp_rate)
		return TOOL_OK;
	say("%s: not written: its rate would be %s, more than twice %s: it has room for %s "
	    "different keys, and would have %s%s, or if it is meant, --allow-overfull",
	    path, show_rate(SHOW, fresh->fp_rate_estimated), show_rate(SHOW, fresh->fp_rate),
	    show_count(SHOW, fresh->capacity), show_about(SHOW, fresh->keys_estimated),
	    guard_advice(guard, fresh));
	return TOOL_NO;
}

/* Return: true if a key was refused because it has too many copies. All copies of a key share two
 * buckets, so free slots in other buckets do not help. */
static bool has_too_many_copies(const struct weir_stats *stats, int64_t copies)
{
	return weir_kind_can(stats->shape.kind, WEIR_CAN_HOLD_COPIES) &&
	       copies >= (stats->shape.field[0] == 16 ? 8 : 10);
}

/* Return: the number of keys in the input, or 0 if the input cannot be read again. */
static uint64_t keys_in(const struct guard *guard, const struct fill *fill)
{
	struct fill again = *fill;
	uint64_t keys = 0;
	again.found = NULL; /* keep the findings of the previous pass */
	if (!guard->keys && fill->bytes && fill_count(&again, &keys))
		return 0; /* fill_count() has printed a message */
	return guard->keys ? guard->keys : keys;
}

/* Return: a capacity for the @keys of the input together with the older keys of the filter.
 * @taken: number of keys of the input that the filter has accepted. */
static uint64_t capacity_for_all(uint64_t keys, uint64_t taken, const struct weir_stats *stats)
{
	double before = stats->keys_estimated - (double)taken;
	return round_up(keys + (before >= 1 && isfinite(before) ? (uint64_t)before : 0));
}

/* Reports that the filter is too small. The message begins with "not written", because no key is
 * saved, although the filter in memory has accepted @taken of the keys. */
static int report_too_small(const struct guard *guard, const struct weir_stats *stats,
                            const char *path, uint64_t taken, uint64_t keys)
{
	/* guard->option is "weir build -n" for an image that exists, else "-n" */
	const bool image_exists = *guard->option != '-';
	const char *option = weir_kind_can(stats->shape.kind, WEIR_CAN_GROW) ? "--max-keys" : "-n";
	char all[40] = "", room[80];
	snprintf(room, sizeof room, "a larger %s", option);
	if (keys) {
		snprintf(all, sizeof all, " %s", show_count(SHOW, keys));
		snprintf(room, sizeof room, "%s of at least %llu", option, (unsigned long long)
		         (image_exists ? capacity_for_all(keys, taken, stats) : round_up(keys)));
	}
	say("%s: not written: there is room for %s of these%s keys; nothing was %s: build it%s "
	    "with %s",
	    path, show_count(SHOW, taken), all, image_exists ? "added" : "saved",
	    image_exists ? " anew from your records" : "", room);
	return TOOL_NO;
}

int guard_full(const struct weir_filter *f, const struct fill *fill, const char *path,
               const struct guard *guard)
{
	const struct fill_found *found = fill->found;
	struct weir_stats stats = WEIR_STATS_INIT;
	int err = weir_measure(f, WEIR_EXACT, &stats);
	if (err)
		return trouble_weir(err, path);
	if (!has_too_many_copies(&stats, found->copies))
		return report_too_small(guard, &stats, path, found->taken, keys_in(guard, fill));
	say("%s: not written: one of the keys is in it as often as it can hold a key; nothing was "
	    "%s: leave out what comes again and again, or count it with --kind=counting",
	    path, *guard->option == '-' ? "saved" : "added");
	return TOOL_NO;
}

/* Return: text such as "keys.txt" or "keys.txt and 2 more files". */
static const char *names_of(const struct lines_options *from, char *room, size_t bytes)
{
	const char *first = from->n ? from->names[0] : "-";
	first = strcmp(first, "-") ? first : "standard input";
	if (from->n < 2)
		return first;
	snprintf(room, bytes, "%.4000s and %zu more file%s", first, from->n - 1,
	         from->n == 2 ? "" : "s");
	return room;
}

int guard_empty(const struct guard *guard, const struct lines_options *from, uint64_t bad,
                const char *so)
{
	char room[4096];
	const char *names = names_of(from, room, sizeof room);
	if (guard->allow_empty)
		return TOOL_OK;
	if (bad)
		say("no keys in %s: %llu line%s passed over, and no other is a key: "
		    "--allow-empty %s", names, (unsigned long long)bad,
		    bad == 1 ? " was" : "s were", so);
	else
		say("no keys in %s: nothing was written: --allow-empty %s", names, so);
	return TOOL_NO;
}

/* Return: true if the set has fewer than min_keys different keys. If their number is an estimate,
 * the limit allows for its error, so that complete lists pass. At rates up to 10 %, complete lists
 * of 100 to 20,000 keys passed for each of 60 seeds, and at 50 % nearly all lists passed. */
static bool fewer_differ(const struct guard *guard, const struct weir_stats *fresh,
                         const char *path)
{
	if (!guard->min_keys || guard->different)
		return guard->different < guard->min_keys;
	if (fresh->fill <= 0.98)
		return fresh->keys_estimated + 30 < 0.97 * (double)guard->min_keys;
	say("%s: --min-keys counts repeated keys too: nearly every bit is set, so the bits do not "
	    "tell how many differ", path);
	return false;
}

int guard_few(const struct guard *guard, const struct weir_stats *fresh,
              const struct lines_options *from, const char *path)
{
	char room[4096], differ[80] = "";
	/* guard->keys counts duplicates too, so it is an upper bound on the different keys */
	const bool few = guard->keys < guard->min_keys;
	if (!few && !fewer_differ(guard, fresh, path))
		return TOOL_OK;
	if (guard->different && guard->different < guard->keys)
		snprintf(differ, sizeof differ, ", %llu of them different",
		         (unsigned long long)guard->different);
	else if (!few)
		snprintf(differ, sizeof differ, ", about %s of them different",
		         show_short(SHOW, fresh->keys_estimated));
	say("%s: %llu key%s%s, where --min-keys is %llu: nothing was written: is the export "
	    "complete?", names_of(from, room, sizeof room), (unsigned long long)guard->keys,
	    guard->keys == 1 ? "" : "s", differ, (unsigned long long)guard->min_keys);
	return TOOL_NO;
}

int guard_keyless(const struct guard *guard, const struct keyless *keyless, const char *so)
{
	char *name = keyless->name;
	const struct lines_options files = { .names = &name, .n = keyless->files };
	return keyless->files ? guard_empty(guard, &files, keyless->bad, so) : TOOL_OK;
}

static bool not_compared(const char *path, const char *why)
{
	say("%s: not compared with the image that it replaces: %s", path, why);
	return false;
}

/* Measures the image at @path: a sample of its bits, or with @all every bit. With @all, verifies
 * the checksums first. Return: false after a message, if the image is damaged, live, above the
 * memory limit, or has every bit set. */
static bool measure_old(const struct guard *guard, const char *path,
                        const struct weir_image_info *info, bool all, struct weir_stats *old)
{
	const struct image_how how = { .check = all,
		                       .progress = true,
		                       .wordless = true,
		                       .max_memory = guard->max_memory };
	int err = image_stats(path, info, all, &how, old);
	if (err)
		return not_compared(path, image_trouble(err, path));
	return isfinite(old->keys_estimated) || not_compared(path, "every bit of that is set");
}

/* Compares @keys with a tenth of the number of keys in the old image. Return: 1 if @keys is
 * smaller, -1 if not, 0 if the estimate from a sample of the old image is too coarse to decide. */
static int compare_with_tenth(double keys, const struct weir_stats *old)
{
	if (keys >= WEIR_SANE_KEYS * (old->keys_estimated + old->keys_error))
		return -1;
	return keys < WEIR_SANE_KEYS * (old->keys_estimated - old->keys_error);
}

/* Compares @keys with the image at @path. A sample of the image usually decides. The whole image is
 * read if it is compressed, or if the sample does not decide. If the sample is the whole image and
 * @keys is smaller, the image is read again, to verify its checksums. An image above the memory
 * limit is not read as a whole, since a sparse file may declare terabytes. Return: as
 * compare_with_tenth(), or -1 after a message if the image cannot be measured. */
static int compare(const struct guard *guard, double keys, const char *path,
                   const struct weir_image_info *info, struct weir_stats *old)
{
	int answer = 0;
	if (!info->compressed) { /* a sample of a compressed image would unpack all of it */
		if (!measure_old(guard, path, info, false, old))
			return -1;
		answer = compare_with_tenth(keys, old);
		if (answer < 0 || (answer && old->sampled < 1))
			return answer;
		if (old->sampled < 1 && old->bytes > guard->max_memory) {
			(void)not_compared(path, "a sample does not tell, and to read all of it "
			                         "is above --max-memory");
			return -1;
		}
	}
	return measure_old(guard, path, info, true, old) ? compare_with_tenth(keys, old) : -1;
}

static int shrunk(const struct guard *guard, const struct weir_stats *fresh, const char *path)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_stats old = WEIR_STATS_INIT;
	struct stat st;
	if (stat(path, &st) || st.st_size == 0) /* empty, such as a file from mktemp */
		return TOOL_OK;
	if (weir_image_inspect(weir_location_path(path), &info)) {
		say("%s: not compared with the file that it replaces: %s", path,
		    weir_error_detail());
		return TOOL_OK;
	}
	if (compare(guard, fresh->keys_estimated, path, &info, &old) <= 0)
		return TOOL_OK;
	say("%s: not replaced: about %s different keys, where the old image has about %s: under a "
	    "tenth; if it is meant, --allow-shrink",
	    path, show_short(SHOW, fresh->keys_estimated), show_short(SHOW, old.keys_estimated));
	return TOOL_NO;
}

int guard_check(const struct guard *guard, const struct weir_stats *fresh, const char *path)
{
	int full = guard_overfull(guard, fresh, path), small = TOOL_OK;
	if (!guard->allow_shrink && strcmp(path, "-"))
		small = shrunk(guard, fresh, path);
	return full ? full : small;
}

uint32_t guard_marks(const struct guard *guard)
{
	return (guard->allow_overfull ? WEIR_MARK_OVERFULL_ALLOWED : 0) |
	       (guard->allow_shrink ? WEIR_MARK_SHRINK_ALLOWED : 0);
}
