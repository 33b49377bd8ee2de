/* SPDX-License-Identifier: MIT
 * Run the rules of a request's location in the access phase, and compute a zone's variable. */
#include "module.h"

static const ngx_str_t words[NGX_WEIR_ANSWERS] = {
	ngx_string("hit"), ngx_string("miss"), ngx_string("off"), ngx_string("miss"),
	ngx_string("miss"),
};
enum { LOG_EVERY = 60 * 1000 }; /* ms */

static void set_answer(ngx_http_variable_value_t *v, enum ngx_weir_answer answer)
{
	v->data = words[answer].data;
	v->len = words[answer].len & 0xfffffff;
	v->valid = 1;
	v->no_cacheable = 0;
	v->not_found = 0;
}

/* Look up the bytes of $binary_remote_addr without the cost of a variable. */
static enum ngx_weir_answer lookup_client(ngx_http_request_t *r, struct ngx_weir_zone *zone,
                                          const struct ngx_weir_key *key)
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
	return ngx_weir_lookup(zone, key, address, len);
}

/* Return: true if @line is a header line with that name. @name: spelled as in the name of a
 * variable, so x_forwarded_for matches X-Forwarded-For. */
static bool is_named(const ngx_table_elt_t *line, const ngx_str_t *name)
{
	if (!line->hash || line->key.len != name->len)
		return false;
	for (size_t i = 0; i < name->len; i++) {
		u_char c = line->key.data[i];
		if ((c == '-' ? '_' : ngx_tolower(c)) != ngx_tolower(name->data[i]))
			return false;
	}
	return true;
}

/* Append at most one byte beyond the limit, so that is_excess() detects a long list. */
static void append(ngx_str_t *list, const u_char *data, size_t len)
{
	len = ngx_min(len, NGX_WEIR_LIST_BYTES + 1 - list->len);
	ngx_memcpy(list->data + list->len, data, len);
	list->len += len;
}

/* @lines: lines in the list so far. A single line is used without a copy. */
static ngx_int_t add_line(ngx_http_request_t *r, ngx_str_t *list, ngx_uint_t lines,
                          const ngx_str_t *value)
{
	if (!lines) {
		*list = *value;
		return NGX_OK;
	}
	if (lines == 1) {
		const ngx_str_t first = *list;
		list->len = 0;
		list->data = ngx_pnalloc(r->pool, NGX_WEIR_LIST_BYTES + 1);
		if (!list->data)
			return NGX_ERROR;
		append(list, first.data, first.len);
	}
	append(list, (const u_char *)",", 1);
	append(list, value->data, value->len);
	return NGX_OK;
}

/* Join all header lines with that name in their order. Before nginx 1.23, most header variables
 * have only the first line. */
static ngx_int_t gather(ngx_http_request_t *r, const ngx_str_t *name, ngx_str_t *list)
{
	ngx_uint_t lines = 0;
	const ngx_list_part_t *part = &r->headers_in.headers.part;
	for (; part; part = part->next) {
		const ngx_table_elt_t *line = part->elts;
		for (ngx_uint_t i = 0; i < part->nelts; i++, line++)
			if (is_named(line, name) &&
			    add_line(r, list, lines++, &line->value) != NGX_OK)
				return NGX_ERROR;
	}
	return NGX_OK;
}

/* @value: receives the value looked up; empty for the client's address */
static ngx_int_t lookup(ngx_http_request_t *r, struct ngx_weir_zone *zone,
                        const struct ngx_weir_key *key, ngx_str_t *value,
                        enum ngx_weir_answer *answer)
{
	ngx_str_null(value);
	if (key->form == NGX_WEIR_FORM_CLIENT) {
		*answer = lookup_client(r, zone, key);
		return NGX_OK;
	}
	if (key->header.len) {
		if (gather(r, &key->header, value) != NGX_OK)
			return NGX_ERROR;
	} else {
		ngx_http_variable_value_t *v =
			ngx_http_get_flushed_variable(r, (ngx_uint_t)key->variable);
		if (!v)
			return NGX_ERROR;
		*value = (ngx_str_t){ .len = v->not_found ? 0 : v->len, .data = v->data };
	}
	*answer = ngx_weir_lookup(zone, key, value->data, value->len);
	return NGX_OK;
}

/* A list beyond its limits is refused whatever on_invalid is, since any client can send it. */
static bool refuses(const struct ngx_weir_rule *rule, enum ngx_weir_answer answer)
{
	if (answer == NGX_WEIR_OFF)
		return ngx_weir_is_closed(rule->zone, rule->allow, rule->on_missing);
	if (answer == NGX_WEIR_EXCESS)
		return true;
	if (answer == NGX_WEIR_INVALID && rule->key.form == NGX_WEIR_FORM_LIST)
		return rule->on_invalid != NGX_WEIR_PASS;
	return rule->allow ? answer != NGX_WEIR_HIT : answer == NGX_WEIR_HIT;
}

/* If several workers find a log line due, the worker that sets the time writes it. */
void ngx_weir_log_invalid(struct ngx_weir_zone *zone, const ngx_str_t *value, ngx_log_t *log)
{
	struct ngx_weir_counters *counters = zone->counters;
	ngx_atomic_uint_t at = counters->invalid_logged_at, before = counters->invalid_logged;
	ngx_atomic_uint_t n = 0;
	char plain[256] = "";
	/* another worker's time may be ahead of this worker's */
	if (at && (ngx_msec_int_t)(ngx_current_msec - at) < LOG_EVERY)
		return;
	for (unsigned i = 0; i < NGX_WEIR_STRIPES; i++)
		n += counters->stripe[i].answer[NGX_WEIR_INVALID] +
		     counters->stripe[i].answer[NGX_WEIR_EXCESS];
	if (n == before || !ngx_atomic_cmp_set(&counters->invalid_logged_at, at,
	                                       ngx_max(ngx_current_msec, 1)))
		return;
	counters->invalid_logged = n;
	if (value)
		weir_escape(plain, sizeof plain, (const char *)value->data,
		            ngx_min(value->len, 64));
	ngx_log_error(NGX_LOG_WARN, log, 0, "weir_zone \"%V\": keys that are no address, or no "
	              "list of at most %d addresses in %d bytes, since the last such line: %uA%s%s",
	              &zone->name, NGX_WEIR_LIST_MOST, NGX_WEIR_LIST_BYTES, n - before,
	              *plain ? ", such as: " : "", plain);
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
		ngx_str_t value;
		if (lookup(r, zone, &rule->key, &value, &answer) != NGX_OK)
			return NGX_HTTP_INTERNAL_SERVER_ERROR;
		ngx_atomic_fetch_add(&stripe->answer[answer], 1);
		set_answer(&r->variables[zone->answer], answer);
		if (answer == NGX_WEIR_INVALID || answer == NGX_WEIR_EXCESS)
			ngx_weir_log_invalid(zone, &value, r->connection->log);
		if (!refuses(rule, answer))
			continue;
		ngx_atomic_fetch_add(&stripe->refused, 1);
		ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "weir_zone \"%V\" refuses",
		              &zone->name);
		return (ngx_int_t)rule->status;
	}
	return NGX_DECLINED;
}

/* Runs if no rule of the zone has set the variable in this request. */
ngx_int_t ngx_weir_answer_get(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
	struct ngx_weir_zone *zone = (struct ngx_weir_zone *)data;
	enum ngx_weir_answer answer;
	ngx_str_t value;
	if (lookup(r, zone, &zone->key, &value, &answer) != NGX_OK)
		return NGX_ERROR;
	set_answer(v, answer);
	return NGX_OK;
}
