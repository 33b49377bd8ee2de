/* SPDX-License-Identifier: MIT
 * What becomes of a file that was read: its set is published, or it is refused, once and with a
 * sentence. */
#include "module.h"

void ngx_weir_take(struct ngx_weir_zone *zone, ngx_log_t *log)
{
	struct store_facts *facts = &zone->reading.facts;
	store_publish(zone->store, facts);
	ngx_atomic_fetch_add(&zone->counters->swaps, 1);
	ngx_log_error(NGX_LOG_NOTICE, log, 0, "weir_zone \"%V\": %V: taken, set %uL: about %uL "
	              "keys", &zone->name, &zone->path, (uint64_t)facts->number,
	              facts->keys < 1e18 ? (uint64_t)facts->keys : 0);
}

static const char *consequence(const struct ngx_weir_zone *zone, bool has_set)
{
	if (zone->on_error == NGX_WEIR_ON_ERROR_DENY)
		return "there is no set now, and rules refuse";
	if (zone->on_error == NGX_WEIR_ON_ERROR_KEEP && has_set)
		return "the set in use stays";
	return "there is no set now, and requests pass";
}

void ngx_weir_refuse(struct ngx_weir_zone *zone, const struct file_identity *file,
                     const char *sentence, bool again, ngx_log_t *log)
{
	struct store_facts facts;
	bool has_set = store_has_set(zone->store);
	if (store_facts(zone->store, &facts) && facts.refused_since &&
	    file_same(&facts.refused, file) && ngx_strcmp(facts.sentence, sentence) == 0) {
		if (facts.refused_again != again)
			store_refused(zone->store, file, sentence, again);
		return; /* it was said */
	}
	store_refused(zone->store, file, sentence, again);
	ngx_atomic_fetch_add(&zone->counters->refusals, 1);
	ngx_log_error(NGX_LOG_ERR, log, 0, "weir_zone \"%V\": %s: %s", &zone->name, sentence,
	              consequence(zone, has_set));
	if (has_set && zone->on_error != NGX_WEIR_ON_ERROR_KEEP)
		store_withdraw(zone->store);
}
