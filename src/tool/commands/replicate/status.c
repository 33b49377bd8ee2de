/* SPDX-License-Identifier: MIT
 * weir replicate status: prints the state of the nodes, and alerts. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "commands/commands.h"
#include "output/report.h"
#include "output/say.h"
#include "replicate.h"

static void alert(struct alerts *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void alert(struct alerts *a, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (a->n < ALERTS && vasprintf(&a->of[a->n], format, args) >= 0)
		a->n++;
	va_end(args);
}

static void judge_node(struct alerts *a, const struct weir_replica_node *n)
{
	char who[128];
	snprintf(who, sizeof who, "%s %016" PRIx64 " (%s)", n->publisher ? "publisher" : "node",
	         n->node, n->host);
	if (n->age > SILENT) {
		alert(a, "%s has not reported for %.0f s", who, n->age);
		return;
	}
	if (n->saturated || n->nearly_full)
		alert(a, "%s has about %" PRIu64 " keys in a filter for %" PRIu64 "%s: replace the "
		      "set by a larger one", who, n->keys, n->capacity, n->saturated ?
		      ", which answers yes more often" : ", which will refuse keys");
	if (!n->complete && n->lacking > LACKING)
		alert(a, "%s has lacked inserts of others, or an image, for %.0f s", who,
		      n->lacking);
	if (n->refused.era)
		alert(a, "%s refuses generation " VERSION "%s%s", who, VERSION_OF(n->refused),
		      n->error[0] ? ": " : "", n->error);
	else if (n->error[0])
		alert(a, "%s: %s", who, n->error);
}

/* Alerts about the signature of the current generation. A node with the secret key signs the
 * generation again when a quarter of its lifetime has passed. If less than a quarter of the
 * lifetime is left, probably no such node runs, so the user gets an alert. */
static void judge_signature(struct alerts *a, const struct weir_replica_view *v)
{
	const struct weir_replica_generation *g = &v->current;
	const double left = seconds_left(g), life = (double)g->expires_ms - (double)g->signed_ms;
	bool others = false;
	for (size_t i = 0; i < v->kept_count; i++)
		others |= v->kept[i].is_signed;
	if (!g->version.era)
		return;
	if (!g->is_signed && others)
		alert(a, "generation " VERSION " is not signed, and of those that are kept some "
		      "are: nodes that trust keys take none that is not: publish it again, signed",
		      VERSION_OF(g->version));
	else if (g->trusted == -EKEYREJECTED)
		alert(a, "generation " VERSION ": no trusted key has signed it",
		      VERSION_OF(g->version));
	if (!g->is_signed || !g->expires_ms)
		return;
	if (left <= 0)
		alert(a, "generation " VERSION " expired %.0f s ago: no node can join the set: "
		      "publish it again, signed", VERSION_OF(g->version), -left);
	else if (left < life / 4000)
		alert(a, "generation " VERSION " expires in %.0f s, and has not been signed again: "
		      "does a node with the secret key run?", VERSION_OF(g->version), left);
}

/* Alerts if redis lacks pieces (chunks) of a generation's image. A rollback to a kept generation
 * needs its image, so the user should know before the rollback that it would fail. */
static void judge_pieces(struct alerts *a, const struct weir_replica_view *v,
                         const struct weir_replica_generation *g, bool current)
{
	if (!g->chunks_absent || (!current && is_version(g->version, v->current.version)))
		return;
	alert(a, "%" PRIu64 " of the pieces of generation " VERSION "'s image gone from redis: %s",
	      g->chunks_absent, VERSION_OF(g->version), current ?
	      "a node that begins waits until one that runs has published the set again: see that "
	      "one runs, or publish it" : "there is no way back to it, and it goes when newer ones "
	      "are published");
}

/* Adds up to two alerts. The first is for a full redis to which no node has reported for SILENT
 * seconds, although a running node reports every 5 s. The second is for reports that the view
 * leaves out. */
static void judge_reports(struct alerts *a, const char *set, const struct weir_replica_view *v)
{
	bool reports = false;
	for (size_t i = 0; i < v->node_count; i++)
		reports |= v->nodes[i].age <= SILENT;
	if (v->maxmemory && v->used_memory > v->maxmemory && !reports)
		alert(a, "no node reports: redis is full, and takes no reports, so nodes may run: "
		      "give it more (maxmemory), and look again");
	if (v->nodes_left_out)
		alert(a, "reports of %" PRIu64 " more nodes are not shown: the next generation "
		      "removes reports older than ten minutes; redis-cli DEL '{weir:%s}:2:nodes' "
		      "removes all",
		      v->nodes_left_out, set);
}

static void judge_redis(struct alerts *a, const struct weir_replica_view *v)
{
	const uint64_t image = v->current.image_bytes;
	if (v->maxmemory && strcmp(v->policy, "noeviction") != 0)
		alert(a, "maxmemory-policy is %s: redis may remove the set's keys: set it to "
		      "noeviction", v->policy[0] ? v->policy : "not known");
	if (v->maxmemory && (v->used_memory > v->maxmemory ||
	                     v->maxmemory - v->used_memory < image))
		alert(a, "redis uses %" PRIu64 " of %" PRIu64 " bytes: there is no room for "
		      "another image: give it more (maxmemory)%s", v->used_memory, v->maxmemory,
		      v->used_memory > v->maxmemory ? "; nor for reports, so what is said of nodes "
		                                      "is of before" : "");
}

static void judge(struct alerts *a, const struct replicate *r, const struct weir_replica_view *v)
{
	const struct weir_replica_generation *g = &v->current;
	if (g->damaged)
		alert(a, "the newest generation's manifest cannot be read");
	else if (!g->version.era)
		alert(a, "redis has no generation of this set%s: nodes that run publish one within "
		      "seconds (of a signed set: one that has the secret key)",
		      v->node_count || v->log_length || v->lease ? " yet, or any more" :
		      ", and no node has reported: is this its name?");
	else if (r->max_age > 0 && age_of(v, g) > r->max_age)
		alert(a, "generation " VERSION " is %.0f s %s, the limit is %.0f",
		      VERSION_OF(g->version), age_of(v, g),
		      g->signed_ms > v->now_ms ? "ahead of redis's clock" : "old", r->max_age);
	judge_pieces(a, v, g, true);
	for (size_t i = 0; i < v->kept_count; i++)
		judge_pieces(a, v, &v->kept[i], false);
	judge_signature(a, v);
	judge_redis(a, v);
	judge_reports(a, r->options.set, v);
	for (size_t i = 0; i < v->node_count; i++)
		judge_node(a, &v->nodes[i]);
}

int replicate_status(struct replicate *r)
{
	struct weir_replica_view *v;
	struct alerts a = { .n = 0 };
	if (r->count)
		return misuse("'%s': an argument too many", r->arguments[0]);
	if (r->json && r->prometheus)
		return misuse("--json and --prometheus exclude each other");
	int err = weir_replica_view(&v, &r->options);
	if (err)
		return trouble("%s", weir_error_detail());
	judge(&a, r, v);
	json_t *status = status_json(r, v, &a);
	weir_replica_view_free(v);
	if (r->json)
		print_json(status, stdout);
	else if (r->prometheus)
		status_prometheus(status);
	else if (!r->quiet)
		status_print(status);
	for (size_t i = 0; i < a.n; i++) {
		if (!r->json && !r->prometheus) {
			fputs(i ? "  " : "not well\n  ", stdout);
			plain_put(a.of[i], stdout);
			putchar('\n');
		}
		free(a.of[i]);
	}
	json_decref(status);
	return a.n ? TOOL_NO : TOOL_OK;
}
