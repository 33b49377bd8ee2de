/* SPDX-License-Identifier: MIT
 * What becomes of a file that was read: its set is published, or it is refused, once and with a
 * sentence. */
#include <math.h>
#include "module.h"

void ngx_weir_take(struct ngx_weir_zone *zone, ngx_log_t *log)
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

static const char *consequence(const struct ngx_weir_zone *zone, bool stays)
{
	if (stays)
		return "the set in use stays";
	if (zone->on_error == NGX_WEIR_ON_ERROR_DENY)
		return "there is no set now, and rules refuse";
	return "there is no set now, and requests pass";
}

void ngx_weir_refuse(struct ngx_weir_zone *zone, const struct file_identity *file,
                     const char *sentence, int err, ngx_log_t *log)
{
	struct store_facts facts;
	bool again = !reading_is_verdict(err) || file_is_young(file);
	bool has_set = store_has_set(zone->store);
	bool stays = has_set && (zone->on_error == NGX_WEIR_ON_ERROR_KEEP ||
	                         reading_is_blameless(err));
	if (store_facts(zone->store, &facts) && facts.refused_since &&
	    file_same(&facts.refused, file) && ngx_strcmp(facts.sentence, sentence) == 0) {
		if (facts.refused_again != again)
			store_refused(zone->store, file, sentence, again);
		return; /* it was said */
	}
	store_refused(zone->store, file, sentence, again);
	ngx_atomic_fetch_add(&zone->counters->refusals, 1);
	ngx_log_error(NGX_LOG_ERR, log, 0, "weir_zone \"%V\": %s: %s", &zone->name, sentence,
	              consequence(zone, stays));
	if (has_set && !stays)
		store_withdraw(zone->store);
}
