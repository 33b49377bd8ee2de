/* SPDX-License-Identifier: MIT
 * weir plan --sets: what a router will cost. */
#include <string.h>
#include "input/units.h"
#include "output/exit.h"
#include "output/say.h"
#include "output/words.h"
#include "route.h"

/* Numbers of keys with commas between them. Return: how many, 0 after a message. */
static uint32_t parse_list(const char *text, uint64_t out[WEIR_ROUTER_SETS])
{
	char copy[2048];
	uint32_t n = 0;
	if (strlen(text) >= sizeof copy) {
		say("--keys: %zu characters: too many", strlen(text));
		return 0;
	}
	strcpy(copy, text);
	for (char *at = copy, *next; at; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = 0;
		if (n == WEIR_ROUTER_SETS) {
			say("--keys: more than %d numbers", WEIR_ROUTER_SETS);
			return 0;
		}
		if (!parse_keys("--keys", at, &out[n++]))
			return 0;
	}
	return n;
}

static void report_plan(const struct weir_router_plan *p, bool as_json)
{
	struct report r = report_new();
	report_count(&r, "sets", "sets", p->sets);
	report_count(&r, "columns", "columns", p->columns);
	report_count(&r, "rows_per_key", "rows of a key", p->rows_per_key);
	report_count(&r, "capacity", "keys of each set", p->capacity);
	report_bytes(&r, "bytes", "memory", p->bytes);
	report_bytes(&r, "bytes_wasted", "of that wasted",
	             p->bytes_wasted > 0 ? (uint64_t)p->bytes_wasted : 0);
	report_real(&r, "bits_per_key", "bits a key and set", p->bits_per_key);
	report_rate(&r, "fp_rate", "rate of a full set", p->fp_rate);
	report_real(&r, "false_sets", "false sets a lookup", p->false_sets);
	report_print(&r, as_json, stdout);
	report_free(&r);
}

int route_plan(struct weir_router_options *o, const char *keys, bool as_json)
{
	struct weir_router_plan plan = WEIR_ROUTER_PLAN_INIT;
	uint64_t each[WEIR_ROUTER_SETS];
	uint32_t n = keys ? parse_list(keys, each) : 0;
	if (keys && !n)
		return misuse_reported();
	if (n == 1)
		o->capacity = each[0];
	else if (n && n != o->sets)
		return misuse("--keys=%s: %u numbers for %u sets", keys, n, o->sets);
	else if (n)
		o->keys = each;
	int err = weir_router_plan(o, &plan);
	if (err)
		return trouble_plan();
	report_plan(&plan, as_json);
	return TOOL_OK;
}
