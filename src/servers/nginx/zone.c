/* SPDX-License-Identifier: MIT
 * Set up a zone's memory after the configuration is read. The counters are in nginx's shared zone,
 * which a reload keeps. A reload also keeps the store if path, size, mode and key are unchanged. If
 * the store has a set, workers follow the file and the master reads nothing. Otherwise the master
 * reads the file here, as the workers' user, so that the master refuses a file that the workers
 * could not read later. A refused file stops neither a start nor a reload of nginx. */
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "module.h"

enum { MOST_GROUPS = 1 << 16 }; /* the limit of Linux */

/* The rights of the master, to restore later. */
struct rights {
	bool changed;
	uid_t user;
	gid_t group;
	int n, dumpable;
	gid_t *groups;
};

/* Take the effective rights of the workers' user. Safe, since the master has only one thread. */
static ngx_int_t become_worker(struct rights *rights, ngx_cycle_t *cycle)
{
	ngx_core_conf_t *core = (ngx_core_conf_t *)ngx_get_conf(cycle->conf_ctx, ngx_core_module);
	*rights = (struct rights){ .user = geteuid(), .group = getegid() };
	if (rights->user != 0 || core->user == (ngx_uid_t)NGX_CONF_UNSET_UINT)
		return NGX_OK;
	rights->groups = ngx_alloc(MOST_GROUPS * sizeof *rights->groups, cycle->log);
	if (!rights->groups)
		return NGX_ERROR;
	rights->n = getgroups(MOST_GROUPS, rights->groups);
	rights->dumpable = prctl(PR_GET_DUMPABLE); /* a change of the effective user resets this */
	rights->changed = true;
	if (rights->n < 0 || initgroups(core->username, core->group) || setegid(core->group) ||
	    seteuid(core->user)) {
		ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
		              "weir: cannot read as user \"%s\"", core->username);
		return NGX_ERROR;
	}
	return NGX_OK;
}

static ngx_int_t become_master(struct rights *rights, ngx_cycle_t *cycle)
{
	ngx_int_t answer = NGX_OK;
	if (rights->changed &&
	    (seteuid(rights->user) || setegid(rights->group) ||
	     (rights->n >= 0 && setgroups((size_t)rights->n, rights->groups)))) {
		ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
		              "weir: cannot be the master's user again");
		answer = NGX_ERROR;
	}
	if (rights->changed)
		prctl(PR_SET_DUMPABLE, rights->dumpable);
	ngx_free(rights->groups);
	return answer;
}

static ngx_int_t read_first(struct ngx_weir_zone *zone, ngx_cycle_t *cycle)
{
	struct reading *reading = &zone->reading;
	struct rights rights;
	reading->store = zone->store;
	ngx_int_t answer = become_worker(&rights, cycle);
	if (answer == NGX_OK)
		reading_run(reading);
	if (become_master(&rights, cycle) != NGX_OK || answer != NGX_OK) {
		store_abandon(zone->store);
		return NGX_ERROR;
	}
	if (reading->err) {
		store_abandon(zone->store);
		ngx_weir_refuse(zone, &reading->file, reading->sentence, reading->err, cycle->log);
	} else {
		/* clear the identity of a young file, so that the workers read it again */
		if (file_is_young(&reading->file) && !zone->map)
			ngx_memzero(&reading->facts.file, sizeof reading->facts.file);
		ngx_weir_publish(zone, cycle->log);
	}
	return NGX_OK;
}

static void refuse_unread(struct ngx_weir_zone *zone, int err, ngx_cycle_t *cycle)
{
	struct file_identity file = reading_no_file(err);
	char sentence[STORE_TEXT];
	reading_explain_no_slot(sentence, zone->store, err);
	ngx_weir_refuse(zone, &file, sentence, err, cycle->log);
}

/* If the running configuration has a leader, that leader reads the file. */
static ngx_int_t fill(struct ngx_weir_zone *zone, ngx_cycle_t *cycle)
{
	ngx_int_t answer = NGX_OK;
	if (store_has_set(zone->store) || !store_lead(zone->store))
		return NGX_OK;
	int err = store_begin(zone->store);
	if (!err)
		answer = read_first(zone, cycle);
	else if (err != -EBUSY)
		refuse_unread(zone, err, cycle);
	store_resign(zone->store);
	return answer;
}

/* A set that was missing before this reload is reported again only if the rules have changed. */
static void log_missing(const struct ngx_weir_zone *zone, const struct ngx_weir_zone *before,
                        ngx_log_t *log)
{
	char now[NGX_WEIR_CONSEQUENCE], then[NGX_WEIR_CONSEQUENCE];
	if (before->store != zone->store || store_has_set(zone->store) ||
	    ngx_strcmp(ngx_weir_consequence(zone, now), ngx_weir_consequence(before, then)) == 0)
		return;
	ngx_log_error(NGX_LOG_ERR, log, 0, "weir_zone \"%V\": %V: there is still no set, and the "
	              "rules changed: %s", &zone->name, &zone->path, now);
}

static void release(void *data)
{
	struct ngx_weir_zone *zone = data;
	if (zone->timer.timer_set) /* set only in a worker, or if nginx is a single process */
		ngx_del_timer(&zone->timer);
	store_release(zone->store);
}

static ngx_int_t have_store(struct ngx_weir_zone *zone, struct ngx_weir_zone *before,
                            ngx_cycle_t *cycle)
{
	ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(cycle->pool, 0);
	if (!cleanup)
		return NGX_ERROR;
	const char *path = (char *)zone->path.data;
	if (before && before->store &&
	    store_is(before->store, path, zone->max, zone->map, zone->secret)) {
		zone->store = store_share(before->store);
	} else {
		int err = store_create(&zone->store, path, zone->max, zone->map, zone->secret);
		if (err) {
			ngx_log_error(NGX_LOG_EMERG, cycle->log, -err, "weir_zone \"%V\": cannot "
			              "reserve two slots of max=%uz bytes", &zone->name,
			              zone->max);
			return NGX_ERROR;
		}
	}
	cleanup->handler = release;
	cleanup->data = zone;
	return NGX_OK;
}

ngx_int_t ngx_weir_zone_init(ngx_shm_zone_t *memory, void *data)
{
	struct ngx_weir_zone *zone = memory->data, *before = data;
	ngx_slab_pool_t *slabs = (ngx_slab_pool_t *)memory->shm.addr;
	ngx_cycle_t *cycle = zone->cycle;
	if (before) {
		zone->counters = before->counters;
	} else {
		void *room = ngx_slab_calloc(slabs, sizeof *zone->counters + 64);
		if (!room)
			return NGX_ERROR;
		zone->counters = (void *)ngx_align_ptr(room, 64);
		slabs->data = zone->counters;
	}
	if (have_store(zone, before, cycle) != NGX_OK)
		return NGX_ERROR;
	ngx_int_t answer = fill(zone, cycle);
	if (before)
		log_missing(zone, before, cycle->log);
	return answer;
}
