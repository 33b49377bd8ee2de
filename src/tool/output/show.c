/* SPDX-License-Identifier: MIT
 * Formats figures for people: separators, units, and no more digits than are meaningful. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <weir/params.h>
#include "units.h"

const char *show_count(struct shown *to, uint64_t count)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
	char *out = to->text;
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return to->text;
}

/* Writes three significant digits, such as 1.23, 12.3 or 123. */
static void three_digits(struct shown *to, double value, const char *unit)
{
	int places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	snprintf(to->text, sizeof to->text, "%.*f %s", places, value, unit);
}

static void scaled(struct shown *to, double value, double step, const char *const *units)
{
	while (value >= 999.5 && units[1]) {
		value /= step;
		units++;
	}
	three_digits(to, value, *units);
}

const char *show_short(struct shown *to, double count)
{
	static const char *const units[] = { "", "k", "M", "G", "T", NULL };
	if (count < 999.5)
		snprintf(to->text, sizeof to->text, "%.0f", count);
	else
		scaled(to, count, 1000.0, units);
	return to->text;
}

const char *show_estimate(struct shown *to, double count)
{
	if (isfinite(count))
		return show_short(to, count);
	/* Every bit is set, so the bits do not show the number of keys. */
	strcpy(to->text, "countless");
	return to->text;
}

const char *show_about(struct shown *to, double count)
{
	if (isfinite(count))
		snprintf(to->text, sizeof to->text, "about %.30s", show_short(SHOW, count));
	else
		strcpy(to->text, "too many to estimate"); /* every bit is set */
	return to->text;
}

const char *show_bytes(struct shown *to, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", NULL };
	if (bytes < 1024)
		snprintf(to->text, sizeof to->text, "%llu bytes", (unsigned long long)bytes);
	else
		scaled(to, (double)bytes, 1024.0, units);
	return to->text;
}

const char *show_time(struct shown *to, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };
	if (isnan(ns))
		strcpy(to->text, "-");
	else
		scaled(to, ns, 1000.0, units);
	return to->text;
}

const char *show_rate(struct shown *to, double rate)
{
	snprintf(to->text, sizeof to->text, "%.4g %%", rate * 100.0);
	return to->text;
}

const char *show_clock(struct shown *to, double seconds)
{
	unsigned long s = seconds < 0     ? 0 :
	                  seconds > 3.6e8 ? 360000000 :
	                                    (unsigned long)(seconds + 0.5);
	if (s < 3600)
		snprintf(to->text, sizeof to->text, "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(to->text, sizeof to->text, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60,
		         s % 60);
	return to->text;
}
