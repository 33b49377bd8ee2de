/* SPDX-License-Identifier: MIT
 * Reports of nodes (due.c): words and values. They come from a server that may be anybody's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../format/number.h"
#include "service.h"

enum { SILENT = 30 /* seconds: then it may have gone */ };

/* The value of a word, up to the next blank. */
static bool value(const char *report, const char *word, char *out, size_t room)
{
	size_t n = strlen(word);
	for (const char *at = report; at && *at; at = strchr(at, ' '), at = at ? at + 1 : NULL) {
		if (strncmp(at, "error ", 6) == 0)
			return false; /* what follows is free text */
		if (strncmp(at, word, n) != 0 || at[n] != ' ')
			continue;
		size_t len = strcspn(at + n + 1, " ");
		snprintf(out, room, "%.*s", (int)(len < room ? len : room - 1), at + n + 1);
		return true;
	}
	return false;
}

static uint64_t number(const char *report, const char *word)
{
	char text[32];
	uint64_t n = 0;
	if (value(report, word, text, sizeof text))
		(void)weir__number_parse(&n, text, strlen(text));
	return n;
}

static uint64_t name(const char *report, const char *word)
{
	char text[WEIR_REPLICA_NODE + 1];
	uint64_t n = 0;
	if (value(report, word, text, sizeof text))
		(void)weir__hex_parse(&n, text, strlen(text), WEIR_REPLICA_NODE);
	return n;
}

static bool take(struct weir_replica_node *n, const redisReply *node, const redisReply *of,
                 uint64_t now_ms)
{
	uint64_t then;
	*n = (struct weir_replica_node){ .age = 0.0 };
	if (node->type != REDIS_REPLY_STRING || of->type != REDIS_REPLY_STRING ||
	    !weir__hex_parse(&n->node, node->str, node->len, WEIR_REPLICA_NODE))
		return false;
	const char *report = strchr(of->str, ' ');
	if (!report || !weir__number_parse(&then, of->str, (size_t)(report - of->str)))
		return false;
	n->age = (double)(now_ms > then ? now_ms - then : then - now_ms) / 1000;
	report++;
	(void)value(report, "host", n->host, sizeof n->host);
	(void)value(report, "checksum", n->checksum, sizeof n->checksum);
	(void)value(report, "position", n->position, sizeof n->position);
	n->pid = (int64_t)number(report, "pid");
	n->generation = number(report, "generation");
	n->complete = number(report, "complete") == 1;
	n->lacking = (double)number(report, "lacking") / 1000;
	n->publisher = number(report, "publisher") == 1;
	n->passing = number(report, "passing") == 1;
	n->opened = name(report, "opened");
	n->retained_bytes = number(report, "retained");
	n->not_replicated = number(report, "lost");
	n->refused = number(report, "refused");
	n->image_here = number(report, "here");
	n->image_bytes = number(report, "image");
	n->keys = number(report, "keys");
	n->capacity = number(report, "capacity");
	n->saturated = number(report, "saturated") == 1;
	n->nearly_full = number(report, "nearly_full") == 1;
	const char *error = strstr(report, " error ");
	snprintf(n->error, sizeof n->error, "%s", error ? error + 7 : "");
	return !n->passing || n->age <= SILENT;
}

static int by_age(const void *a, const void *b)
{
	const struct weir_replica_node *x = a, *y = b;
	return x->age < y->age ? -1 : x->age > y->age;
}

static uint64_t of_whom(const struct weir_replica_node *n)
{
	return n->opened ? n->opened : n->node;
}

static int by_opened(const void *a, const void *b)
{
	uint64_t x = of_whom(a), y = of_whom(b);
	return x == y ? by_age(a, b) : x < y ? -1 : 1;
}

static int by_node(const void *a, const void *b)
{
	const struct weir_replica_node *x = a, *y = b;
	return x->node == y->node ? by_age(a, b) : x->node < y->node ? -1 : 1;
}

/* A server that is anybody's may name one twice: its last report counts. */
static size_t one_of_each(struct weir_replica_node *of, size_t n)
{
	size_t last = 0;
	qsort(of, n, sizeof *of, by_node);
	for (size_t i = 0; i < n; i++)
		if (!last || of[last - 1].node != of[i].node)
			of[last++] = of[i];
	return last;
}

/* When files of redis of before come back, so does the report by a name that a node has left. What
 * somebody makes up in the name of a node that lives does not hide what that one says. */
static size_t only_last(struct weir_replica_node *of, size_t n)
{
	size_t last = 0;
	qsort(of, n, sizeof *of, by_opened);
	for (size_t i = 0; i < n; i++)
		if (!last || of_whom(&of[last - 1]) != of_whom(&of[i]) || of[i].age <= SILENT)
			of[last++] = of[i];
	return last;
}

size_t weir__view_nodes(struct weir_replica_node *out, const redisReply *flat, uint64_t now_ms)
{
	size_t n = 0;
	for (size_t i = 0; i + 1 < flat->elements; i += 2)
		n += take(&out[n], flat->element[i], flat->element[i + 1], now_ms);
	n = only_last(out, one_of_each(out, n));
	qsort(out, n, sizeof *out, by_age);
	return n;
}
