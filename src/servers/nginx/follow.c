/* SPDX-License-Identifier: MIT
 * A worker's timer for a zone. On each tick a worker switches to the set in use, so that an idle
 * worker soon releases an old slot. One worker is the leader: it checks the file, and reads a new
 * file in nginx's thread pool, outside the event loop. An exiting worker resigns. The timer is
 * cancelable, so it does not delay the exit of a worker. */
#include "module.h"

/* In ms. SOON: delay of the next check if a slot is still read or a file may still be written to.
 * SETTLED: a file is refused only after it was bad and unchanged for this long. */
enum { SOON = 50, SETTLED = 1000 };
/* Report a new file that is pending for PATIENCE checks and at least PATIENCE_LEAST ms. */
enum { PATIENCE = 10, PATIENCE_LEAST = 2000 };

static bool is_ending(void)
{
	return ngx_exiting || ngx_quit || ngx_terminate;
}

/* The progress function of a read, in the thread. It ends the read when the worker exits, since the
 * worker waits for the thread. */
static int stop(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return is_ending();
}

/* Runs in the thread. */
static void work(void *data, ngx_log_t *log)
{
	struct ngx_weir_zone *zone = *(struct ngx_weir_zone **)data;
	(void)log;
	if (zone->tidying)
		store_free_pages(zone->store);
	else
		reading_run(&zone->reading);
}

static void again(struct ngx_weir_zone *zone, ngx_msec_t ms)
{
	if (zone->timer.timer_set)
		ngx_del_timer(&zone->timer);
	ngx_add_timer(&zone->timer, ms);
}

/* A file may seem bad while a job writes or moves it. So the leader refuses the file only if the
 * file is still bad and unchanged after SETTLED ms. */
static bool is_doubted(const struct ngx_weir_zone *zone, const struct file_identity *file)
{
	return zone->doubted && file_same(&zone->doubt, file);
}

static bool is_settled(const struct ngx_weir_zone *zone)
{
	return (ngx_msec_int_t)(ngx_current_msec - zone->doubted_at) >= SETTLED;
}

static void doubt(struct ngx_weir_zone *zone, const struct file_identity *file,
                  const char *sentence, int err)
{
	if (is_doubted(zone, file)) {
		if (is_settled(zone))
			ngx_weir_refuse(zone, file, sentence, err, zone->timer.log);
		return;
	}
	zone->doubted = true;
	zone->doubted_at = ngx_current_msec;
	zone->doubt = *file;
}

/* Runs in the event loop, after work(). */
static void finish(ngx_event_t *event)
{
	struct ngx_weir_zone *zone = event->data;
	struct reading *reading = &zone->reading;
	if (zone->tidying || reading->err)
		store_abandon(zone->store);
	if (zone->tidying) {
		zone->tidying = false;
		return;
	}
	if (!reading->err) {
		ngx_weir_publish(zone, zone->timer.log);
		zone->doubted = false;
		store_follow(zone->store);
	} else if (!reading->changed && !is_ending()) { /* an exiting worker stops its read */
		doubt(zone, &reading->file, reading->sentence, reading->err);
	}
	if (reading->changed)
		again(zone, SOON);
}

/* Return: true if the caller should retry soon. */
static bool start(struct ngx_weir_zone *zone, const struct file_identity *file,
                  const struct store_facts *before, bool tidying)
{
	int err = store_begin(zone->store);
	if (err == -EBUSY)
		return !tidying;
	if (err) {
		char sentence[STORE_TEXT];
		reading_explain_no_slot(sentence, zone->store, err);
		doubt(zone, file, sentence, err);
		return false;
	}
	zone->tidying = tidying;
	zone->reading.store = zone->store;
	zone->reading.keys_before = before->keys;
	zone->reading.any_before = store_has_set(zone->store);
	zone->reading.prefixes_before = before->prefixes;
	zone->reading.stop = stop;
	if (ngx_thread_task_post(zone->pool, zone->task) == NGX_OK)
		return false;
	zone->tidying = false;
	store_abandon(zone->store); /* the queue is full: retry at the next tick */
	return false;
}

/* Return: true if the file is refused and need not be read again. */
static bool is_refused(const struct store_facts *facts, const struct file_identity *file)
{
	return facts->refused_since && !facts->refused_again && file_same(&facts->refused, file);
}

