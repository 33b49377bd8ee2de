/* SPDX-License-Identifier: MIT
 * weir replicate publish, rollback and key. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weir/filter.h>
#include <weir/kinds.h>
#include "commands/commands.h"
#include "images/images.h"
#include "output/say.h"
#include "replicate.h"

extern char **environ;

/* A callback that reports nothing, since the command prints the last error itself when it ends. */
static void quiet(void *context, int result, const char *sentence)
{
	(void)context, (void)result, (void)sentence;
}

/* Leaves the set. @replica: NULL if this node has not joined. @err: a negative errno, or an exit
 * status after a message. In a rollback, -ENOENT means a missing generation, which is a refusal
 * (TOOL_NO). In other commands, -ENOENT means a missing file. Return: the exit status. */
static int leave_set(const struct replicate *r, struct weir_replica *replica, int err)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	const bool refused = err == -EEXIST || err == -ESTALE || err == -EAGAIN ||
	                     err == -ENOSPC || err == -EKEYREJECTED ||
	                     err == -ENOTSUP || err == -EINVAL ||
	                     (err == -ENOENT && r->generation.era);
	int status = err >= 0 ? err : replica && refused ? TOOL_NO : TOOL_TROUBLE;
	if (err == -EINVAL && replica) /* weir_merge() refused IMAGE */
		say("%s: build the image as the set's is (weir build --like)", weir_error_detail());
	else if (err < 0)
		say("%s", weir_error_detail());
	else if (!err && !r->quiet && weir_replica_measure(replica, &s) == 0)
		printf("set %s: generation " VERSION "\n", r->options.set, VERSION_OF(s.newest));
	err = weir_replica_close(replica);
	if (err && !status)
		status = trouble("%s", weir_error_detail());
	(void)weir_handle_destroy(r->options.handle); /* the command's own handle, or NULL */
	return status;
}

static int load(struct weir_filter **out, const struct replicate *r)
{
	const struct image_how how = { .check = true, .max_memory = image_max_memory(),
		                       .secret = r->options.secret };
	return image_load(out, r->arguments[0], &how);
}

/* Return: the state of the set in redis, or NULL if redis cannot be read. In both cases, the
 * library's message of the last error stays as it was. */
static struct weir_replica_view *view_set(const struct replicate *r)
{
	char why[WEIR_SENTENCE_BYTES];
	struct weir_replica_view *v = NULL;
	snprintf(why, sizeof why, "%s", weir_error_detail());
	int err = weir_replica_view(&v, &r->options);
	(void)weir_fail(-EIO, "%s", why);
	return err ? NULL : v;
}

/* Joins with a node that starts from a copy of @f and does not wait for redis. */
static int open_with(struct replicate *r, const struct weir_filter *f, struct weir_replica **out)
{
	struct weir_filter *own;
	int err = weir_clone(&own, f);
	if (err)
		return err;
	err = weir_handle_create(&r->options.handle, own, NULL);
	if (err)
		weir_destroy(own);
	return err ? err : weir_replica_open(out, &r->options);
}

/* Joins in order to replace a generation that cannot be joined, because redis has lost its image or
 * was restored to a version that this machine refuses. The node starts from the file IMAGE, which
 * should have the set's seed. Return: as weir_replica_open(), or @err if IMAGE is missing or does
 * not load. */
static int open_from_file(struct replicate *r, int err, struct weir_replica **out)
{
	char why[WEIR_SENTENCE_BYTES];
	struct weir_filter *f;
	snprintf(why, sizeof why, "%s", weir_error_detail());
	if (access(r->arguments[0], F_OK) != 0 || load(&f, r) != 0)
		return weir_fail(err, "%s", why);
	say("%s: it is replaced without it", why);
	err = open_with(r, f, out);
	weir_destroy(f);
	return err;
}

/* Joins the set. After -ENOENT or -EBADMSG, asks redis whether the generation itself is missing or
 * damaged, since a missing socket, file or image and a damaged image give the same errno. Return:
 * 0; 1 if redis has no generation; else a negative errno. */
static int open_set(struct replicate *r, struct weir_replica **out)
{
	r->options.report = quiet;
	int err = weir_replica_open(out, &r->options);
	struct weir_replica_view *v = err == -ENOENT || err == -EBADMSG ? view_set(r) : NULL;
	if (v && v->current.damaged)
		err = weir_fail(err, "%s: let a node that has the set publish it, or redis-cli DEL "
		                "'{weir:%s}:2:head' and publish a saved or followed file (weir "
		                "replicate publish)", weir_error_detail(),
		                r->options.set);
	else if (v && !v->current.version.era)
		err = 1;
	else if (r->replace && (v || (err == -EKEYREJECTED && r->options.secret_key)))
		err = open_from_file(r, err, out);
	weir_replica_view_free(v);
	return err;
}

static int copy_of(void *filter, struct weir_filter **out)
{
	return weir_clone(out, filter);
}

/* Publishes IMAGE as the first generation. If the newest generation is not of era 1, or if its
 * number is not the number of generations that this node has published, another node was first.
 * This node has then joined that node's generation, and adds IMAGE to it. If the kind cannot merge,
 * this node replaces the set by IMAGE instead. */
static int publish_first(struct replicate *r, struct weir_replica *replica, struct weir_filter *f)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	int err = weir_replica_measure(replica, &s);
	if (!err && !s.published) /* else the node has published since it was opened */
		err = weir_replica_publish(replica);
	if (!err)
		err = weir_replica_measure(replica, &s);
	if (!err && (s.newest.era != 1 || s.newest.number != s.published))
		err = weir_replica_publish_with(replica, f);
	if (err == -ENOTSUP)
		err = weir_replica_publish_from(replica, copy_of, f);
	if (!err && !r->quiet) /* This message also shows a mistyped name. */
		say("set %s: redis had no generation of it: it begins with this image",
		    r->options.set);
	return err;
}

