/* SPDX-License-Identifier: MIT
 * weir replicate publish, rollback, key. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <weir/filter.h>
#include <weir/kinds.h>
#include "commands/commands.h"
#include "images/images.h"
#include "output/say.h"
#include "replicate.h"

extern char **environ;

/* What the library says meanwhile is said at the end, if it failed. */
static void quiet(void *context, int result, const char *sentence)
{
	(void)context, (void)result, (void)sentence;
}

/* Of what is not there a generation alone is refused: else it is a file. */
static int failed(const struct replicate *r, int err)
{
	bool refused = err == -EEXIST || err == -ESTALE || err == -EAGAIN || err == -ENOSPC ||
		       err == -EPERM || err == -EKEYREJECTED || err == -ENOTSUP ||
		       (err == -ENOENT && r->generation);
	say("%s", weir_error_detail());
	return refused ? TOOL_NO : TOOL_TROUBLE;
}

static void tell(const struct replicate *r, struct weir_replica *replica)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	if (r->quiet || weir_replica_measure(replica, &s) != 0)
		return;
	printf("set %s: generation %" PRIu64 "\n", r->options.set, s.newest);
}

static int end_with(const struct replicate *r, struct weir_replica *replica, int status)
{
	int err = weir_replica_close(replica);
	if (err && !status)
		status = failed(r, err);
	(void)weir_handle_destroy(r->options.handle); /* one of the command's own, or NULL */
	return status;
}

static int end(const struct replicate *r, struct weir_replica *replica, int err)
{
	int status = err ? failed(r, err) : TOOL_OK;
	if (!err)
		tell(r, replica);
	return end_with(r, replica, status);
}

static int load(struct weir_filter **out, const struct replicate *r)
{
	const struct image_how how = { .check = true, .max_memory = image_max_memory(),
		                       .secret = r->options.secret };
	return image_load(out, r->arguments[0], &how);
}

/* To join the set failed. */
static int not_open(const struct replicate *r)
{
	int status = trouble("%s", weir_error_detail());
	(void)weir_handle_destroy(r->options.handle);
	return status;
}

/* The generation that redis has; what failed before is said in its own words all the same. */
static bool look(const struct replicate *r, struct weir_replica_generation *g)
{
	char why[512];
	struct weir_replica_view *v;
	snprintf(why, sizeof why, "%s", weir_error_detail());
	bool seen = weir_replica_view(&v, &r->options) == 0;
	if (seen) {
		*g = v->current;
		weir_replica_view_free(v);
	}
	(void)weir_fail(-EIO, "%s", why);
	return seen;
}

/* Of -ENOENT, which also says that a socket, a file of the options or an image is not there: is it
 * that there is no generation? */
static bool is_unpublished(const struct replicate *r)
{
	struct weir_replica_generation g;
	return look(r, &g) && !g.generation && !g.damaged;
}

/* Of -EBADMSG, which an image is, too: is it the manifest? A node that serves makes another. */
static int unreadable(const struct replicate *r)
{
	struct weir_replica_generation g;
	if (!look(r, &g) || !g.damaged)
		return -EBADMSG;
	return weir_fail(-EBADMSG, "%s: a node that serves the set can publish it again; if none "
	                 "does, redis-cli HDEL '{weir:%s}:manifest' text, and then weir replicate "
	                 "publish a file that was saved or followed", weir_error_detail(),
	                 r->options.set);
}

/* The set as it is. Return: 0; 1 there is none; else a negative errno. */
static int open_set(struct replicate *r, struct weir_replica **out)
{
	r->options.report = quiet;
	int err = weir_replica_open(out, &r->options);
	if (err == -EBADMSG)
		return unreadable(r);
	return err == -ENOENT && is_unpublished(r) ? 1 : err;
}

