/* SPDX-License-Identifier: MIT
 * The status of a set as JSON, and as metrics. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* A set's name needs no escaping. */
static void gauge(const struct replicate *r, const char *name, const char *help, double value)
{
	printf("# HELP weir_replica_%s %s\n# TYPE weir_replica_%s gauge\n"
	       "weir_replica_%s{set=\"%s\"} %.15g\n", name, help, name, name, r->options.set,
	       value);
}

static uint64_t all_absent(const struct weir_replica_view *v)
{
	uint64_t n = v->current.chunks_absent;
	for (size_t i = 0; i < v->kept_count; i++)
		if (v->kept[i].generation != v->current.generation)
			n += v->kept[i].chunks_absent;
	return n;
}

static void nodes_gauge(const struct replicate *r, const struct weir_replica_view *v,
                        const char *name, const char *help,
                        double (*value)(const struct weir_replica_node *n))
{
	printf("# HELP weir_replica_node_%s %s\n# TYPE weir_replica_node_%s gauge\n", name, help,
	       name);
	for (size_t i = 0; i < v->node_count; i++)
		printf("weir_replica_node_%s{set=\"%s\",node=\"%016" PRIx64 "\"} %.15g\n", name,
		       r->options.set, v->nodes[i].node, value(&v->nodes[i]));
}

static double node_age(const struct weir_replica_node *n)
{
	return n->age;
}

static double node_generation(const struct weir_replica_node *n)
{
	return (double)n->generation;
}

static double node_complete(const struct weir_replica_node *n)
{
	return n->complete;
}

static double node_lacking(const struct weir_replica_node *n)
{
	return n->lacking;
}

static double node_failing(const struct weir_replica_node *n)
{
	return n->error[0] != '\0';
}

static double node_retained(const struct weir_replica_node *n)
{
	return (double)n->retained_bytes;
}

static double node_publisher(const struct weir_replica_node *n)
{
	return n->publisher;
}

static double node_refused(const struct weir_replica_node *n)
{
	return (double)n->refused;
}

static double node_alone(const struct weir_replica_node *n)
{
	return (double)n->not_replicated;
}

static double node_here(const struct weir_replica_node *n)
{
	return (double)n->image_here;
}

static double node_image(const struct weir_replica_node *n)
{
	return (double)n->image_bytes;
}

static double node_keys(const struct weir_replica_node *n)
{
	return (double)n->keys;
}

static double node_capacity(const struct weir_replica_node *n)
{
	return (double)n->capacity;
}

static double node_saturated(const struct weir_replica_node *n)
{
	return n->saturated;
}

static double node_nearly_full(const struct weir_replica_node *n)
{
	return n->nearly_full;
}

void status_prometheus(const struct replicate *r, const struct weir_replica_view *v,
                                const struct alerts *a)
{
	gauge(r, "generation", "The newest generation.", (double)v->current.generation);
	gauge(r, "generation_age_seconds", "Since it was published.", age_of(v, &v->current));
	gauge(r, "image_bytes", "Bytes of its image.", (double)v->current.image_bytes);
	gauge(r, "pieces_absent", "Of images of generations that are kept: redis has lost them.",
	      (double)all_absent(v));
	gauge(r, "stream_length", "Batches in the stream.", (double)v->stream_length);
	gauge(r, "takes_writes", "Whether redis does.", v->no_writes[0] == '\0');
	gauge(r, "alerts", "How many things are not well.", (double)a->n);
	nodes_gauge(r, v, "age_seconds", "Since the node reported.", node_age);
	nodes_gauge(r, v, "generation", "That the node serves.", node_generation);
	nodes_gauge(r, v, "complete", "Whether it has all that it knows of.", node_complete);
	nodes_gauge(r, v, "lacking_seconds", "For how long it had not, when it reported.",
	            node_lacking);
	nodes_gauge(r, v, "publisher", "Whether it is to publish now and then.", node_publisher);
	nodes_gauge(r, v, "refused", "A generation that it will not take; 0: none.", node_refused);
	nodes_gauge(r, v, "failing", "Whether it reports an error.", node_failing);
	nodes_gauge(r, v, "retained_bytes", "Of batches that could still be lost.",
	            node_retained);
	nodes_gauge(r, v, "not_replicated", "Inserts that the node keeps to itself.", node_alone);
	nodes_gauge(r, v, "image_here_bytes", "Of an image on its way to the node.", node_here);
	nodes_gauge(r, v, "image_bytes", "Of that image as a whole; 0: none is.", node_image);
	nodes_gauge(r, v, "keys", "In the node's filter, by estimate.", node_keys);
	nodes_gauge(r, v, "capacity", "Keys that it is made for.", node_capacity);
	nodes_gauge(r, v, "saturated", "Whether it has more than that.", node_saturated);
	nodes_gauge(r, v, "nearly_full", "Whether it will soon refuse keys.", node_nearly_full);
}
