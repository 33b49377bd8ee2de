/* SPDX-License-Identifier: MIT
 * One metric after the other, each with the lines of all images, as the format wants it. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"
#include "say.h"

/* The value of an image; NAN: none, since its bits were not looked at. */
#define METRICS(X) \
	X("capacity_keys", "Keys that the image was made for.", (double)s->info.capacity) \
	X("keys", "Distinct keys, estimated from the bits.", bits ? s->stats.keys_estimated : NAN) \
	X("fill_ratio", "Share of bits set, or of counters above 0.", bits ? s->stats.fill : NAN) \
	X("counters_full", "Counters at their largest value, which change no more.", \
	  bits && has_counters(s->info.shape.kind) ? \
		  (double)s->stats.counters_stuck : \
		  NAN) \
	X("fp_rate", "Share of absent keys answered with yes, estimated.", \
	  bits ? s->stats.fp_rate_estimated : NAN) \
	X("fp_rate_asked", "Share that the image was made for.", s->info.fp_rate) \
	X("saturated", "Whether there are more keys than the capacity.", \
	  bits ? (double)s->stats.saturated : NAN) \
	X("generation", "The generation of the image.", (double)s->info.generation) \
	X("bytes", "Bytes of bits.", (double)s->info.bytes) \
	X("file_bytes", "Bytes of the file.", (double)s->info.file_bytes) \
	X("live", "Whether it is mapped live and not sealed.", s->info.live) \
	X("modified_seconds", "When the file was modified, in seconds since 1970.", \
	  (double)s->modified.tv_sec + (double)s->modified.tv_nsec * 1e-9)

/* Escaped twice: for whoever reads it, and by the rules of the format. */
static void put_label(const char *path, FILE *to)
{
	char *shown = plain_copy(path);
	for (const char *at = shown; *at; at++) {
		if (strchr("\\\"", *at))
			putc('\\', to);
		putc(*at, to);
	}
	free(shown);
}

static void put_line(const char *name, const char *path, double value, FILE *to)
{
	if (isnan(value))
		return;
	fprintf(to, "weir_image_%s{image=\"", name);
	put_label(path, to);
	if (isinf(value))
		fputs("\"} +Inf\n", to);
	else
		fprintf(to, "\"} %.15g\n", value);
}

static void put_head(const char *name, const char *help, FILE *to)
{
	fprintf(to, "# HELP weir_image_%s %s\n# TYPE weir_image_%s gauge\n", name, help, name);
}

void prometheus_print(const struct sample *samples, size_t n, FILE *to)
{
#define METRIC(name, help, value) \
	for (size_t i = 0, headed = 0; i < n; i++) { \
		const struct sample *s = &samples[i]; \
		const bool bits = s->stats.sampled > 0; \
		(void)bits; \
		const double figure = value; \
		if (!isnan(figure) && !headed++) \
			put_head(name, help, to); \
		put_line(name, s->path, figure, to); \
	}
	METRICS(METRIC)
#undef METRIC
}
