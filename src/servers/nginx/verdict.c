/* SPDX-License-Identifier: MIT
 * Publish the set of a file that was read, or refuse the file. A refusal is logged with its reason.
 * While the leader refuses the same file for the same reason, it logs only the first refusal. */
#include <math.h>
#include "module.h"

void ngx_weir_publish(struct ngx_weir_zone *zone, ngx_log_t *log)
{
	struct store_facts *facts = &zone->reading.facts;
	char keys[64] = "every bit is set";
	if (isfinite(facts->keys))
		snprintf(keys, sizeof keys, "about %.0f keys", facts->keys);
	store_publish(zone->store, facts);
	ngx_atomic_fetch_add(&zone->counters->swaps, 1);
	const ngx_uint_t level = ngx_test_config ? NGX_LOG_INFO : NGX_LOG_NOTICE; /* nginx -t */
	ngx_log_error(level, log, 0, "weir_zone \"%V\": %V: taken, set %uL: %s",
	              &zone->name, &zone->path, (uint64_t)facts->number, keys);
}

bool ngx_weir_is_closed(const struct ngx_weir_zone *zone, bool allow, enum ngx_weir_then then)
{
	if (then != NGX_WEIR_USUAL)
		return then == NGX_WEIR_REFUSE;
	if (zone->on_error == NGX_WEIR_ON_ERROR_KEEP)
		return allow;
	return zone->on_error == NGX_WEIR_ON_ERROR_DENY;
}

void ngx_weir_count_rules(const struct ngx_weir_zone *zone, ngx_uint_t *refusing,
                          ngx_uint_t *passing)
{
	*refusing = *passing = 0;
	for (unsigned allow = 0; allow < 2; allow++)
		for (unsigned then = 0; then < NGX_WEIR_THENS; then++)
			*(ngx_weir_is_closed(zone, allow, then) ? refusing : passing) +=
				zone->rules[allow][then];
}

const char *ngx_weir_consequence(const struct ngx_weir_zone *zone,
                                 char room[NGX_WEIR_CONSEQUENCE])
{
	ngx_uint_t refusing, passing;
	ngx_weir_count_rules(zone, &refusing, &passing);
	snprintf(room, NGX_WEIR_CONSEQUENCE, "rules that refuse every request: %lu, "
	         "that let it pass: %lu", (unsigned long)refusing, (unsigned long)passing);
	return room;
}

void ngx_weir_refuse(struct ngx_weir_zone *zone, const struct file_identity *file,
                     const char *sentence, int err, ngx_log_t *log)
{
	char room[NGX_WEIR_CONSEQUENCE];
	struct store_facts facts;
	bool again = !reading_is_final(err) || file_is_young(file);
	bool has_set = store_has_set(zone->store);
	bool stays = has_set && (zone->on_error == NGX_WEIR_ON_ERROR_KEEP ||
	                         reading_lacked_resources(err));
	if (store_facts(zone->store, &facts) && facts.refused_since &&
	    file_same(&facts.refused, file) && ngx_strcmp(facts.sentence, sentence) == 0) {
		if (facts.refused_again != again)
			store_refused(zone->store, file, sentence, again);
		return; /* already logged */
	}
	store_refused(zone->store, file, sentence, again);
	ngx_atomic_fetch_add(&zone->counters->refusals, 1);
	ngx_log_error(NGX_LOG_ERR, log, 0, "weir_zone \"%V\": %s: %s%s", &zone->name, sentence,
	              stays ? "the set in use stays" : "there is no set now: ",
	              stays ? "" : ngx_weir_consequence(zone, room));
	if (has_set && !stays)
		store_withdraw(zone->store);
}
