/* SPDX-License-Identifier: MIT
 * Prints the report of a drill: first a table that compares the two phases, then the other
 * figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "drill.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"
#include "ticks.h"

/* The figures of all threads in one phase. A figure without a measurement is NAN. */
struct phase {
	double lookups, inserts; /* per second and thread */
	double p50, p99, p999, most; /* ns */
	double timed; /* number of lookups that were timed */
};

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static struct phase phase_of(const struct drill *d, unsigned with, double ns)
{
	struct histogram *all = xzalloc_lines(sizeof *all);
	uint64_t lookups = 0, reading = 0, inserts = 0, inserting = 0;
	for (unsigned i = 0; i < d->readers; i++) {
		histogram_merge(all, &d->reader[i].latency[with]);
		lookups += d->reader[i].lookups[with];
		reading += d->reader[i].ticks[with];
	}
	for (unsigned i = 0; i < d->inserters; i++) {
		inserts += d->inserter[i].made[with];
		inserting += d->inserter[i].ticks[with];
	}
	double none = all->total ? ns : NAN;
	struct phase p = { .lookups = ratio((double)lookups * 1e9, (double)reading * ns),
	                   .inserts = ratio((double)inserts * 1e9, (double)inserting * ns),
	                   .p50 = histogram_quantile(all, 0.5) * none,
	                   .p99 = histogram_quantile(all, 0.99) * none,
	                   .p999 = histogram_quantile(all, 0.999) * none,
	                   .most = (double)all->most * none,
	                   .timed = (double)all->total };
	free(all);
	return p;
}

static const char *show_some(struct shown *to, double value)
{
	return isnan(value) ? "-" : show_short(to, value);
}

/* Shows a ratio above 100 as "over 100". The ratio of the longest lookups is often in the
 * thousands, after a single wait for a CPU, and then has no meaning. */
static const char *show_ratio(struct shown *to, double value)
{
	snprintf(to->text, sizeof to->text,
	         isnan(value) ? "-" : value > 100 ? "over 100" : "%.2f", value);
	return to->text;
}

static void row(struct table *t, const char *what, const char *without, const char *with, double of)
{
	table_add(t, "  %s", what);
	table_add(t, "%s", without);
	table_add(t, "%s", with);
	table_add(t, "%s", show_ratio(SHOW, of));
}

static void print_phases(const struct phase *p)
{
	struct table t = TABLE_INIT("lrrr");
	table_add(&t, "%s", "");
	table_add(&t, "without reload");
	table_add(&t, "during reloads");
	table_add(&t, "ratio");
	row(&t, "lookups/s, each reader", show_some(SHOW, p[0].lookups),
	    show_some(SHOW, p[1].lookups), ratio(p[1].lookups, p[0].lookups));
	row(&t, "inserts/s, each inserter", show_some(SHOW, p[0].inserts),
	    show_some(SHOW, p[1].inserts), ratio(p[1].inserts, p[0].inserts));
	row(&t, "a lookup takes: median", show_time(SHOW, p[0].p50), show_time(SHOW, p[1].p50),
	    ratio(p[1].p50, p[0].p50));
	row(&t, "  99 % take at most", show_time(SHOW, p[0].p99), show_time(SHOW, p[1].p99),
	    ratio(p[1].p99, p[0].p99));
	row(&t, "  99.9 % take at most", show_time(SHOW, p[0].p999), show_time(SHOW, p[1].p999),
	    ratio(p[1].p999, p[0].p999));
	row(&t, "  the longest", show_time(SHOW, p[0].most), show_time(SHOW, p[1].most),
	    ratio(p[1].most, p[0].most));
	table_print(&t, stdout);
	table_free(&t);
}

