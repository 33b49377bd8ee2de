/* SPDX-License-Identifier: MIT
 * Runs the threads of a drill: they start together, run for the time asked, and end together. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "drill.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"
#include "ticks.h"

/* Pins the calling thread to a CPU. Threads take the allowed CPUs in turn, by @number. */
static void pin_to_cpu(unsigned number)
{
	cpu_set_t all, one;
	if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < 1)
		return;
	unsigned nth = number % (unsigned)CPU_COUNT(&all), cpu = 0;
	while (!CPU_ISSET(cpu, &all) || nth-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

struct member {
	struct drill *drill;
	unsigned number; /* from 0: first the readers, then the inserters, last the loader */
	pthread_t id;
};

static void *work(void *arg)
{
	struct member *m = arg;
	struct drill *d = m->drill;
	if (d->pin)
		pin_to_cpu(m->number);
	atomic_fetch_add(&d->ready, 1);
	while (!atomic_load(&d->go))
		sched_yield();
	flavor_enter(&d->flavor);
	if (m->number < d->readers)
		drill_read(&d->reader[m->number]);
	else if (m->number < d->readers + d->inserters)
		drill_insert(&d->inserter[m->number - d->readers]);
	else
		drill_load(d);
	flavor_leave(&d->flavor);
	return NULL;
}

static void draw(const struct drill *d)
{
	uint64_t checked = 0;
	for (unsigned i = 0; i < d->readers; i++)
		checked += atomic_load_explicit(&d->reader[i].checked, memory_order_relaxed);
	double part = drill_part(d), left = d->seconds * (1 - part);
	char figures[120];
	struct drill *counts = (struct drill *)d;
	uint64_t swaps = atomic_load_explicit(&counts->swaps, memory_order_relaxed);
	uint64_t lost = atomic_load_explicit(&counts->lost, memory_order_relaxed);
	snprintf(figures, sizeof figures, "%llu swaps, %s lookups/s, %llu lost, %s left",
	         (unsigned long long)swaps, show_short(SHOW, (double)checked / (d->seconds * part)),
	         (unsigned long long)lost, show_clock(SHOW, left > 0 ? left : 0));
	progress_show(part, figures);
}

/* Draws the progress line until the time is over. If no reload has been published by then, waits
 * until one is published. */
static void wait_for_end(struct drill *d)
{
	progress_begin("drilling");
	while (!atomic_load(&d->over)) {
		struct timespec tenth = { 0, 100000000 };
		double left = d->began + d->seconds - seconds_now();
		if (left > 0 && left < 0.1)
			tenth.tv_nsec = (long)(left * 1e9);
		nanosleep(&tenth, NULL);
		draw(d);
		if (drill_part(d) >= 1 && atomic_load(&d->swaps))
			atomic_store(&d->over, true);
	}
	progress_end();
}

/* Resets the kernel's record of the peak memory. If the reset fails, the reported peak includes the
 * memory that was in use while the keys were read. */
static void reset_peak_memory(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	if (!f)
		return;
	fputs("5", f);
	fclose(f);
}

static uint64_t peak_memory(void)
{
	char line[128];
	unsigned long long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f) && sscanf(line, "VmHWM: %llu", &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib * 1024;
}

int drill_run(struct drill *d)
{
	unsigned threads = d->readers + d->inserters + 1, started = 0;
	struct member *members = xmalloc(threads * sizeof *members);
	d->cpus = threads_default();
	if (getloadavg(&d->load, 1) != 1)
		d->load = 0;
	ticks_start();
	reset_peak_memory();
	for (; started < threads; started++) {
		members[started] = (struct member){ .drill = d, .number = started };
		if (pthread_create(&members[started].id, NULL, work, &members[started]))
			break;
	}
	bool all = started == threads;
	while (atomic_load(&d->ready) < started)
		sched_yield();
	d->began = seconds_now();
	atomic_store(&d->failed, !all);
	atomic_store(&d->over, !all);
	atomic_store(&d->go, true);
	wait_for_end(d);
	d->lasted = seconds_now() - d->began;
	for (unsigned i = 0; i < started; i++)
		pthread_join(members[i].id, NULL);
	free(members);
	d->peak_memory = peak_memory();
	if (!all)
		return trouble("only %u of %u threads could be started", started, threads);
	return atomic_load(&d->failed) ? TOOL_TROUBLE : TOOL_OK;
}
