/* SPDX-License-Identifier: MIT
 * What is done to keys, for people and as JSON. */
#include <stdio.h>
#include "normal_report.h"
#include "say.h"
#include "show.h"

enum { TEXT = 1024 };

static const char *const names[] = { "trim", "lowercase", "cidr", "suffixes" };
#define STEPS (sizeof names / sizeof *names)

/* The bits below @n that are set: "8 16-24". */
static const char *runs(char text[TEXT], const uint64_t *words, unsigned n)
{
	size_t at = 0;
	text[0] = 0;
	for (unsigned i = 0, from; i < n; i++) {
		for (from = i; i < n && words[i / 64] >> i % 64 & 1; i++)
			;
		if (i == from)
			continue;
		at += (size_t)snprintf(text + at, TEXT - at, i - from > 1 ? "%s%u-%u" : "%s%u",
		                       at ? " " : "", from, i - 1);
	}
	return text;
}

static void report_runs(struct report *r, const char *name, const char *label,
                        const uint64_t *words, unsigned n)
{
	char text[TEXT];
	runs(text, words, n);
	if (text[0])
		report_text(r, name, label, text);
}

const char *normal_steps(char text[NORMAL_STEPS], uint32_t steps)
{
	size_t at = 0;
	for (unsigned i = 0; i < STEPS; i++)
		if (steps >> i & 1)
			at += (size_t)snprintf(text + at, NORMAL_STEPS - at, "%s%s",
			                       at ? ", " : "", names[i]);
	if (!at)
		snprintf(text, NORMAL_STEPS, "nothing");
	return text;
}

const char *normal_options(char text[NORMAL_STEPS], uint32_t steps)
{
	size_t at = 0;
	for (unsigned i = 0; i < STEPS; i++)
		if (steps >> i & 1)
			at += (size_t)snprintf(text + at, NORMAL_STEPS - at, "%s--%s",
			                       at ? " " : "", names[i]);
	if (!at)
		snprintf(text, NORMAL_STEPS, "--plain-keys");
	return text;
}

const char *rate_label(const struct weir_normal *n)
{
	return weir_normal_most(n) > 1 ? "rate of one lookup" : "rate asked";
}

void report_normal(struct report *r, const struct weir_normal *n, double rate)
{
	char steps[NORMAL_STEPS];
	if (!n->steps)
		return;
	report_text(r, "normalised", "done to keys", normal_steps(steps, n->steps));
	report_runs(r, "ipv4_lengths", "IPv4 lengths", &n->ipv4, 33);
	report_runs(r, "ipv6_lengths", "IPv6 lengths", n->ipv6, 129);
	report_runs(r, "labels", "labels of domains", n->labels, 128);
	uint32_t most = weir_normal_most(n);
	report_count(r, "lookups", most > 1 ? "lookups an answer" : NULL, most);
	report_rate(r, "fp_rate_answer", most > 1 ? "rate of an answer" : NULL, rate * most);
}

void normal_raised(const char *path, const struct weir_normal *before,
                   const struct weir_normal *now, double rate)
{
	const uint32_t had = weir_normal_most(before), has = weir_normal_most(now);
	if (has > had)
		say("%s: an answer takes %u lookups now, and took %u: its rate is up to %s, not "
		    "%s; weir build makes a set for the rate that is asked",
		    path, has, had, show_rate(SHOW, has * rate), show_rate(SHOW, had * rate));
}
