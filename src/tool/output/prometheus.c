/* SPDX-License-Identifier: MIT
 * Prints the metrics of images. weir_metrics_write() gets one object for each image. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"
#include "say.h"

#define GAUGE(name, help, value) { "weir_image_" name, help, (double)(value), 0, 0 }

static int next_of_image(const void *object, uint32_t i, struct weir_metric *out)
{
	const struct sample *s = object;
	/* If the bits were not read, the figures that need the bits are NAN, and
	 * weir_metrics_write() prints no line for a NAN. */
	const bool bits = s->stats.sampled > 0;
	const struct weir_metric of[] = {
		GAUGE("capacity_keys", "Keys that the image was made for.", s->info.capacity),
		GAUGE("keys", "Distinct keys, estimated from the bits.",
		      bits ? s->stats.keys_estimated : NAN),
		GAUGE("fill_ratio", "Share of bits set, or of counters above 0.",
		      bits ? s->stats.fill : NAN),
		GAUGE("counters_full", "Counters at their largest value, which change no more.",
		      bits && has_counters(s->info.shape.kind) ?
			      (double)s->stats.counters_stuck :
			      NAN),
		GAUGE("fp_rate", "Share of absent keys that one probe answers with yes, estimated.",
		      bits ? s->stats.fp_rate_estimated : NAN),
		GAUGE("fp_rate_asked", "Share that the image was made for.", s->info.fp_rate),
		GAUGE("lookups", "Most keys that the lookup of one text probes.",
		      weir_text_most(&s->info.text)),
		GAUGE("saturated", "Whether there are more keys than the capacity.",
		      bits ? (double)s->stats.saturated : NAN),
		GAUGE("hashes_uneven", "Whether it was filled by hashes that are not uniform.",
		      bits ? (double)(s->stats.hashes_uneven == WEIR_UNEVEN_YES) : NAN),
		GAUGE("generation", "The generation of the image.", s->info.generation),
		GAUGE("bytes", "Bytes of bits.", s->info.bytes),
		GAUGE("file_bytes", "Bytes of the file.", s->info.file_bytes),
		GAUGE("live", "Whether it is mapped live and not sealed.", s->info.live),
		GAUGE("modified_seconds", "When the file was modified, in seconds since 1970.",
		      (double)s->modified.tv_sec + (double)s->modified.tv_nsec * 1e-9),
	};
	if (i >= sizeof of / sizeof *of)
		return 0;
	*out = of[i];
	return 1;
}

/* Return: the label image="PATH", which the caller frees. The path is escaped for terminals, and
 * then by the rules of Prometheus's text format. */
static char *label_of(const char *path)
{
	char *shown = plain_copy(path);
	char *label = xmalloc(2 * strlen(shown) + sizeof "image=\"\""), *to = label;
	to = stpcpy(to, "image=\"");
	for (const char *at = shown; *at; at++) {
		if (strchr("\\\"", *at))
			*to++ = '\\';
		*to++ = *at;
	}
	strcpy(to, "\"");
	free(shown);
	return label;
}

void prometheus_print(const struct sample *samples, size_t n, FILE *to)
{
	struct weir_metrics *of = xmalloc((n + 1) * sizeof *of);
	char **labels = xmalloc((n + 1) * sizeof *labels);
	for (size_t i = 0; i < n; i++) {
		labels[i] = label_of(samples[i].path);
		of[i] = weir_metrics_other(&samples[i], next_of_image, labels[i]);
	}
	prometheus_write(of, n, to);
	for (size_t i = 0; i < n; i++)
		free(labels[i]);
	free(labels);
	free(of);
}

void prometheus_write(const struct weir_metrics *of, size_t n, FILE *to)
{
	int64_t bytes = weir_metrics_write(of, n, NULL, 0);
	char *text = bytes < 0 ? NULL : xmalloc((size_t)bytes + 1);
	if (!text || weir_metrics_write(of, n, text, (size_t)bytes + 1) != bytes) {
		say("%s", weir_error_detail());
		exit(TOOL_TROUBLE);
	}
	fputs(text, to);
	free(text);
}
