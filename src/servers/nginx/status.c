/* SPDX-License-Identifier: MIT
 * The content of weir_status: the figures of all zones as JSON, or as Prometheus text with the
 * names of weir/metrics.h, so that the same alerts apply. */
#include <math.h>
#include <weir/metrics.h>
#include "module.h"

#define FIGURES(X) \
	X(generation, gauge, "steps of the set so far: files taken, sets dropped") \
	X(absent, gauge, "1: there is no set") \
	X(rules_refusing, gauge, "rules that refuse every request, since there is no set") \
	X(rules_passing, gauge, "rules that let every request pass, since there is no set") \
	X(age_seconds, gauge, "since the set was taken") \
	X(keys, gauge, "distinct keys, estimated") \
	X(capacity_keys, gauge, "keys that it was made for") \
	X(fp_rate, gauge, "absent keys answered with yes, estimated") \
	X(fp_rate_asked, gauge, "as it was made for") \
	X(saturated, gauge, "1: more keys than its capacity") \
	X(bytes, gauge, "of the image") \
	X(swaps_total, counter, "files taken") \
	X(refused_total, counter, "files refused") \
	X(refused, gauge, "1: the file there now is refused") \
	X(refused_seconds, gauge, "since when; 0: it is not so") \
	X(waiting_seconds, gauge, "how long a new file has not been taken; 0: none waits") \
	X(hits_total, counter, "lookups of rules: in the set") \
	X(misses_total, counter, "lookups of rules: not in the set") \
	X(off_total, counter, "lookups of rules while there was no set") \
	X(invalid_total, counter, "lookups of rules: no address, or no list of addresses") \
	X(requests_refused_total, counter, "requests that a rule refused")

#define NUMBER(name, type, help) FIGURE_##name,
enum figure { FIGURES(NUMBER) FIGURES_ALL };

enum { gauge = 0, counter = 1 };

static const struct {
	const char *name, *metric, *help;
	uint32_t counter;
} figures[] = {
#define ROW(name, type, help) { #name, "weir_" #name, help, type },
	FIGURES(ROW)
};

struct row {
	const struct ngx_weir_zone *zone;
	char labels[sizeof "set=\"\"" + NGX_WEIR_NAME];
	struct store_facts facts;
	double figure[FIGURES_ALL];
};

/* Sum the stripes of all workers. Each load is atomic, but the loads run at different times. */
static void count(struct row *row)
{
	const struct ngx_weir_counters *counters = row->zone->counters;
	for (unsigned i = 0; i < NGX_WEIR_STRIPES; i++) {
		const struct ngx_weir_stripe *stripe = &counters->stripe[i];
		row->figure[FIGURE_hits_total] += (double)stripe->answer[NGX_WEIR_HIT];
		row->figure[FIGURE_misses_total] += (double)stripe->answer[NGX_WEIR_MISS];
		row->figure[FIGURE_off_total] += (double)stripe->answer[NGX_WEIR_OFF];
		row->figure[FIGURE_invalid_total] += (double)stripe->answer[NGX_WEIR_INVALID] +
		                                     (double)stripe->answer[NGX_WEIR_EXCESS];
		row->figure[FIGURE_requests_refused_total] += (double)stripe->refused;
	}
	row->figure[FIGURE_swaps_total] = (double)counters->swaps;
	row->figure[FIGURE_refused_total] = (double)counters->refusals;
}

static double seconds_since(uint64_t then)
{
	uint64_t now = (uint64_t)ngx_time();
	return then && now > then ? (double)(now - then) : 0;
}

static void measure(struct row *row)
{
	struct store_facts *facts = &row->facts;
	(void)store_facts(row->zone->store, facts);
	row->figure[FIGURE_generation] = (double)facts->number;
	if (!store_has_set(row->zone->store) || store_misses_set(row->zone->store)) {
		ngx_uint_t refusing, passing;
		ngx_weir_count_rules(row->zone, &refusing, &passing);
		row->figure[FIGURE_absent] = 1;
		row->figure[FIGURE_rules_refusing] = (double)refusing;
		row->figure[FIGURE_rules_passing] = (double)passing;
	}
	row->figure[FIGURE_age_seconds] = seconds_since(facts->since);
	row->figure[FIGURE_keys] = round(facts->keys);
	row->figure[FIGURE_capacity_keys] = (double)facts->capacity;
	row->figure[FIGURE_fp_rate] = facts->fp_rate;
	row->figure[FIGURE_fp_rate_asked] = facts->fp_rate_asked;
	row->figure[FIGURE_saturated] = (double)facts->saturated;
	row->figure[FIGURE_bytes] = (double)facts->bytes;
	row->figure[FIGURE_refused] = facts->refused_since != 0;
	row->figure[FIGURE_refused_seconds] = seconds_since(facts->refused_since);
	row->figure[FIGURE_waiting_seconds] = row->zone->pending ?
		(double)(ngx_current_msec - row->zone->pending_since) / 1000 : 0;
	count(row);
}

/* Write an integer or a rate. JSON has no infinity. */
static u_char *put_number(u_char *p, u_char *end, double x)
{
	if (!isfinite(x))
		return ngx_slprintf(p, end, "null");
	return x == floor(x) ? ngx_slprintf(p, end, "%.0f", x) : ngx_slprintf(p, end, "%.9f", x);
}

