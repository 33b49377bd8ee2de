/* SPDX-License-Identifier: MIT
 * The status of a set as JSON, and as metrics. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "output/report.h"
#include "output/say.h"
#include "replicate.h"

double age_of(const struct weir_replica_view *v, const struct weir_replica_generation *g)
{
	uint64_t now = v->now_ms, then = g->generation ? g->published_ms : now;
	return (double)(now > then ? now - then : then - now) / 1000;
}

static json_t *text(const char *of)
{
	json_t *j = json_string(of);
	if (j)
		return j;
	char *plain = plain_copy(of); /* others' bytes, that are no UTF-8 */
	j = json_string(plain);
	free(plain);
	return j;
}

static json_t *hex(uint64_t number)
{
	char of[17];
	snprintf(of, sizeof of, "%016" PRIx64, number);
	return json_string(of);
}

static json_t *integer(uint64_t n)
{
	return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

static json_t *json_generation(const struct weir_replica_view *v,
                               const struct weir_replica_generation *g)
{
	json_t *j = json_object();
	json_put(j, "generation", integer(g->generation));
	json_put(j, "base", integer(g->base));
	json_put(j, "kind", g->kind ? json_string(g->kind) : json_null());
	json_put(j, "image_bytes", integer(g->image_bytes));
	json_put(j, "age_seconds", json_real(age_of(v, g)));
	json_put(j, "checksum", text(g->checksum));
	json_put(j, "position", text(g->position));
	json_put(j, "stream", text(g->stream_keys ? "keys" : "hashes"));
	json_put(j, "signed", json_boolean(g->is_signed));
	json_put(j, "damaged", json_boolean(g->damaged));
	json_put(j, "chunks_absent", integer(g->chunks_absent));
	return j;
}

static json_t *json_node(const struct weir_replica_node *n)
{
	json_t *j = json_object();
	json_put(j, "node", hex(n->node));
	json_put(j, "host", text(n->host));
	json_put(j, "pid", json_integer(n->pid));
	json_put(j, "age_seconds", json_real(n->age));
	json_put(j, "generation", integer(n->generation));
	json_put(j, "checksum", text(n->checksum));
	json_put(j, "position", text(n->position));
	json_put(j, "complete", json_boolean(n->complete));
	json_put(j, "lacking_seconds", json_real(n->lacking));
	json_put(j, "publisher", json_boolean(n->publisher));
	json_put(j, "passing", json_boolean(n->passing));
	json_put(j, "retained_bytes", integer(n->retained_bytes));
	json_put(j, "not_replicated", integer(n->not_replicated));
	json_put(j, "refused", integer(n->refused));
	json_put(j, "image_here", integer(n->image_here));
	json_put(j, "image_bytes", integer(n->image_bytes));
	json_put(j, "keys", integer(n->keys));
	json_put(j, "capacity", integer(n->capacity));
	json_put(j, "saturated", json_boolean(n->saturated));
	json_put(j, "nearly_full", json_boolean(n->nearly_full));
	json_put(j, "error", text(n->error));
	return j;
}

void status_json(const struct replicate *r, const struct weir_replica_view *v,
                          const struct alerts *a)
{
	json_t *j = json_object(), *kept = json_array(), *nodes = json_array(),
	       *alerts = json_array();
	for (size_t i = 0; i < v->kept_count; i++)
		json_array_append_new(kept, json_generation(v, &v->kept[i]));
	for (size_t i = 0; i < v->node_count; i++)
		json_array_append_new(nodes, json_node(&v->nodes[i]));
	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(alerts, text(a->of[i]));
	json_put(j, "set", text(r->options.set));
	json_put(j, "epoch", text(v->epoch));
	json_put(j, "current", v->current.generation ? json_generation(v, &v->current) :
	                                               json_null());
	json_put(j, "kept", kept);
	json_put(j, "stream_length", integer(v->stream_length));
	json_put(j, "stream_added", integer(v->stream_added));
	json_put(j, "stream_last", text(v->stream_last));
	json_put(j, "lease_owner", v->lease_owner ? hex(v->lease_owner) : json_null());
	json_put(j, "used_memory", integer(v->used_memory));
	json_put(j, "maxmemory", integer(v->maxmemory));
	json_put(j, "no_writes", text(v->no_writes));
	json_put(j, "nodes", nodes);
	json_put(j, "alerts", alerts);
	print_json(j, stdout);
	json_decref(j);
}

static uint64_t all_absent(const struct weir_replica_view *v)
{
	uint64_t n = v->current.chunks_absent;
	for (size_t i = 0; i < v->kept_count; i++)
		if (v->kept[i].generation != v->current.generation)
			n += v->kept[i].chunks_absent;
	return n;
}

#define GAUGE(name, help, value) { "weir_replica_" name, help, (double)(value), 0, 0 }

struct view {
	const struct weir_replica_view *v;
	size_t alerts;
};

static int next_of_view(const void *object, uint32_t i, struct weir_metric *out)
{
	const struct view *view = object;
	const struct weir_replica_view *v = view->v;
	const struct weir_metric of[] = {
		GAUGE("generation", "The newest generation.", v->current.generation),
		GAUGE("generation_age_seconds", "Since it was published.", age_of(v, &v->current)),
		GAUGE("image_bytes", "Bytes of its image.", v->current.image_bytes),
		GAUGE("pieces_absent",
		      "Of images of generations that are kept: redis has lost them.",
		      all_absent(v)),
		GAUGE("stream_length", "Batches in the stream.", v->stream_length),
		GAUGE("takes_writes", "Whether redis does.", v->no_writes[0] == '\0'),
		GAUGE("alerts", "How many things are not well.", view->alerts),
	};
	if (i >= sizeof of / sizeof *of)
		return 0;
	*out = of[i];
	return 1;
}

static int next_of_node(const void *object, uint32_t i, struct weir_metric *out)
{
	const struct weir_replica_node *n = object;
	const struct weir_metric of[] = {
		GAUGE("node_age_seconds", "Since the node reported.", n->age),
		GAUGE("node_generation", "That the node serves.", n->generation),
		GAUGE("node_complete", "Whether it has all that it knows of.", n->complete),
		GAUGE("node_lacking_seconds", "For how long it had not, when it reported.",
		      n->lacking),
		GAUGE("node_publisher", "Whether it is to publish now and then.", n->publisher),
		GAUGE("node_refused", "A generation that it will not take; 0: none.", n->refused),
		GAUGE("node_failing", "Whether it reports an error.", n->error[0] != '\0'),
		GAUGE("node_retained_bytes", "Of batches that could still be lost.",
		      n->retained_bytes),
		GAUGE("node_not_replicated", "Inserts that the node keeps to itself.",
		      n->not_replicated),
		GAUGE("node_image_here_bytes", "Of an image on its way to the node.",
		      n->image_here),
		GAUGE("node_image_bytes", "Of that image as a whole; 0: none is.", n->image_bytes),
		GAUGE("node_keys", "In the node's filter, by estimate.", n->keys),
		GAUGE("node_capacity", "Keys that it is made for.", n->capacity),
		GAUGE("node_saturated", "Whether it has more than that.", n->saturated),
		GAUGE("node_nearly_full", "Whether it will soon refuse keys.", n->nearly_full),
	};
	if (i >= sizeof of / sizeof *of)
		return 0;
	*out = of[i];
	return 1;
}

/* A set's name needs no escaping. */
void status_prometheus(const struct replicate *r, const struct weir_replica_view *v,
                       const struct alerts *a)
{
	const struct view view = { v, a->n };
	const size_t n = v->node_count, room = strlen(r->options.set) + 64;
	struct weir_metrics *of = need((n + 1) * sizeof *of);
	char *labels = need((n + 1) * room);
	snprintf(labels, room, "set=\"%s\"", r->options.set);
	of[0] = weir_metrics_other(&view, next_of_view, labels);
	for (size_t i = 0; i < n; i++) {
		char *own = labels + (i + 1) * room;
		snprintf(own, room, "set=\"%s\",node=\"%016" PRIx64 "\"", r->options.set,
		         v->nodes[i].node);
		of[i + 1] = weir_metrics_other(&v->nodes[i], next_of_node, own);
	}
	prometheus_write(of, n + 1, stdout);
	free(labels);
	free(of);
}
