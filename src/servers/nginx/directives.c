/* SPDX-License-Identifier: MIT
 * The directives. README.md lists their arguments. */
#include "module.h"

static const size_t usual_max = 256 << 20;

static char *fail(ngx_conf_t *cf, const char *what, const ngx_str_t *value)
{
	ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%s: \"%V\"", what, value);
	return NGX_CONF_ERROR;
}

static bool is_name(const ngx_str_t *name)
{
	for (size_t i = 0; i < name->len; i++) {
		u_char c = name->data[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    c != '_')
			return false;
	}
	return name->len && name->len <= NGX_WEIR_NAME;
}

/* Find or add the zone with that name, since a rule may name a zone before its definition. */
static struct ngx_weir_zone *zone_of(ngx_conf_t *cf, const ngx_str_t *name)
{
	struct ngx_weir_main_conf *conf =
		ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_module);
	struct ngx_weir_zone **zones = conf->zones.elts;
	for (ngx_uint_t i = 0; i < conf->zones.nelts; i++)
		if (zones[i]->name.len == name->len &&
		    ngx_strncmp(zones[i]->name.data, name->data, name->len) == 0)
			return zones[i];
	struct ngx_weir_zone *zone = ngx_pcalloc(cf->pool, sizeof *zone);
	struct ngx_weir_zone **place = ngx_array_push(&conf->zones);
	if (!zone || !place)
		return NULL;
	*place = zone;
	zone->name = *name;
	zone->cycle = cf->cycle;
	zone->needed_in = (char *)cf->conf_file->file.name.data;
	zone->needed_at = cf->conf_file->line;
	return zone;
}

static bool is_word(const ngx_str_t *value, const char *word)
{
	return value->len == strlen(word) && ngx_strncmp(value->data, word, value->len) == 0;
}

/* @value: $variable */
static char *set_key(ngx_conf_t *cf, struct ngx_weir_key *key, ngx_str_t value)
{
	static const char *const addresses[] = { "realip_remote_addr", "proxy_protocol_addr" };
	if (value.len < 2 || value.data[0] != '$')
		return fail(cf, "the key is one variable, such as $binary_remote_addr, not",
		            &value);
	value.data++;
	value.len--;
	key->form = is_word(&value, "binary_remote_addr") || is_word(&value, "remote_addr") ?
	            NGX_WEIR_FORM_CLIENT : NGX_WEIR_FORM_TEXT;
	for (unsigned i = 0; i < sizeof addresses / sizeof *addresses; i++)
		if (is_word(&value, addresses[i]))
			key->form = NGX_WEIR_FORM_ADDRESS;
	key->variable = ngx_http_get_variable_index(cf, &value);
	return key->variable == NGX_ERROR ? NGX_CONF_ERROR : NGX_CONF_OK;
}

/* Return: true if @value begins with @name; @rest then receives the text after @name. */
static bool behind(const ngx_str_t *value, const char *name, ngx_str_t *rest)
{
	size_t n = strlen(name);
	if (value->len < n || ngx_strncmp(value->data, name, n) != 0)
		return false;
	rest->data = value->data + n;
	rest->len = value->len - n;
	return true;
}

static char *set_on_error(ngx_conf_t *cf, struct ngx_weir_zone *zone, const ngx_str_t *word)
{
	if (is_word(word, "keep"))
		zone->on_error = NGX_WEIR_ON_ERROR_KEEP;
	else if (is_word(word, "pass"))
		zone->on_error = NGX_WEIR_ON_ERROR_PASS;
	else if (is_word(word, "deny"))
		zone->on_error = NGX_WEIR_ON_ERROR_DENY;
	else
		return fail(cf, "on_error is keep, pass or deny, not", word);
	return NGX_CONF_OK;
}

/* The master reads the key file now, so workers need no permission to read that file. */
static char *set_secret(ngx_conf_t *cf, struct ngx_weir_zone *zone, ngx_str_t path)
{
	u_char *key = ngx_palloc(cf->pool, WEIR_SECRET_BYTES);
	if (!key || ngx_conf_full_name(cf->cycle, &path, 1) != NGX_OK)
		return NGX_CONF_ERROR;
	zone->secret = key;
	if (weir_secret_read(key, (char *)path.data) == 0)
		return NGX_CONF_OK;
	ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "keyed_by: %s", weir_error_detail());
	return NGX_CONF_ERROR;
}