/* Leader only: check the file. Return: true if the next check should come after SOON ms. */
static bool look(struct ngx_weir_zone *zone)
{
	struct store *store = zone->store;
	char sentence[STORE_TEXT];
	struct file_identity file;
	struct store_facts facts;
	bool has_set = store_has_set(store);
	int err = file_identify(&file, store->path);
	if (err)
		file = reading_no_file(err);
	(void)store_facts(store, &facts);
	if (!err && has_set && file_same(&file, &facts.file)) {
		zone->doubted = false;
		if (facts.refused_since)
			store_refused(store, NULL, NULL, false); /* the file in use is back */
		return store_has_unused_pages(store) && start(zone, &file, &facts, true);
	}
	if (is_refused(&facts, &file) || (is_doubted(zone, &file) && !is_settled(zone)))
		return false;
	if (err) {
		reading_explain_no_file(sentence, store->path, err);
		doubt(zone, &file, sentence, err);
		return false;
	}
	return file_is_young(&file) || start(zone, &file, &facts, false);
}

/* Return: true if a new file is pending: it is neither in use nor refused. If another file was
 * published since the last call, the time of waiting starts again. */
static bool is_waiting(struct ngx_weir_zone *zone)
{
	struct file_identity file;
	struct store_facts facts;
	bool known = store_facts(zone->store, &facts);
	if (file_identify(&file, zone->store->path) || file_same(&file, &facts.file) ||
	    (facts.refused_since && file_same(&file, &facts.refused)))
		return false;
	if (known && zone->pending_set != facts.number)
		zone->pending = false;
	zone->pending_set = facts.number;
	return true;
}

static void log_waiting(struct ngx_weir_zone *zone)
{
	pid_t other = zone->store->busy ? 0 : store_blocker(zone->store);
	if (!other)
		return; /* this worker reads the file, or no process delays it */
	zone->pending_logged = true;
	ngx_log_error(NGX_LOG_ALERT, zone->timer.log, 0, "weir_zone \"%V\": %V: has been waiting "
	              "for %M ms for process %P, to take it or to leave an older set: does it "
	              "stand still?", &zone->name, &zone->path,
	              ngx_current_msec - zone->pending_since, other);
}

/* Every worker calls this, not only the leader, since the leader may hang. */
static void watch(struct ngx_weir_zone *zone)
{
	const ngx_msec_t patience = ngx_max(PATIENCE * zone->check, PATIENCE_LEAST);
	if (!is_waiting(zone)) {
		zone->pending = zone->pending_logged = false;
	} else if (!zone->pending) {
		zone->pending = true;
		zone->pending_since = ngx_current_msec;
	} else if (ngx_current_msec - zone->pending_since >= patience && !zone->pending_logged) {
		log_waiting(zone);
	}
	char room[NGX_WEIR_CONSEQUENCE];
	bool lacks = store_misses_set(zone->store);
	if (lacks && !zone->missing_logged)
		ngx_log_error(NGX_LOG_ALERT, zone->timer.log, 0, "weir_zone \"%V\": %V: is not "
		              "the file that was checked: this worker has no set: %s",
		              &zone->name, &zone->path, ngx_weir_consequence(zone, room));
	zone->missing_logged = lacks;
}

static void tick(ngx_event_t *event)
{
	struct ngx_weir_zone *zone = event->data;
	bool soon = false;
	store_follow(zone->store);
	if (zone->store->busy)
		;
	else if (is_ending())
		store_resign(zone->store);
	else if (store_lead(zone->store))
		soon = look(zone);
	watch(zone);
	ngx_weir_log_invalid(zone, NULL, zone->timer.log);
	ngx_add_timer(&zone->timer, soon && zone->check > SOON ? SOON : zone->check);
}

ngx_int_t ngx_weir_follow_begin(struct ngx_weir_zone *zone, ngx_cycle_t *cycle)
{
	zone->task = ngx_thread_task_alloc(cycle->pool, sizeof zone);
	if (!zone->task)
		return NGX_ERROR;
	*(struct ngx_weir_zone **)zone->task->ctx = zone;
	zone->task->handler = work;
	zone->task->event.handler = finish;
	zone->task->event.data = zone;
	zone->timer = (ngx_event_t){ .handler = tick, .data = zone, .log = cycle->log,
		                     .cancelable = 1 };
	store_follow(zone->store);
	ngx_add_timer(&zone->timer, zone->check < SOON ? zone->check : SOON);
	return NGX_OK;
}
