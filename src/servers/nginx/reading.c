/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "reading.h"

bool reading_is_final(int err)
{
	switch (err) {
	case -EBADMSG:
	case -ENOTSUP:
	case -EKEYREJECTED:
	case -ENOSPC: /* the slot is too small */
	case -EISDIR:
	case -EINVAL:
	case -ENOENT:
	case -ECANCELED: /* an implausible set */
		return true;
	default:
		return false;
	}
}

bool reading_lacked_resources(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EINTR ||
	       err == -EAGAIN || err == -EBUSY;
}

struct file_identity reading_no_file(int err)
{
	return (struct file_identity){ .changed = (uint64_t)-err };
}

void reading_explain_no_file(char sentence[STORE_TEXT], const char *path, int err)
{
	char name[STORE_TEXT / 2];
	weir_escape(name, sizeof name, path, strlen(path));
	snprintf(sentence, STORE_TEXT, "%s: cannot open it: %s", name, weir_strerror(err));
}

void reading_explain_no_slot(char sentence[STORE_TEXT], const struct store *store, int err)
{
	char name[STORE_TEXT / 2];
	weir_escape(name, sizeof name, store->path, strlen(store->path));
	snprintf(sentence, STORE_TEXT, "%s: no room to read it: a slot of max=%zu bytes cannot be "
	         "mapped: %s", name, store->room, weir_strerror(err));
}

/* Return: the end of the error sentence. It names the option to change, since the library does not
 * know the module's options. "": no option helps. */
static const char *hint(const struct reading *r)
{
	if (r->err == -ENOSPC && !r->store->map)
		return ": a larger max= gives it room";
	if (r->err == -EKEYREJECTED && !r->store->secret)
		return ", by keyed_by=FILE";
	return "";
}

/* Copy the library's sentence, and prepend the file's name if the sentence lacks it. */
static void explain(struct reading *r)
{
	char name[STORE_TEXT / 2], detail[WEIR_SENTENCE_BYTES];
	snprintf(detail, sizeof detail, "%s", weir_error_detail());
	weir_escape(name, sizeof name, r->store->path, strlen(r->store->path));
	if (strstr(detail, name))
		snprintf(r->sentence, sizeof r->sentence, "%.460s%s", detail, hint(r));
	else
		snprintf(r->sentence, sizeof r->sentence, "%s: %.200s%s", name, detail, hint(r));
}

/* Load the filter: copy the file into the slot or, with map, map the file itself. */
static int get(struct reading *r, struct weir_filter **f)
{
	const struct store *s = r->store;
	const struct weir_load_options trusting = store_load_options(s);
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.progress = r->stop;
	o.secret = s->secret;
	if (s->map) {
		int err = weir_image_verify(weir_location_path(s->path), &o, NULL);
		return err ? err : weir_load(f, weir_location_map(s->path, WEIR_MAP_READ),
		                             &trusting);
	}
	int64_t bytes = weir_image_copy(weir_location_room(s->filling, s->room),
	                                weir_location_path(s->path), &o, NULL);
	if (bytes < 0)
		return (int)bytes;
	r->facts.bytes = (uint64_t)bytes;
	return weir_load(f, weir_location_map_memory(s->filling, (size_t)bytes), &trusting);
}

static void __attribute__((format(printf, 2, 3))) refuse(struct reading *r, const char *format,
                                                         ...)
{
	char name[STORE_TEXT / 2];
	va_list arguments;
	weir_escape(name, sizeof name, r->store->path, strlen(r->store->path));
	int n = snprintf(r->sentence, sizeof r->sentence, "%s: refused: ", name);
	va_start(arguments, format);
	vsnprintf(r->sentence + n, sizeof r->sentence - (size_t)n, format, arguments);
	va_end(arguments);
	r->err = -ECANCELED;
}

/* Refuse a set of text after a set of prefixes, or the reverse, since no lookup would match. Other
 * text steps may change, since lookups apply the text steps of the set in use. */