static int publish_more(struct replicate *r)
{
	struct weir_replica *replica = NULL;
	struct weir_filter *f;
	if (load(&f, r) != 0)
		return TOOL_TROUBLE;
	int err = open_set(r, &replica);
	const bool first = err == 1, older = err == -EKEYREJECTED && r->options.secret_key;
	/* If @older, redis has an older version than this machine has accepted, so open_set() has
	 * failed. A node that starts from IMAGE can publish a version newer than both of these
	 * versions. */
	if (first || older)
		err = open_with(r, f, &replica);
	if (!err)
		err = first ? publish_first(r, replica, f) : weir_replica_publish_with(replica, f);
	if (!err && older && !r->quiet)
		say("set %s: redis had been put back, so keys that were inserted since may be "
		    "missing: see that the nodes run that had them", r->options.set);
	weir_destroy(f);
	return leave_set(r, replica, err);
}

/* ---- removing keys: --replace, rollback ---- */

/* Refuses if a node that has reported within SILENT seconds has keys that redis lacks. Such a node
 * would merge its whole set into the new set, and so bring removed keys back. --force skips this
 * check. Return: TOOL_OK, or TOOL_NO after a message. */
static int check_owing_nodes(const struct replicate *r)
{
	struct weir_replica_view *v = r->force ? NULL : view_set(r);
	int status = TOOL_OK;
	for (size_t i = 0; v && i < v->node_count && !status; i++) {
		const struct weir_replica_node *n = &v->nodes[i];
		if (!n->owes || n->age > SILENT)
			continue;
		say("node %016" PRIx64 " (%s) holds keys that redis lacks, and would bring back "
		    "what is to be removed: wait until it has published them, or if it is meant, "
		    "--force", n->node, n->host);
		status = TOOL_NO;
	}
	weir_replica_view_free(v);
	return status;
}

/* Joins the set to replace it. Return: as open_set(), or an exit status after a message. */
static int open_to_replace(struct replicate *r, struct weir_replica **out)
{
	int err = open_set(r, out);
	if (err == 1 && !r->replace)
		return trouble("set %s: there is no such set at this redis: is this its name?",
		               r->options.set);
	if (err == 1)
		return trouble("set %s: redis has no generation of it: publish an image first "
		               "(weir replicate publish IMAGE), whose seed the others are to have",
		               r->options.set);
	return err ? err : check_owing_nodes(r);
}

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

struct replacement {
	struct replicate *r;
	struct weir_replica *replica;
	bool failed;       /* COMMAND failed or its image did not load; a message was printed */
	char becomes[256]; /* text on how the set's shape changes; "": no change */
};

/* Records a change of the set's shape, for a message. Nodes accept any shape, so only the user can
 * tell whether a new shape is right because the application's records have grown, or is a mistake
 * in COMMAND. */
static void compare(struct replacement *i, const struct weir_filter *f)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan old = WEIR_PLAN_INIT, new = WEIR_PLAN_INIT;
	if (i->r->quiet || i->r->options.handle || weir_replica_params(i->replica, &params) != 0 ||
	    weir_plan_make(&params, &old) != 0 || weir_params_of(f, &params) != 0 ||
	    weir_plan_make(&params, &new) != 0)
		return; /* a filter that has grown has no parameters */
	if (old.shape.kind == new.shape.kind && old.capacity == new.capacity &&
	    old.bytes == new.bytes)
		return;
	snprintf(i->becomes, sizeof i->becomes, "%s of %" PRIu64 " keys at %.3g -> %s of %" PRIu64
	         " keys at %.3g", weir_kind_name(old.shape.kind), old.capacity, old.fp_rate,
	         weir_kind_name(new.shape.kind), new.capacity, new.fp_rate);
}

static int make(void *context, struct weir_filter **out)
{
	struct replacement *i = context;
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
	struct weir_replica *replica = NULL;
	if (r->count < 2)
		return misuse("--replace: behind IMAGE stands -- and the command that makes it");
	int err = open_to_replace(r, &replica);
	struct replacement i = { r, replica, false, "" };
	if (!err)
		err = weir_replica_publish_from(replica, make, &i);
	if (!err && i.becomes[0])
		say("set %s: it becomes another: %s", r->options.set, i.becomes);
	return leave_set(r, replica, i.failed ? TOOL_TROUBLE : err);
}

int replicate_publish(struct replicate *r)
{
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
	struct weir_replica *replica = NULL;
	if (!r->generation.era)
		return misuse("--generation=ERA.NUMBER is missing: weir replicate status shows "
		              "what is kept");
	if (r->count)
		return misuse("'%s': an argument too many", r->arguments[0]);
	/* Keep all generations, since a default would drop generations to which the user could
	 * return. */
	if (!r->options.keep)
		r->options.keep = WEIR_REPLICA_KEEP_MOST;
	int err = open_to_replace(r, &replica);
	return leave_set(r, replica, err ? err : weir_replica_rollback(replica, r->generation));
}

int replicate_key(struct replicate *r)
{
	if (r->count != 2)
		return misuse("the names of two files are needed: secret, public");
	int err = weir_replica_key_make(r->arguments[0], r->arguments[1]);
	if (err)
		say("%s", weir_error_detail());
	return err == -EEXIST || err == -ENOTSUP ? TOOL_NO : err ? TOOL_TROUBLE : TOOL_OK;
}
