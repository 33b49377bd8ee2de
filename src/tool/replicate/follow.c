/* SPDX-License-Identifier: MIT
 * weir replicate follow: each generation becomes a file, which servers follow. */
#include <signal.h>
#include <time.h>
#include <weir/image.h>
#include "../say.h"
#include "../tool.h"
#include "replicate.h"

static void report(void *context, int result, const char *sentence)
{
	const struct replicate *r = context;
	if (result != 1 || !r->quiet)
		say("%s", sentence);
}

/* Write the file if there is another generation than the one in it. */
static int save(const struct replicate *r, struct weir_replica *replica, uint64_t *saved)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	int err = weir_replica_stats(replica, &s);
	if (err || s.generation == *saved)
		return err;
	o.zstd_level = r->zstd_level;
	o.generation = s.generation;
	err = weir_replica_save(replica, r->output, &o);
	if (!err)
		*saved = s.generation;
	return err;
}

/* Until a signal ends it. A file that cannot be written now is tried again. */
static void follow(const struct replicate *r, struct weir_replica *replica, const sigset_t *ends)
{
	const struct timespec piece = { .tv_nsec = 200000000 };
	uint64_t saved = 0;
	int last = 0;
	do {
		int err = save(r, replica, &saved);
		if (err && err != last)
			say_weir(err, r->output);
		last = err;
	} while (sigtimedwait(ends, NULL, &piece) < 0);
}

int replicate_follow(struct replicate *r)
{
	struct weir_replica *replica;
	sigset_t ends;
	if (!r->output || r->count)
		return r->count ? misuse("'%s' is too much", r->arguments[0]) :
		                  misuse("-o FILE is missing");
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	r->options.report = report;
	r->options.context = r;
	int err = weir_replica_open(&replica, &r->options);
	if (err)
		return trouble("%s", weir_error_detail());
	follow(r, replica, &ends);
	err = weir_replica_close(replica);
	return err ? trouble("%s", weir_error_detail()) : TOOL_OK;
}