static char *set_option(ngx_conf_t *cf, struct ngx_weir_zone *zone, const ngx_str_t *value)
{
	ngx_str_t rest;
	if (behind(value, "check=", &rest)) {
		ngx_int_t ms = ngx_parse_time(&rest, 0);
		if (ms < 10)
			return fail(cf, "check is a time of 10ms or more, not", &rest);
		zone->check = (ngx_msec_t)ms;
	} else if (behind(value, "max=", &rest)) {
		off_t max = ngx_parse_offset(&rest);
		if (max < 4096 || (uint64_t)max > SIZE_MAX / 4)
			return fail(cf, "max is a size of 4k or more, not", &rest);
		zone->max = (size_t)max;
	} else if (behind(value, "on_error=", &rest)) {
		return set_on_error(cf, zone, &rest);
	} else if (behind(value, "key=", &rest)) {
		return set_key(cf, &zone->key, rest);
	} else if (behind(value, "keyed_by=", &rest)) {
		return set_secret(cf, zone, rest);
	} else if (is_word(value, "map")) {
		zone->map = true;
	} else if (!is_word(value, "load")) {
		return fail(cf, "the options of weir_zone are check=, max=, on_error=, key=, "
		            "keyed_by=, load and map, not", value);
	}
	return NGX_CONF_OK;
}

static char *set_variable(ngx_conf_t *cf, struct ngx_weir_zone *zone)
{
	static const ngx_str_t address = ngx_string("$binary_remote_addr");
	ngx_str_t name;
	name.len = sizeof "weir_" - 1 + zone->name.len;
	name.data = ngx_pnalloc(cf->pool, name.len);
	if (!name.data)
		return NGX_CONF_ERROR;
	ngx_sprintf(name.data, "weir_%V", &zone->name);
	ngx_http_variable_t *variable = ngx_http_add_variable(cf, &name, 0);
	if (!variable || set_key(cf, &zone->key, address) != NGX_CONF_OK)
		return NGX_CONF_ERROR;
	variable->get_handler = ngx_weir_answer_get;
	variable->data = (uintptr_t)zone;
	zone->answer = ngx_http_get_variable_index(cf, &name);
	return zone->answer == NGX_ERROR ? NGX_CONF_ERROR : NGX_CONF_OK;
}

static char *set_memory(ngx_conf_t *cf, struct ngx_weir_zone *zone)
{
	ngx_str_t name;
	name.len = sizeof "weir:" - 1 + zone->name.len;
	name.data = ngx_pnalloc(cf->pool, name.len);
	if (!name.data)
		return NGX_CONF_ERROR;
	ngx_sprintf(name.data, "weir:%V", &zone->name);
	zone->memory = ngx_shared_memory_add(cf, &name, 16 * ngx_pagesize, &ngx_http_weir_module);
	if (!zone->memory)
		return NGX_CONF_ERROR;
	zone->memory->init = ngx_weir_zone_init;
	zone->memory->data = zone;
	return NGX_CONF_OK;
}

static char *weir_zone(ngx_conf_t *cf, ngx_command_t *command, void *conf)
{
	ngx_str_t *value = cf->args->elts;
	(void)command, (void)conf;
	if (!is_name(&value[1]))
		return fail(cf, "a zone's name is 1 to 64 letters, digits and _, not", &value[1]);
	struct ngx_weir_zone *zone = zone_of(cf, &value[1]);
	if (!zone)
		return NGX_CONF_ERROR;
	if (zone->path.data)
		return fail(cf, "weir_zone is defined twice", &value[1]);
	zone->check = 1000;
	zone->max = usual_max;
	char *answer = set_variable(cf, zone);
	for (ngx_uint_t i = 3; answer == NGX_CONF_OK && i < cf->args->nelts; i++)
		answer = set_option(cf, zone, &value[i]);
	zone->path = value[2];
	if (answer == NGX_CONF_OK && ngx_conf_full_name(cf->cycle, &zone->path, 1) != NGX_OK)
		answer = NGX_CONF_ERROR;
	return answer == NGX_CONF_OK ? set_memory(cf, zone) : answer;
}

static char *set_then(ngx_conf_t *cf, const char *what, const ngx_str_t *word,
                      enum ngx_weir_then *then)
{
	if (is_word(word, "pass"))
		*then = NGX_WEIR_PASS;
	else if (is_word(word, "refuse"))
		*then = NGX_WEIR_REFUSE;
	else
		return fail(cf, what, word);
	return NGX_CONF_OK;
}

