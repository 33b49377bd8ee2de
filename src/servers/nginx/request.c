/* SPDX-License-Identifier: MIT
 * A request: its location's rules, in the access phase, and the variable of a zone. */
#include "module.h"

static const ngx_str_t words[NGX_WEIR_ANSWERS] = {
	ngx_string("hit"), ngx_string("miss"), ngx_string("off"), ngx_string("miss"),
};

static void say(ngx_http_variable_value_t *v, enum ngx_weir_answer answer)
{
	v->data = words[answer].data;
	v->len = words[answer].len & 0xfffffff;
	v->valid = 1;
	v->no_cacheable = 0;
	v->not_found = 0;
}

/* As $binary_remote_addr has it, without the way through a variable. */
static enum ngx_weir_answer ask_client(ngx_http_request_t *r, struct ngx_weir_zone *zone)
{
	const struct sockaddr *from = r->connection->sockaddr;
	const void *address = NULL;
	size_t len = 0;
	if (from->sa_family == AF_INET) {
		address = &((const struct sockaddr_in *)(const void *)from)->sin_addr;
		len = 4;
	} else if (from->sa_family == AF_INET6) {
		address = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
		len = 16;
	}
	return ngx_weir_ask(zone, NGX_WEIR_FORM_CLIENT, address, len);
}

static ngx_int_t ask(ngx_http_request_t *r, struct ngx_weir_zone *zone,
                     const struct ngx_weir_key *key, enum ngx_weir_answer *answer)
{
	if (key->form == NGX_WEIR_FORM_CLIENT) {
		*answer = ask_client(r, zone);
		return NGX_OK;
	}
	ngx_http_variable_value_t *v =
		ngx_http_get_flushed_variable(r, (ngx_uint_t)key->variable);
	if (!v)
		return NGX_ERROR;
	*answer = ngx_weir_ask(zone, key->form, v->data, v->not_found ? 0 : v->len);
	return NGX_OK;
}

static bool refuses(const struct ngx_weir_rule *rule, enum ngx_weir_answer answer)
{
	if (answer == NGX_WEIR_OFF)
		return ngx_weir_is_closed(rule->zone, rule->allow, rule->on_missing);
	return rule->allow ? answer != NGX_WEIR_HIT : answer == NGX_WEIR_HIT;
}

ngx_int_t ngx_weir_access(ngx_http_request_t *r)
{
	struct ngx_weir_loc_conf *conf = ngx_http_get_module_loc_conf(r, ngx_http_weir_module);
	if (!conf->rules)
		return NGX_DECLINED;
	const struct ngx_weir_rule *rule = conf->rules->elts;
	for (ngx_uint_t i = 0; i < conf->rules->nelts; i++, rule++) {
		struct ngx_weir_zone *zone = rule->zone;
		struct ngx_weir_stripe *stripe =
			&zone->counters->stripe[(unsigned)ngx_process_slot % NGX_WEIR_STRIPES];
		enum ngx_weir_answer answer;
		if (ask(r, zone, &rule->key, &answer) != NGX_OK)
			return NGX_HTTP_INTERNAL_SERVER_ERROR;
		ngx_atomic_fetch_add(&stripe->answer[answer], 1);
		say(&r->variables[zone->answer], answer);
		if (answer == NGX_WEIR_INVALID && !zone->invalid_said) {
			zone->invalid_said = true;
			ngx_log_error(NGX_LOG_WARN, r->connection->log, 0, "weir_zone \"%V\": its "
			              "keys are addresses, and the variable of a rule has a value "
			              "that is none: it is in no set", &zone->name);
		}
		if (!refuses(rule, answer))
			continue;
		ngx_atomic_fetch_add(&stripe->refused, 1);
		ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "weir_zone \"%V\" refuses",
		              &zone->name);
		return (ngx_int_t)rule->status;
	}
	return NGX_DECLINED;
}

/* Asked for before any rule of the zone has been, or without one. */
ngx_int_t ngx_weir_answer_get(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
	struct ngx_weir_zone *zone = (struct ngx_weir_zone *)data;
	enum ngx_weir_answer answer;
	if (ask(r, zone, &zone->key, &answer) != NGX_OK)
		return NGX_ERROR;
	say(v, answer);
	return NGX_OK;
}