/* A set whose image cannot be had is replaced all the same, by a node that has nothing of it. */
static int open_without_image(struct replicate *r, bool of_keys, struct weir_replica **out)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	r->options.stream_keys = of_keys;
	p.capacity = 1;
	p.fp_rate = 0.01;
	int err = weir_create(&f, &p);
	if (err)
		return err;
	err = weir_handle_create(&r->options.handle, f, NULL);
	if (err)
		weir_destroy(f);
	return err ? err : weir_replica_open(out, &r->options);
}

/* To replace the set, or take it back. Return: as open_set(). */
static int open_to_replace(struct replicate *r, struct weir_replica **out)
{
	struct weir_replica_generation g;
	int err = open_set(r, out);
	if (err >= 0 || !look(r, &g) || g.damaged || !g.generation)
		return err;
	if (err == -EKEYREJECTED)
		return weir_fail(err, "%s: who has the set's keys (--keyed-by, --trusted), or none "
		                 "where it has none, can replace it, and a node that serves it",
		                 weir_error_detail());
	say("%s: it is replaced without it", weir_error_detail());
	return open_without_image(r, g.stream_keys, out);
}

static int copy_of(void *filter, struct weir_filter **out)
{
	return weir_clone(out, filter);
}

enum { PATIENCE_MS = 40000, PIECE_MS = 100 };

/* A node that has just begun may lack batches that redis has lost: it takes a while to find out
 * that nobody sends them. */
static void wait_until_complete(const struct replicate *r, struct weir_replica *replica)
{
	const struct timespec piece = { .tv_nsec = PIECE_MS * 1000000 };
	for (unsigned ms = 0; ms < PATIENCE_MS; ms += PIECE_MS) {
		struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
		if (weir_replica_measure(replica, &s) != 0 || s.complete)
			return;
		if (ms == 20 * PIECE_MS && !r->quiet)
			say("set %s: waits for inserts of others", r->options.set);
		(void)nanosleep(&piece, NULL);
	}
}

/* Whoever else was first meanwhile. What cannot be united with another takes its place. */
static int publish_on_top(struct weir_replica *replica, struct weir_filter *f)
{
	int err = weir_replica_publish_with(replica, f);
	return err == -ENOTSUP ? weir_replica_publish_from(replica, copy_of, f) : err;
}

/* IMAGE is the first generation. */
static int publish_first(struct replicate *r, struct weir_filter *f)
{
	struct weir_handle *handle;
	struct weir_replica *replica;
	struct weir_filter *own;
	int err = weir_clone(&own, f);
	if (!err) {
		err = weir_handle_create(&handle, own, NULL);
		if (err)
			weir_destroy(own);
	}
	if (err)
		return failed(r, err);
	r->options.handle = handle;
	err = weir_replica_open(&replica, &r->options);
	if (err)
		return not_open(r);
	wait_until_complete(r, replica);
	err = publish_on_top(replica, f);
	if (!err && !r->quiet) /* which a name that is mistaken would be, too */
		say("set %s: redis had no generation of it: it begins with this image",
		    r->options.set);
	return end(r, replica, err);
}

static int publish_own(const struct replicate *r, struct weir_replica *replica,
                       const struct weir_filter *f)
{
	wait_until_complete(r, replica);
	return weir_replica_publish_with(replica, f);
}

static int publish_more(struct replicate *r)
{
	struct weir_replica *replica;
	struct weir_filter *f;
	if (load(&f, r) != 0)
		return TOOL_TROUBLE;
	int err = open_set(r, &replica);
	int status = err == 1 ? publish_first(r, f) :
	             err      ? not_open(r) :
	                        end(r, replica, publish_own(r, replica, f));
	weir_destroy(f);
	return status;
}

/* ---- --replace ---- */