/* @from: 0: the default */
static char *set_list(ngx_conf_t *cf, struct ngx_weir_rule *rule, ngx_uint_t from)
{
	static const size_t prefix = sizeof "$http_" - 1;
	const ngx_str_t *variable = (const ngx_str_t *)cf->args->elts + 2;
	if (rule->key.form == NGX_WEIR_FORM_CLIENT)
		return fail(cf, "addresses and from= are for a list as text, such as "
		            "$http_x_forwarded_for, not", variable);
	if (variable->len > prefix &&
	    ngx_strncasecmp(variable->data, (u_char *)"$http_", prefix) == 0)
		rule->key.header = (ngx_str_t){ .len = variable->len - prefix,
			                        .data = variable->data + prefix };
	rule->key.form = NGX_WEIR_FORM_LIST;
	if (from || (rule->allow && !rule->key.from))
		rule->key.from = ngx_max(from, 1);
	return NGX_CONF_OK;
}

static char *set_rule_option(ngx_conf_t *cf, struct ngx_weir_rule *rule, const ngx_str_t *value)
{
	ngx_str_t rest;
	if (behind(value, "on_missing=", &rest))
		return set_then(cf, "on_missing is refuse or pass, not", &rest, &rule->on_missing);
	if (behind(value, "on_invalid=", &rest))
		return set_then(cf, "on_invalid is refuse or pass, not", &rest, &rule->on_invalid);
	if (is_word(value, "addresses"))
		return set_list(cf, rule, 0);
	if (behind(value, "from=", &rest)) {
		ngx_int_t from = ngx_atoi(rest.data, rest.len);
		if (!rule->allow || from < 1 || from > NGX_WEIR_LIST_MOST)
			return fail(cf, "from is a number from 1 to 64, of weir_allow, not", &rest);
		return set_list(cf, rule, (ngx_uint_t)from);
	}
	ngx_int_t status = ngx_atoi(value->data, value->len);
	if (status < 400 || status > 599)
		return fail(cf, "the options of a rule are a status from 400 to 599, on_missing=, "
		            "addresses, from= and on_invalid=, not", value);
	rule->status = (ngx_uint_t)status;
	return NGX_CONF_OK;
}

static char *weir_rule(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
	struct ngx_weir_loc_conf *conf = data;
	ngx_str_t *value = cf->args->elts;
	if (!conf->rules)
		conf->rules = ngx_array_create(cf->pool, 2, sizeof(struct ngx_weir_rule));
	if (!conf->rules)
		return NGX_CONF_ERROR;
	if (cf->args->nelts == 2)
		return is_word(&value[1], "off") ? NGX_CONF_OK :
		       fail(cf, "the variable is missing, such as $binary_remote_addr, after zone",
		            &value[1]);
	struct ngx_weir_zone *zone = zone_of(cf, &value[1]);
	struct ngx_weir_rule *rule = ngx_array_push(conf->rules);
	if (!zone || !rule)
		return NGX_CONF_ERROR;
	*rule = (struct ngx_weir_rule){ .zone = zone, .status = NGX_HTTP_FORBIDDEN };
	rule->allow = is_word(&command->name, "weir_allow");
	char *answer = set_key(cf, &rule->key, value[2]);
	for (ngx_uint_t i = 3; answer == NGX_CONF_OK && i < cf->args->nelts; i++)
		answer = set_rule_option(cf, rule, &value[i]);
	if (answer == NGX_CONF_OK && rule->on_invalid && rule->key.form != NGX_WEIR_FORM_LIST)
		return fail(cf, "on_invalid= needs addresses or from= beside it, for a list in",
		            &value[2]);
	zone->rules[rule->allow][rule->on_missing]++;
	return answer;
}

static char *set_status(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
	struct ngx_weir_loc_conf *conf = data;
	ngx_str_t *value = cf->args->elts;
	ngx_http_core_loc_conf_t *core =
		ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
	(void)command;
	conf->prometheus = cf->args->nelts == 2 && is_word(&value[1], "prometheus");
	if (cf->args->nelts == 2 && !conf->prometheus && !is_word(&value[1], "json"))
		return fail(cf, "json or prometheus, not", &value[1]);
	core->handler = ngx_weir_status;
	return NGX_CONF_OK;
}

#define EVERYWHERE (NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF)

ngx_command_t ngx_weir_commands[] = {
	{ ngx_string("weir_zone"), NGX_HTTP_MAIN_CONF | NGX_CONF_2MORE, weir_zone, 0, 0, NULL },
	{ ngx_string("weir_deny"), EVERYWHERE | NGX_CONF_1MORE, weir_rule,
	  NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },
	{ ngx_string("weir_allow"), EVERYWHERE | NGX_CONF_1MORE, weir_rule,
	  NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },
	{ ngx_string("weir_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS | NGX_CONF_TAKE1,
	  set_status, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },
	ngx_null_command
};
