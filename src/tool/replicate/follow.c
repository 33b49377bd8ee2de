/* SPDX-License-Identifier: MIT
 * weir replicate follow: each generation becomes a file, which servers follow. */
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weir/image.h>
#include "../images.h"
#include "../say.h"
#include "../tool.h"
#include "replicate.h"

static void report(void *context, int result, const char *sentence)
{
	const struct replicate *r = context;
	if (result != 1 || !r->quiet)
		say("%s", sentence);
}

/* Write the file if there is another generation than the one in it, or if it was removed. */
static int save(const struct replicate *r, struct weir_replica *replica, uint64_t *saved)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	int err = weir_replica_stats(replica, &s);
	if (err || (s.generation == *saved && access(r->output, F_OK) == 0))
		return err;
	o.zstd_level = r->zstd_level;
	o.generation = s.generation;
	err = weir_replica_save(replica, r->output, &o);
	if (!err)
		*saved = s.generation;
	return err;
}

/* Until a signal ends it. A file that cannot be written now is tried again. */
static void follow(const struct replicate *r, struct weir_replica *replica, const sigset_t *ends,
                   uint64_t saved)
{
	const struct timespec piece = { .tv_nsec = 200000000 };
	int last = 0;
	while (sigtimedwait(ends, NULL, &piece) < 0) {
		int err = save(r, replica, &saved);
		if (err && err != last)
			say_weir(err, r->output);
		last = err;
	}
}

/* As weir build: what is no image was not made by this. */
static bool is_replaceable(const char *path)
{
	struct stat st;
	return stat(path, &st) != 0 || st.st_size == 0 || image_begins(path);
}

int replicate_follow(struct replicate *r)
{
	struct weir_replica *replica;
	sigset_t ends;
	if (!r->output || r->count)
		return r->count ? misuse("'%s' is too much", r->arguments[0]) :
		                  misuse("-o FILE is missing");
	if (!is_replaceable(r->output))
		return trouble("%s: it is neither empty nor an image: it stays", r->output);
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
	uint64_t saved = 0;
	err = save(r, replica, &saved);
	if (err) {
		int status = trouble_weir(err, r->output);
		(void)weir_replica_close(replica);
		return status;
	}
	follow(r, replica, &ends, saved);
	err = weir_replica_close(replica);
	return err ? trouble("%s", weir_error_detail()) : TOOL_OK;
}