static int run(char **command)
{
	pid_t pid;
	int status, err = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);
	if (err)
		return weir_fail(-err, "%s: %s", command[0], strerror(err));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return weir_fail(-errno, "%s: cannot be waited for", command[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return weir_fail(-EINVAL, "%s: ended by %s %d: nothing is published", command[0],
	                 WIFEXITED(status) ? "exit status" : "signal",
	                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

struct instead {
	struct replicate *r;
	struct weir_replica *replica;
	bool failed;       /* the command, or its image, which was said */
	char becomes[256]; /* how the set is another then; "": it is not */
};

/* A record that grows may need a larger filter, and a mistake in COMMAND makes another one: nodes
 * take either, and whoever published it is to see which. */
static void compare(struct instead *i, const struct weir_filter *f)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan old = WEIR_PLAN_INIT, new = WEIR_PLAN_INIT;
	if (i->r->quiet || i->r->options.handle || weir_replica_params(i->replica, &params) != 0 ||
	    weir_plan_make(&params, &old) != 0 || weir_params_of(f, &params) != 0 ||
	    weir_plan_make(&params, &new) != 0)
		return; /* of one that has grown, or came from elsewhere, there are none */
	if (old.shape.kind == new.shape.kind && old.capacity == new.capacity &&
	    old.bytes == new.bytes)
		return;
	snprintf(i->becomes, sizeof i->becomes, "%s of %" PRIu64 " keys at %.3g -> %s of %" PRIu64
	         " keys at %.3g", weir_kind_name(old.shape.kind), old.capacity, old.fp_rate,
	         weir_kind_name(new.shape.kind), new.capacity, new.fp_rate);
}

static int make(void *context, struct weir_filter **out)
{
	struct instead *i = context;
	int err = run(i->r->arguments + 1);
	if (err)
		say("%s", weir_error_detail());
	else
		err = load(out, i->r);
	i->failed = err != 0;
	if (!err)
		compare(i, *out);
	return err;
}

static int publish_instead(struct replicate *r)
{
	struct weir_replica *replica;
	if (r->count < 2)
		return misuse("--replace: behind IMAGE stands -- and the command that makes it");
	int err = open_to_replace(r, &replica);
	if (err == 1)
		return trouble("set %s: redis has no generation of it: publish an image first, "
		               "whose seed the others are to have", r->options.set);
	if (err)
		return not_open(r);
	struct instead i = { r, replica, false, "" };
	err = weir_replica_publish_from(replica, make, &i);
	if (!err && i.becomes[0])
		say("set %s: it becomes another: %s", r->options.set, i.becomes);
	return i.failed ? end_with(r, replica, TOOL_TROUBLE) : end(r, replica, err);
}

int replicate_publish(struct replicate *r)
{
	r->options.passing = true;
	if (r->count == 0)
		return misuse("the image is missing");
	if (r->replace)
		return publish_instead(r);
	if (r->count > 1)
		return misuse("one image at a time: weir merge unites them; with --replace a "
		              "command that makes it stands behind --");
	return publish_more(r);
}

int replicate_rollback(struct replicate *r)
{
	struct weir_replica *replica;
	if (!r->generation)
		return misuse("--generation=N is missing: weir replicate status shows what is "
		              "kept");
	if (r->count)
		return misuse("'%s' is too much", r->arguments[0]);
	if (!r->options.keep) /* what could have been returned to is not lost by a wrong guess */
		r->options.keep = WEIR_REPLICA_KEEP_MOST;
	r->options.passing = true;
	int err = open_to_replace(r, &replica);
	if (err == 1)
		return trouble("set %s: redis has no generation of it that another could follow: "
		               "publish an image first (weir replicate publish IMAGE), by the "
		               "seed of the one to return to", r->options.set);
	return err ? not_open(r) :
	             end(r, replica, weir_replica_rollback(replica, r->generation));
}

int replicate_key(struct replicate *r)
{
	if (r->count != 2)
		return misuse("the names of two files are needed: secret, public");
	int err = weir_replica_key_make(r->arguments[0], r->arguments[1]);
	return err ? failed(r, err) : TOOL_OK;
}
