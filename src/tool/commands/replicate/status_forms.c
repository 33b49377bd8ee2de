/* SPDX-License-Identifier: MIT
 * Formats the status of a set: first as JSON, and from the JSON as metrics and as lines for people.
 * JSON members have the names of the struct members in <weir/replica.h>. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "output/report.h"
#include "output/say.h"
#include "replicate.h"

double age_of(const struct weir_replica_view *v, const struct weir_replica_generation *g)
{
	uint64_t now = v->now_ms, then = g->version.era ? g->signed_ms : now;
	return (double)(now > then ? now - then : then - now) / 1000;
}

double seconds_left(const struct weir_replica_generation *g)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (double)g->expires_ms / 1000 - (double)now.tv_sec - (double)now.tv_nsec / 1e9;
}

uint64_t entries_behind(const struct weir_replica_view *v, const struct weir_replica_node *n)
{
	uint64_t epoch, at, last_epoch, last;
	if (sscanf(v->log_last, "%" SCNu64 "-%" SCNu64, &last_epoch, &last) != 2 ||
	    sscanf(n->position, "%" SCNu64 "-%" SCNu64, &epoch, &at) != 2 || epoch > last_epoch)
		return 0;
	/* Each epoch numbers its entries from 1, so numbers of two epochs cannot be subtracted. */
	if (epoch < last_epoch)
		return v->log_length;
	return last > at ? last - at : 0;
}

/* ---- JSON ---- */

/* Escapes text from other clients, which may be invalid UTF-8 or contain control characters. */
static json_t *text(const char *of)
{
	char *plain = plain_copy(of);
	json_t *j = json_string(plain);
	free(plain);
	return j;
}

static json_t *hex(uint64_t number)
{
	return number ? json_sprintf("%016" PRIx64, number) : json_null();
}

static json_t *version(struct weir_replica_version v)
{
	return json_sprintf(VERSION, VERSION_OF(v));
}

