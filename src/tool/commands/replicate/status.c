/* SPDX-License-Identifier: MIT
 * weir replicate status: how the nodes stand, and what is not well. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands/commands.h"
#include "output/say.h"
#include "replicate.h"

enum { SILENT = 30, LACKING = 30 /* seconds */ };

static void alert(struct alerts *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void alert(struct alerts *a, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (a->n < ALERTS && vasprintf(&a->of[a->n], format, args) >= 0)
		a->n++;
	va_end(args);
}

static void judge_node(struct alerts *a, const struct weir_replica_view *v,
                       const struct weir_replica_node *n)
{
	const char *role = n->publisher ? "publisher" : "node";
	if (n->age > SILENT) {
		alert(a, "%s %016" PRIx64 " (%s) has not reported for %.0f s", role, n->node,
		      n->host, n->age);
		return;
	}
	if (n->refused)
		alert(a, "%s %016" PRIx64 " (%s) refuses generation %" PRIu64, role, n->node,
		      n->host, n->refused);
	if (n->not_replicated)
		alert(a, "%s %016" PRIx64 " (%s) keeps %" PRIu64 " inserts to itself: it had no "
		      "room for them: publish its set, from it", role, n->node, n->host,
		      n->not_replicated);
	if (n->saturated || n->nearly_full)
		alert(a, "%s %016" PRIx64 " (%s) has %" PRIu64 " keys in a filter for %" PRIu64
		      "%s: replace the set by a larger one", role, n->node, n->host, n->keys,
		      n->capacity, n->saturated ? ", which answers yes more often" :
		                                  ", which will refuse keys");
	if (!n->complete && n->lacking > LACKING)
		alert(a, "%s %016" PRIx64 " (%s) has lacked inserts of others, or an image, for "
		      "%.0f s", role, n->node, n->host, n->lacking);
	if (n->error[0])
		alert(a, "%s %016" PRIx64 " (%s): %s", role, n->node, n->host, n->error);
	if (n->generation == v->current.generation && v->current.checksum[0] &&
	    strcmp(n->checksum, v->current.checksum) != 0)
		alert(a, "%s %016" PRIx64 " (%s) has another image of generation %" PRIu64, role,
		      n->node, n->host, n->generation);
}

/* Nobody needs it before a bad generation is to be taken back, and then it is too late. */
static void judge_kept(struct alerts *a, const struct weir_replica_view *v)
{
	for (size_t i = 0; i < v->kept_count; i++) {
		const struct weir_replica_generation *g = &v->kept[i];
		if (g->chunks_absent && g->generation != v->current.generation)
			alert(a, "%" PRIu64 " piece%s of the image of generation %" PRIu64
			      ", which is kept, %s gone from redis: there is no way back to it, "
			      "and it goes when newer ones are published", g->chunks_absent,
			      g->chunks_absent == 1 ? "" : "s", g->generation,
			      g->chunks_absent == 1 ? "has" : "have");
	}
}

/* Somebody may have taken the signature away: nodes that have the set do not look again. */
static void judge_signature(struct alerts *a, const struct weir_replica_view *v)
{
	const struct weir_replica_generation *g = &v->current;
	bool others = false;
	for (size_t i = 0; i < v->kept_count; i++)
		others |= v->kept[i].is_signed;
	if (g->generation && !g->is_signed && others)
		alert(a, "generation %" PRIu64 " is not signed, and of those that are kept some "
		      "are: nodes that trust keys take none that is not: publish it again, "
		      "signed", g->generation);
}

/* Whoever is closed gives it back, and whoever was killed is silent. */
static void judge_lease(struct alerts *a, const struct weir_replica_view *v)
{
	for (size_t i = 0; i < v->node_count; i++)
		if (v->nodes[i].node == v->lease_owner)
			return;
	if (v->lease_owner && v->lease_ms > 1000 * SILENT)
		alert(a, "the lease to publish is that of %016" PRIx64 ", which does not report, "
		      "for another %.0f s: whose duty it is to publish does not before; "
		      "weir replicate publish takes it", v->lease_owner,
		      (double)v->lease_ms / 1000);
}

static void judge(struct alerts *a, const struct replicate *r, const struct weir_replica_view *v)
{
	const struct weir_replica_generation *g = &v->current;
	if (g->damaged)
		alert(a, "the manifest cannot be read");
	else if (!g->generation)
		alert(a, "redis has no generation of this set%s", v->node_count ? " (any more)" :
		      ", and no node has it: is this its name?");
	else if (r->max_age > 0 && age_of(v, g) > r->max_age)
		alert(a, "generation %" PRIu64 " is %.0f s %s, the limit is %.0f", g->generation,
		      age_of(v, g), g->published_ms > v->now_ms ? "ahead of redis's clock" : "old",
		      r->max_age);
	if (g->chunks_absent)
		alert(a, "%" PRIu64 " piece%s of the image %s gone from redis: a node that begins "
		      "cannot have the set; publish it from one that serves it, or the record "
		      "(--replace)", g->chunks_absent, g->chunks_absent == 1 ? "" : "s",
		      g->chunks_absent == 1 ? "has" : "have");
	judge_kept(a, v);
	judge_signature(a, v);
	judge_lease(a, v);
	if (v->no_writes[0])
		alert(a, "redis takes no writes, and so no inserts, nor what nodes report: %s",
		      v->no_writes);
	if (v->maxmemory && strcmp(v->policy, "noeviction") != 0)
		alert(a, "maxmemory-policy is %s: redis may remove the set's keys; it is to be "
		      "noeviction", v->policy);
	if (v->maxmemory && v->used_memory + g->image_bytes > v->maxmemory)
		alert(a, "redis uses %" PRIu64 " of %" PRIu64 " bytes: there is no room for "
		      "another image%s", v->used_memory, v->maxmemory,
		      v->used_memory > v->maxmemory ? ", nor for what nodes report: what is said "
		                                      "of them is of before" : "");
	for (size_t i = 0; i < v->node_count; i++)
		judge_node(a, v, &v->nodes[i]);
}

/* ---- for people ---- */

static void print_generation(const struct weir_replica_view *v,
                             const struct weir_replica_generation *g)
{
	if (g->damaged) {
		printf("  cannot be read\n");
		return;
	}
	printf("  %" PRIu64 ": %s, %" PRIu64 " bytes, %.0f s old, position %s, checksum %.8s, %s",
	       g->generation, g->kind, g->image_bytes, age_of(v, g), g->position, g->checksum,
	       g->is_signed ? "signed" : "not signed");
	if (g->chunks_absent)
		printf(", %" PRIu64 " of its pieces not there", g->chunks_absent);
	putchar('\n');
}

/* The one there is always is, unless somebody wrote it, or removed those. */
static bool is_kept(const struct weir_replica_view *v, const struct weir_replica_generation *g)
{
	for (size_t i = 0; i < v->kept_count; i++)
		if (v->kept[i].generation == g->generation &&
		    strcmp(v->kept[i].checksum, g->checksum) == 0)
			return true;
	return false;
}

static void print_node(const struct weir_replica_node *n)
{
	printf("  %016" PRIx64 " ", n->node);
	plain_put(n->host, stdout);
	printf(" pid %" PRId64 ": generation %" PRIu64 ", position ", n->pid, n->generation);
	plain_put(n->position, stdout);
	if (n->complete)
		printf(", complete");
	else
		printf(", lacking for %.1f s", n->lacking);
	printf(", %" PRIu64 " bytes kept, %.1f s ago%s", n->retained_bytes, n->age,
	       n->publisher ? ", publisher" : "");
	if (n->capacity)
		printf(", %" PRIu64 " keys of %" PRIu64, n->keys, n->capacity);
	if (n->image_bytes)
		printf(", %" PRIu64 " of %" PRIu64 " bytes of an image are here", n->image_here,
		       n->image_bytes);
	if (n->error[0]) {
		fputs(": ", stdout);
		plain_put(n->error, stdout);
	}
	putchar('\n');
}

static void print_alerts(const struct alerts *a)
{
	for (size_t i = 0; i < a->n; i++) {
		fputs(i ? "  " : "not well\n  ", stdout);
		plain_put(a->of[i], stdout);
		putchar('\n');
	}
}

static void print(const struct replicate *r, const struct weir_replica_view *v,
                  const struct alerts *a)
{
	if (r->quiet) {
		print_alerts(a);
		return;
	}
	printf("set %s\n", r->options.set);
	if (v->current.generation && !is_kept(v, &v->current)) {
		printf("the generation there is, which is not kept\n");
		print_generation(v, &v->current);
	}
	printf("generations that are kept\n");
	for (size_t i = 0; i < v->kept_count; i++)
		print_generation(v, &v->kept[i]);
	printf("stream\n  %" PRIu64 " batches, %" PRIu64 " ever, the last ", v->stream_length,
	       v->stream_added);
	plain_put(v->stream_last, stdout);
	putchar('\n');
	if (v->lease_owner)
		printf("lease to publish\n  %016" PRIx64 ", another %.1f s\n", v->lease_owner,
		       (double)v->lease_ms / 1000);
	printf("nodes\n");
	for (size_t i = 0; i < v->node_count; i++)
		print_node(&v->nodes[i]);
	print_alerts(a);
}

int replicate_status(struct replicate *r)
{
	struct weir_replica_view *v;
	struct alerts a = { .n = 0 };
	if (r->count)
		return misuse("'%s' is too much", r->arguments[0]);
	if (r->json && r->prometheus)
		return misuse("--json and --prometheus exclude each other");
	int err = weir_replica_view(&v, &r->options);
	if (err)
		return trouble("%s", weir_error_detail());
	judge(&a, r, v);
	(r->json ? status_json : r->prometheus ? status_prometheus : print)(r, v, &a);
	weir_replica_view_free(v);
	for (size_t i = 0; i < a.n; i++)
		free(a.of[i]);
	return a.n ? TOOL_NO : TOOL_OK;
}