static void check_keys(struct reading *r)
{
	static const char *const what[] = { "text", "addresses (--cidr)" };
	if (r->any_before && r->facts.prefixes != r->prefixes_before)
		refuse(r, "its keys are %s, those of the set in use %s: build it as that was, or "
		       "if it is meant, give the zone another path", what[r->facts.prefixes],
		       what[r->prefixes_before]);
}

/* The rule of weir_handle_refresh(): the rate may be at most WEIR_SANE_RATE times fp_rate. A set
 * with few keys may exceed this limit by chance. So the rate of a set that is not saturated may
 * exceed the limit by 1/n, where n is the number of 64-byte lines. If such a set can grow, or has
 * fewer than 10 lines, its rate may exceed the limit by 0.1. */
static bool overfull(const struct weir_stats *s)
{
	const bool layers = weir_kind_can(s->shape.kind, WEIR_CAN_GROW);
	const double above = s->fp_rate_estimated - WEIR_SANE_RATE * s->fp_rate;
	const double lines = layers ? 0 : (double)s->bytes / 64;
	return above > 0 && (s->saturated || (s->fp_rate > 0 && above > 1 / fmax(lines, 10)));
}

/* The checks of weir_handle_refresh(), on every bit, so that no attacker can predict a sample. If
 * all bits of the set in use are set, its number of keys is unknown and is not compared. */
static void check_stats(struct reading *r, const struct weir_stats *s)
{
	bool full = overfull(s);
	bool fewer = isfinite(r->keys_before) &&
	             s->keys_estimated < WEIR_SANE_KEYS * r->keys_before;
	if (full && !(s->marks & WEIR_MARK_OVERFULL_ALLOWED))
		refuse(r, "overfull: it answers %.6f of absent keys with true, above twice the "
		       "%.6f asked: build it with a larger -n, or with --allow-overfull",
		       s->fp_rate_estimated, s->fp_rate);
	else if (fewer && !(s->marks & WEIR_MARK_SHRINK_ALLOWED))
		refuse(r, "about %.0f keys, where the set in use has about %.0f: under a tenth: "
		       "build it of the whole list, or with --allow-shrink", s->keys_estimated,
		       r->keys_before);
}

static int measure(struct reading *r, struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_text normal;
	int err = weir_measure(f, WEIR_EXACT, &s);
	if (err)
		return err;
	r->facts.keys = s.keys_estimated;
	r->facts.fp_rate = s.fp_rate_estimated;
	r->facts.fp_rate_asked = s.fp_rate;
	r->facts.capacity = s.capacity;
	r->facts.kind = s.shape.kind;
	r->facts.saturated = s.saturated;
	weir_text_of(f, &normal);
	r->facts.prefixes = (normal.steps & WEIR_TEXT_CIDR) != 0;
	if (r->store->map)
		r->facts.bytes = s.bytes;
	check_stats(r, &s);
	if (!r->err)
		check_keys(r);
	return r->err;
}

void reading_run(struct reading *r)
{
	struct file_identity after;
	struct weir_filter *f = NULL;
	memset(&r->facts, 0, sizeof r->facts);
	r->sentence[0] = '\0';
	r->err = file_identify(&r->file, r->store->path);
	if (r->err) {
		r->file = reading_no_file(r->err);
		reading_explain_no_file(r->sentence, r->store->path, r->err);
		return;
	}
	r->err = get(r, &f);
	if (!r->err)
		r->err = measure(r, f);
	if (r->err && !r->sentence[0])
		explain(r);
	weir_destroy(f);
	if (r->err)
		store_free_pages(r->store);
	r->changed = file_identify(&after, r->store->path) || !file_same(&after, &r->file);
	/* If the file changed, the slot may have either version, so the leader reads it again. */
	if (!r->changed)
		r->facts.file = r->file;
}