static json_t *integer(uint64_t n)
{
	return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

/* @trusts: true if trusted keys are given. Without them, "trusted" is null. */
static json_t *generation(bool trusts, const struct weir_replica_view *v,
                          const struct weir_replica_generation *g)
{
	json_t *j = json_object();
	json_put(j, "version", version(g->version));
	json_put(j, "parent", version(g->parent));
	json_put(j, "id", hex(g->id));
	json_put(j, "kind", g->kind ? json_string(g->kind) : json_null());
	json_put(j, "source", g->source ? json_string(g->source) : json_null());
	json_put(j, "image", text(g->image));
	json_put(j, "image_bytes", integer(g->image_bytes));
	json_put(j, "chunks_absent", integer(g->chunks_absent));
	json_put(j, "position", text(g->position));
	json_put(j, "publisher", hex(g->publisher));
	json_put(j, "age", json_real(age_of(v, g)));
	json_put(j, "signed_ms", integer(g->signed_ms));
	json_put(j, "expires_ms", integer(g->expires_ms));
	json_put(j, "expires_in", g->expires_ms ? json_real(seconds_left(g)) : json_null());
	json_put(j, "is_signed", json_boolean(g->is_signed));
	json_put(j, "trusted", !trusts || !g->version.era   ? json_null() :
	                       !g->trusted                  ? json_string("yes") :
	                       g->trusted == -EKEYEXPIRED ? json_string("expired") :
	                                                      json_string("no"));
	json_put(j, "damaged", json_boolean(g->damaged));
	return j;
}

static json_t *node(const struct weir_replica_view *v, const struct weir_replica_node *n)
{
	json_t *j = json_object();
	json_put(j, "node", hex(n->node));
	json_put(j, "host", text(n->host));
	json_put(j, "pid", json_integer(n->pid));
	json_put(j, "age", json_real(n->age));
	json_put(j, "late", json_boolean(n->age > LATE));
	json_put(j, "state", text(weir_replica_state_name(n->state)));
	json_put(j, "joined", version(n->joined));
	json_put(j, "refused", version(n->refused));
	json_put(j, "position", text(n->position));
	json_put(j, "behind", integer(entries_behind(v, n)));
	json_put(j, "complete", json_boolean(n->complete));
	json_put(j, "lacking", json_real(n->lacking));
	json_put(j, "owes", json_boolean(n->owes));
	json_put(j, "publisher", json_boolean(n->publisher));
	json_put(j, "pending_bytes", integer(n->pending_bytes));
	json_put(j, "given_up", integer(n->given_up));
	json_put(j, "image_here", integer(n->image_here));
	json_put(j, "image_bytes", integer(n->image_bytes));
	json_put(j, "keys", integer(n->keys));
	json_put(j, "capacity", integer(n->capacity));
	json_put(j, "saturated", json_boolean(n->saturated));
	json_put(j, "nearly_full", json_boolean(n->nearly_full));
	json_put(j, "error", text(n->error));
	return j;
}

json_t *status_json(const struct replicate *r, const struct weir_replica_view *v,
                    const struct alerts *a)
{
	const bool trusts = r->options.trusted_keys != NULL;
	json_t *j = json_object(), *kept = json_array(), *nodes = json_array(),
	       *alerts = json_array();
	for (size_t i = 0; i < v->kept_count; i++)
		json_array_append_new(kept, generation(trusts, v, &v->kept[i]));
	for (size_t i = 0; i < v->node_count; i++)
		json_array_append_new(nodes, node(v, &v->nodes[i]));
	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(alerts, text(a->of[i]));
	json_put(j, "set", text(r->options.set));
	json_put(j, "now_ms", integer(v->now_ms));
	json_put(j, "current", generation(trusts, v, &v->current));
	json_put(j, "kept", kept);
	json_put(j, "lease", hex(v->lease));
	json_put(j, "log_length", integer(v->log_length));
	json_put(j, "log_last", text(v->log_last));
	json_put(j, "replicas", integer(v->replicas));
	json_put(j, "used_memory", integer(v->used_memory));
	json_put(j, "maxmemory", integer(v->maxmemory));
	json_put(j, "policy", text(v->policy));
	json_put(j, "nodes_left_out", integer(v->nodes_left_out));
	json_put(j, "nodes", nodes);
	json_put(j, "alerts", alerts);
	return j;
}

/* ---- lines for people ---- */

/* Prints an object as one line after @name. Omits members that are false, empty or 0, and those
 * that only programs need. */
static void print_line(const char *name, json_t *object)
{
	static const char programs[] = " id parent image signed_ms expires_ms now_ms ";
	const char *key, *between = *name ? " " : "";
	char word[32];
	json_t *value;
	fputs(name, stdout);
	json_object_foreach(object, key, value) {
		const char *of = json_is_string(value) ? json_string_value(value) : "";
		const double number = json_number_value(value);
		snprintf(word, sizeof word, " %s ", key);
		if (strstr(programs, word) || !(json_is_true(value) || number != 0 || *of) ||
		    strcmp(of, "0.0") == 0)
			continue;
		/* the number of keys is an estimate */
		printf("%s%s%s", between, key, strcmp(key, "keys") ? "" : " about");
		if (json_is_number(value))
			printf(json_is_real(value) ? " %.1f" : " %.0f", number);
		else if (*of)
			putchar(' ');
		plain_put(of, stdout);
		between = ", ";
	}
	putchar('\n');
}

void status_print(json_t *status)
{
	json_t *one;
	size_t i;
	print_line("", status);
	print_line("current", json_object_get(status, "current"));
	json_array_foreach(json_object_get(status, "kept"), i, one)
		print_line("kept", one);
	json_array_foreach(json_object_get(status, "nodes"), i, one)
		print_line("", one);
}

/* ---- metrics ---- */

enum { METRICS = 48 };

/* The JSON members whose metrics have another name. The names are those of
 * weir_replica_metric(). */
static const char *const names[][2] = {
	{ "age", "age_seconds" },
	{ "error", "failing" },
	{ "given_up", "given_up_total" },
	{ "image_here", "image_here_bytes" },
	{ "lacking", "lacking_seconds" },
};

/* The metrics of the set or of one node. */
struct series {
	struct weir_metric of[METRICS];
	char names[METRICS][64], labels[160];
	uint32_t n;
};

static int next_of(const void *series, uint32_t i, struct weir_metric *out)
{
	const struct series *s = series;
	if (i >= s->n)
		return 0;
	*out = s->of[i];
	return 1;
}

static void add(struct series *s, const char *prefix, const char *key, double value)
{
	if (s->n == METRICS)
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		key = strcmp(key, names[i][0]) == 0 ? names[i][1] : key;
	snprintf(s->names[s->n], sizeof *s->names, "weir_replica_%s%s", prefix, key);
	s->of[s->n] = (struct weir_metric){
		.name = s->names[s->n],
		.help = "As in weir replicate status --json, and in weir/replica.h.",
		.value = value,
		.counter = strstr(key, "_total") != NULL,
	};
	s->n++;
}

static void add_version(struct series *s, const char *prefix, const char *of)
{
	struct weir_replica_version v;
	if (sscanf(of, VERSION, &v.era, &v.number) != 2)
		return;
	add(s, prefix, "era", (double)v.era);
	add(s, prefix, "generation", (double)v.number);
}

static uint32_t state_of(const char *name)
{
	uint32_t state = WEIR_REPLICA_PUBLISHING;
	while (state > 0 && strcmp(weir_replica_state_name(state), name) != 0)
		state--;
	return state;
}

/* Adds numbers and booleans. Texts are added only for versions, states and errors. */
static void add_all(struct series *s, const char *prefix, json_t *object)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value) {
		const char *of = json_is_string(value) ? json_string_value(value) : "";
		if (json_is_number(value) || json_is_boolean(value))
			add(s, prefix, key, json_is_true(value) + json_number_value(value));
		else if (strcmp(key, "error") == 0)
			add(s, prefix, key, *of != '\0');
		else if (strcmp(key, "state") == 0)
			add(s, prefix, key, state_of(of));
		else if (strcmp(key, "version") == 0)
			add_version(s, "", of);
		else if (strcmp(key, "joined") == 0)
			add_version(s, prefix, of);
		else if (strcmp(key, "refused") == 0)
			add_version(s, "node_refused_", of);
	}
}

/* A set's name contains only characters that need no escaping in a label. */
void status_prometheus(json_t *status)
{
	const char *set = json_string_value(json_object_get(status, "set"));
	json_t *nodes = json_object_get(status, "nodes"), *one;
	const size_t n = json_array_size(nodes);
	struct weir_metrics *of = xmalloc((n + 1) * sizeof *of);
	struct series *all = xmalloc((n + 1) * sizeof *all), *s = all;
	size_t i;
	s->n = 0;
	snprintf(s->labels, sizeof s->labels, "set=\"%s\"", set);
	add_all(s, "", status);
	add_all(s, "generation_", json_object_get(status, "current"));
	add(s, "", "alerts", (double)json_array_size(json_object_get(status, "alerts")));
	json_array_foreach(nodes, i, one) {
		s++;
		s->n = 0;
		snprintf(s->labels, sizeof s->labels, "set=\"%s\",node=\"%s\"", set,
		         json_string_value(json_object_get(one, "node")));
		add_all(s, "node_", one);
	}
	for (i = 0; i <= n; i++)
		of[i] = weir_metrics_other(&all[i], next_of, all[i].labels);
	prometheus_write(of, n + 1, stdout);
	free(all);
	free(of);
}