static u_char *put_text(u_char *p, u_char *end, const char *name, const u_char *text, size_t len)
{
	char plain[STORE_TEXT];
	weir_escape(plain, sizeof plain, (const char *)text, len); /* makes valid UTF-8 */
	p = ngx_slprintf(p, end, "\"%s\":\"", name);
	if ((size_t)(end - p) > 6 * sizeof plain)
		p = (u_char *)ngx_escape_json(p, (u_char *)plain, strlen(plain));
	return ngx_slprintf(p, end, "\",");
}

static u_char *put_json(u_char *p, u_char *end, const struct row *rows, ngx_uint_t n)
{
	p = ngx_slprintf(p, end, "{\"weir\":\"%s\",\"sets\":[", weir_version());
	for (ngx_uint_t i = 0; i < n; i++) {
		const struct ngx_weir_zone *zone = rows[i].zone;
		const char *sentence = rows[i].facts.sentence;
		p = ngx_slprintf(p, end, "%s{", i ? "," : "");
		p = put_text(p, end, "name", zone->name.data, zone->name.len);
		p = put_text(p, end, "path", zone->path.data, zone->path.len);
		p = ngx_slprintf(p, end, "\"mode\":\"%s\",\"leader\":%P,",
		                 zone->map ? "map" : "load", store_leader(zone->store));
		p = put_text(p, end, "refused_sentence", (const u_char *)sentence,
		             strlen(sentence));
		for (unsigned f = 0; f < FIGURES_ALL; f++) {
			p = ngx_slprintf(p, end, "%s\"%s\":", f ? "," : "", figures[f].name);
			p = put_number(p, end, rows[i].figure[f]);
		}
		p = ngx_slprintf(p, end, "}");
	}
	return ngx_slprintf(p, end, "]}\n");
}

static int next_figure(const void *object, uint32_t i, struct weir_metric *out)
{
	const struct row *row = object;
	if (i >= FIGURES_ALL)
		return 0;
	*out = (struct weir_metric){ figures[i].metric, figures[i].help, row->figure[i],
		                     figures[i].counter, 0 };
	return 1;
}

/* Return: the end of the text; NULL: no memory. */
static u_char *put_prometheus(u_char *p, u_char *end, struct weir_metrics *of, struct row *rows,
                              ngx_uint_t n)
{
	for (ngx_uint_t i = 0; i < n; i++) {
		ngx_snprintf((u_char *)rows[i].labels, sizeof rows[i].labels, "set=\"%V\"%Z",
		             &rows[i].zone->name);
		of[i] = weir_metrics_other(&rows[i], next_figure, rows[i].labels);
	}
	int64_t bytes = weir_metrics_write(of, n, (char *)p, (size_t)(end - p));
	return bytes < 0 || bytes >= end - p ? NULL : p + bytes;
}

static ngx_int_t send_text(ngx_http_request_t *r, ngx_buf_t *b, bool prometheus)
{
	static const ngx_str_t json = ngx_string("application/json"),
	                       text = ngx_string("text/plain; version=0.0.4");
	ngx_chain_t out = { .buf = b };
	r->headers_out.status = NGX_HTTP_OK;
	r->headers_out.content_type = prometheus ? text : json;
	r->headers_out.content_type_len = r->headers_out.content_type.len;
	r->headers_out.content_length_n = b->last - b->pos;
	b->last_buf = r == r->main;
	b->last_in_chain = 1;
	ngx_int_t answer = ngx_http_send_header(r);
	return answer != NGX_OK || r->header_only ? answer : ngx_http_output_filter(r, &out);
}

ngx_int_t ngx_weir_status(ngx_http_request_t *r)
{
	struct ngx_weir_loc_conf *loc = ngx_http_get_module_loc_conf(r, ngx_http_weir_module);
	struct ngx_weir_main_conf *conf = ngx_http_get_module_main_conf(r, ngx_http_weir_module);
	struct ngx_weir_zone **zones = conf->zones.elts;
	ngx_uint_t n = conf->zones.nelts;
	if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)))
		return NGX_HTTP_NOT_ALLOWED;
	ngx_int_t answer = ngx_http_discard_request_body(r);
	if (answer != NGX_OK)
		return answer;
	struct row *rows = ngx_pcalloc(r->pool, (n + 1) * sizeof *rows);
	struct weir_metrics *of = ngx_pcalloc(r->pool, (n + 1) * sizeof *of);
	/* An upper bound of the text's length. Each zone adds a few texts, of at most STORE_TEXT
	 * bytes before they are escaped, and its figures with their names. */
	ngx_buf_t *b = ngx_create_temp_buf(r->pool, 8192 + n * (24 * STORE_TEXT + 8192));
	if (!rows || !of || !b)
		return NGX_HTTP_INTERNAL_SERVER_ERROR;
	for (ngx_uint_t i = 0; i < n; i++) {
		rows[i].zone = zones[i];
		measure(&rows[i]);
	}
	b->last = loc->prometheus ? put_prometheus(b->last, b->end, of, rows, n) :
	                            put_json(b->last, b->end, rows, n);
	if (!b->last)
		return NGX_HTTP_INTERNAL_SERVER_ERROR;
	return send_text(r, b, loc->prometheus);
}