static json_t *real(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *phase_json(const struct phase *p, double seconds)
{
	json_t *j = json_object();
	json_put(j, "seconds", json_real(seconds));
	json_put(j, "lookups_per_second", real(p->lookups));
	json_put(j, "inserts_per_second", real(p->inserts));
	json_put(j, "p50_ns", real(p->p50));
	json_put(j, "p99_ns", real(p->p99));
	json_put(j, "p999_ns", real(p->p999));
	json_put(j, "max_ns", real(p->most));
	json_put(j, "timed_lookups", json_integer((json_int_t)p->timed));
	return j;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void swaps(struct report *r, const struct drill *d)
{
	const struct loads *l = &d->loads;
	qsort(l->seconds, l->n, sizeof *l->seconds, by_size);
	double median = l->n ? l->seconds[l->n / 2] : 0, most = l->n ? l->seconds[l->n - 1] : 0;
	report_count(r, "swaps", NULL, atomic_load(&((struct drill *)d)->swaps));
	report_count(r, "rollbacks", NULL, l->rollbacks);
	report_count(r, "aborted", NULL, l->aborted);
	report_real(r, "reload_seconds_median", NULL, median);
	report_real(r, "reload_seconds_max", NULL, most);
	report_text(r, "reload_by", NULL, d->by_copy ? "copy" : "source");
	report_real(r, "pace", NULL, d->pace);
	report_line(r, "swaps", "%llu%s; a reload %s%s takes %s (median), %s at most",
	            (unsigned long long)atomic_load(&((struct drill *)d)->swaps),
	            l->rollbacks ? ", some of them rollbacks" : "",
	            d->by_copy ? "by copy" : "from the source",
	            d->pace > 0 ? " at its pace" : "", show_time(SHOW, median * 1e9),
	            show_time(SHOW, most * 1e9));
}

static void lost(struct report *r, const struct drill *d)
{
	uint64_t checked = d->checked_at_end, inserts = 0;
	uint64_t all = atomic_load(&((struct drill *)d)->lost);
	for (unsigned i = 0; i < d->readers; i++)
		checked += atomic_load(&d->reader[i].checked);
	for (unsigned i = 0; i < d->inserters; i++)
		inserts += d->inserter[i].made[0] + d->inserter[i].made[1];
	report_count(r, "source_keys", NULL, d->n);
	report_count(r, "inserts", NULL, inserts);
	report_line(r, "keys", "%s of the files, %s inserted during the run",
	            show_count(SHOW, d->n), show_count(SHOW, inserts));
	report_count(r, "checks", NULL, checked);
	report_count(r, "lost", NULL, all);
	report_count(r, "lost_at_end", NULL, d->lost_at_end);
	report_line(r, "lost", "%s, of %s lookups that had to find their key",
	            show_count(SHOW, all), show_count(SHOW, checked));
	report_bool(r, "overfull", NULL, d->stats.fill > 0.5);
	if (d->stats.fill > 0.5)
		report_line(r, "",
		            "but %.0f %% of the bits are set: another key's bits may hide a lost "
		            "one, so this proves less (see -n)",
		            100 * d->stats.fill);
}

static void filter(struct report *r, const struct drill *d)
{
	report_rate(r, "fp_rate", NULL, d->stats.fp_rate);
	report_rate(r, "fp_rate_measured", NULL, d->probe.rate);
	report_rate(r, "fp_rate_worst_reload", NULL, d->loads.fp_rate_most);
	report_rate(r, "fill", NULL, d->stats.fill);
	report_count(r, "capacity", NULL, d->stats.capacity);
	if (probe_tells(&d->stats))
		report_line(r, "rate",
		            "%s asked, %s measured at the end, %s at most before a swap; %.0f %% "
		            "of the bits set", show_rate(SHOW, d->stats.fp_rate),
		            show_rate(SHOW, d->probe.rate), show_rate(SHOW, d->loads.fp_rate_most),
		            100 * d->stats.fill);
	else
		report_line(r, "rate", "%s asked; not measured: under %s keys that says little",
		            show_rate(SHOW, d->stats.fp_rate), show_count(SHOW, PROBE_KEYS));
	report_count(r, "filter_bytes", NULL, d->stats.bytes);
	report_count(r, "filter_bytes_peak", NULL, d->loads.bytes_most);
	report_count(r, "peak_memory_bytes", NULL, d->peak_memory);
	report_line(r, "memory",
	            "%s a filter, %s of filters at the peak, %s of memory in all (8 bytes a key of "
	            "the files, 8 an insert)",
	            show_bytes(SHOW, d->stats.bytes), show_bytes(SHOW, d->loads.bytes_most),
	            show_bytes(SHOW, d->peak_memory));
}

static void machine(struct report *r, const struct drill *d, double ns)
{
	unsigned threads = d->readers + d->inserters + 1;
	bool crowded = threads > d->cpus;
	report_text(r, "flavor", NULL, d->flavor.name);
	report_count(r, "readers", NULL, d->readers);
	report_count(r, "inserters", NULL, d->inserters);
	report_count(r, "cpus", NULL, d->cpus);
	report_bool(r, "crowded", NULL, crowded);
	report_real(r, "load_average", NULL, d->load);
	report_bool(r, "pinned", NULL, d->pin);
	report_real(r, "seconds", NULL, d->lasted);
	report_real(r, "clock_cost_ns", NULL, (double)ticks.cost * ns);
	report_line(r, "threads", "%u reader%s, %u inserter%s, 1 loader on %u CPU%s, urcu-%s%s",
	            d->readers, d->readers == 1 ? "" : "s", d->inserters,
	            d->inserters == 1 ? "" : "s", d->cpus, d->cpus == 1 ? "" : "s", d->flavor.name,
	            d->pin ? ", pinned" : "");
	if (crowded)
		report_line(r, "",
		            "more threads than CPUs: the figures hold waits for a CPU, and the "
		            "ratios say how it was shared");
	if (d->load > 0.5)
		report_line(r, "",
		            "the load average was %.1f before the drill began: others' work may be "
		            "in the figures too",
		            d->load);
	report_line(r, "clock", "%s, %.1f ns a reading, taken off",
	            ticks.counter ? "the CPU's counter" : "clock_gettime", (double)ticks.cost * ns);
}

void drill_report(const struct drill *d)
{
	double ns = ticks_ns();
	struct phase phases[2] = { phase_of(d, 0, ns), phase_of(d, 1, ns) };
	struct report r = report_new();
	json_put(r.json, "without_reload", phase_json(&phases[0], d->lasted - d->loads.busy));
	json_put(r.json, "during_reloads", phase_json(&phases[1], d->loads.busy));
	json_put(r.json, "lookups_ratio", real(ratio(phases[1].lookups, phases[0].lookups)));
	swaps(&r, d);
	lost(&r, d);
	filter(&r, d);
	machine(&r, d, ns);
	if (!d->as_json)
		print_phases(phases);
	report_print(&r, d->as_json, stdout);
	report_free(&r);
}
