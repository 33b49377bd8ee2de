/* SPDX-License-Identifier: MIT
 * The module for nginx: configurations, phases, the start of a worker. */
#include "module.h"

static void *create_main_conf(ngx_conf_t *cf)
{
	struct ngx_weir_main_conf *conf = ngx_pcalloc(cf->pool, sizeof *conf);
	if (!conf ||
	    ngx_array_init(&conf->zones, cf->pool, 4, sizeof(struct ngx_weir_zone *)) != NGX_OK)
		return NULL;
	return conf;
}

static void *create_loc_conf(ngx_conf_t *cf)
{
	return ngx_pcalloc(cf->pool, sizeof(struct ngx_weir_loc_conf));
}

/* As with nginx's own lists, a level with rules does not inherit the rules of the level above. */
static char *merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
	struct ngx_weir_loc_conf *above = parent, *conf = child;
	(void)cf;
	if (!conf->rules)
		conf->rules = above->rules;
	return NGX_CONF_OK;
}

static ngx_int_t check_zones(ngx_conf_t *cf, const struct ngx_weir_main_conf *conf)
{
	struct ngx_weir_zone **zones = conf->zones.elts;
	for (ngx_uint_t i = 0; i < conf->zones.nelts; i++) {
		if (zones[i]->path.data)
			continue;
		ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "weir_zone \"%V\" is used in %s:%ui and "
		              "defined nowhere", &zones[i]->name, zones[i]->needed_in,
		              zones[i]->needed_at);
		return NGX_ERROR;
	}
	return NGX_OK;
}

static ngx_int_t postconfiguration(ngx_conf_t *cf)
{
	struct ngx_weir_main_conf *conf =
		ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_module);
	ngx_http_core_main_conf_t *core =
		ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
	struct ngx_weir_zone **zones = conf->zones.elts;
	if (!conf->zones.nelts)
		return NGX_OK;
	if (check_zones(cf, conf) != NGX_OK)
		return NGX_ERROR;
	ngx_thread_pool_t *pool = ngx_thread_pool_add(cf, NULL);
	ngx_http_handler_pt *handler =
		ngx_array_push(&core->phases[NGX_HTTP_ACCESS_PHASE].handlers);
	if (!pool || !handler)
		return NGX_ERROR;
	for (ngx_uint_t i = 0; i < conf->zones.nelts; i++)
		zones[i]->pool = pool;
	*handler = ngx_weir_access;
	return NGX_OK;
}

/* Only workers follow the file, since the processes that manage caches serve no requests. */
static ngx_int_t init_process(ngx_cycle_t *cycle)
{
	struct ngx_weir_main_conf *conf =
		ngx_http_cycle_get_module_main_conf(cycle, ngx_http_weir_module);
	if (!conf || (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE))
		return NGX_OK;
	struct ngx_weir_zone **zones = conf->zones.elts;
	for (ngx_uint_t i = 0; i < conf->zones.nelts; i++)
		if (ngx_weir_follow_begin(zones[i], cycle) != NGX_OK)
			return NGX_ERROR;
	return NGX_OK;
}

static ngx_http_module_t context = {
	.postconfiguration = postconfiguration,
	.create_main_conf = create_main_conf,
	.create_loc_conf = create_loc_conf,
	.merge_loc_conf = merge_loc_conf,
};

ngx_module_t ngx_http_weir_module = {
	NGX_MODULE_V1,
	.ctx = &context,
	.commands = ngx_weir_commands,
	.type = NGX_HTTP_MODULE,
	.init_process = init_process,
};

/* The symbols that nginx looks up in a module's file. */
#define SEEN __attribute__((visibility("default")))
extern SEEN ngx_module_t *ngx_modules[];
extern SEEN char *ngx_module_names[], *ngx_module_order[];
ngx_module_t *ngx_modules[] = { &ngx_http_weir_module, NULL };
char *ngx_module_names[] = { "ngx_http_weir_module", NULL };
char *ngx_module_order[] = { NULL };
