/* SPDX-License-Identifier: MIT
 * Types and functions that the files of the nginx module share. */
#ifndef WEIR_NGINX_MODULE_H
#define WEIR_NGINX_MODULE_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>
#include <ngx_thread_pool.h>
#include <stdbool.h>
#include "reading.h"
#include "store.h"

extern ngx_module_t ngx_http_weir_module;

/* The action while no file is usable. */
enum ngx_weir_on_error {
	NGX_WEIR_ON_ERROR_KEEP, /* keep the set in use; without a set weir_allow refuses */
	NGX_WEIR_ON_ERROR_PASS, /* drop the set; requests pass */
	NGX_WEIR_ON_ERROR_DENY, /* drop the set; rules refuse */
};

/* The action of a rule if the key cannot be looked up. USUAL: on_error decides. */
enum ngx_weir_then { NGX_WEIR_USUAL, NGX_WEIR_PASS, NGX_WEIR_REFUSE, NGX_WEIR_THENS };

enum ngx_weir_answer {
	NGX_WEIR_HIT, NGX_WEIR_MISS, NGX_WEIR_OFF, NGX_WEIR_INVALID,
	NGX_WEIR_EXCESS, /* a list beyond its limits, which is not looked up */
	NGX_WEIR_ANSWERS
};

/* How a variable's value becomes a key. */
enum ngx_weir_form {
	NGX_WEIR_FORM_TEXT,
	NGX_WEIR_FORM_ADDRESS, /* an address as text */
	NGX_WEIR_FORM_CLIENT,  /* the client's address, of 4 or 16 bytes */
	NGX_WEIR_FORM_LIST,    /* addresses as text, separated by commas */
};
enum { NGX_WEIR_LIST_BYTES = 4096, NGX_WEIR_LIST_MOST = 64 }; /* limits of a list */

/* The counters of a zone. Each worker counts in its own stripe, so that no two workers share a
 * cache line. Readers sum the stripes. Exiting workers of an old configuration have their own
 * stripes too. With more than NGX_WEIR_STRIPES processes, some processes share a stripe. */
enum { NGX_WEIR_STRIPES = 64 };
struct ngx_weir_counters {
	struct ngx_weir_stripe {
		ngx_atomic_t answer[NGX_WEIR_ANSWERS]; /* lookups of rules */
		ngx_atomic_t refused;              /* refused requests */
	} __attribute__((aligned(64))) stripe[NGX_WEIR_STRIPES];
	ngx_atomic_t swaps;    /* sets published */
	ngx_atomic_t refusals; /* files refused */
	ngx_atomic_t invalid_logged;    /* number of invalid keys at the last log line */
	ngx_atomic_t invalid_logged_at; /* time of that line, ms since boot; 0: never */
};

struct ngx_weir_key {
	ngx_int_t variable; /* index of the variable; unused for the client's address */
	enum ngx_weir_form form;
	/* for a list: */
	ngx_str_t header; /* header name, as in $http_NAME; empty: another variable */
	ngx_uint_t from;  /* the only element looked up, counted from the right; 0: look up all */
};

enum { NGX_WEIR_NAME = 64 }; /* longest name of a zone */

struct ngx_weir_zone {
	ngx_str_t name; /* letters, digits and _ */
	ngx_str_t path; /* ends with a NUL; NULL: a rule names the zone before its definition */
	const char *needed_in; /* the configuration file that first names the zone */
	ngx_uint_t needed_at;  /* the line in that file */
	ngx_msec_t check;
	size_t max; /* limit in bytes of an image */
	bool map;
	const void *secret; /* key of keyed images; NULL: images are not keyed */
	enum ngx_weir_on_error on_error;
	ngx_uint_t rules[2][NGX_WEIR_THENS]; /* number of rules; first index: 0 weir_deny,
	                                        1 weir_allow; second index: on_missing */
	struct ngx_weir_key key; /* used for $weir_NAME if no rule of the zone has run */
	ngx_int_t answer;    /* index of $weir_NAME */
	ngx_cycle_t *cycle;  /* the cycle of the zone's configuration */
	ngx_shm_zone_t *memory;
	struct ngx_weir_counters *counters;
	struct store *store;
	/* For one worker (follow.c): */
	ngx_event_t timer;
	ngx_thread_task_t *task;
	ngx_thread_pool_t *pool;
	struct reading reading;
	bool tidying;                 /* the task frees pages */
	bool doubted;                 /* true: the field doubt has a file */
	ngx_msec_t doubted_at;
	struct file_identity doubt;   /* a file that seems bad; refused if it stays bad */
	bool pending;                 /* a new file is pending */
	ngx_msec_t pending_since;
	uint64_t pending_set;      /* number of the set in use at pending_since */
	bool pending_logged, missing_logged;
};

struct ngx_weir_main_conf {
	ngx_array_t zones; /* struct ngx_weir_zone * */
	ngx_thread_pool_t *pool;
};

struct ngx_weir_rule {
	struct ngx_weir_zone *zone;
	struct ngx_weir_key key;
	bool allow; /* true: refuse keys that are not in the set; false: refuse keys in it */
	enum ngx_weir_then on_missing; /* the action if the zone lacks a set */
	enum ngx_weir_then on_invalid; /* the action if an element of the list is not an address */
	ngx_uint_t status;
};

struct ngx_weir_loc_conf {
	ngx_array_t *rules; /* NULL: inherited */
	bool prometheus;    /* format of weir_status */
};

/* directives.c */
extern ngx_command_t ngx_weir_commands[];

/* zone.c: set up the zone's memory. Runs after the configuration is read, before nginx forks. */
ngx_int_t ngx_weir_zone_init(ngx_shm_zone_t *memory, void *before);

/* follow.c: start a worker's timer. */
ngx_int_t ngx_weir_follow_begin(struct ngx_weir_zone *zone, ngx_cycle_t *cycle);

/* verdict.c, leader only. Publish the set in zone->reading. */
void ngx_weir_publish(struct ngx_weir_zone *zone, ngx_log_t *log);
/* Refuse the file with @err. If the same file may succeed later, the leader reads it again. If @err
 * says nothing about the file, the set in use stays. */
void ngx_weir_refuse(struct ngx_weir_zone *zone, const struct file_identity *file,
                     const char *sentence, int err, ngx_log_t *log);

/* verdict.c, for a zone without a set. Return: true if a rule refuses requests. */
bool ngx_weir_is_closed(const struct ngx_weir_zone *zone, bool allow, enum ngx_weir_then then);
/* Count the zone's rules that refuse requests, and those that let requests pass. */
void ngx_weir_count_rules(const struct ngx_weir_zone *zone, ngx_uint_t *refusing,
                          ngx_uint_t *passing);
enum { NGX_WEIR_CONSEQUENCE = 128 };
/* Write these two numbers as text to @room. Return: @room. */
const char *ngx_weir_consequence(const struct ngx_weir_zone *zone,
                                 char room[NGX_WEIR_CONSEQUENCE]);

/* request.c: log how many keys were invalid since the last such line for the zone, at most once a
 * minute.
 * @value: one of the keys, or NULL. */
void ngx_weir_log_invalid(struct ngx_weir_zone *zone, const ngx_str_t *value, ngx_log_t *log);
ngx_int_t ngx_weir_access(ngx_http_request_t *r);
ngx_int_t ngx_weir_answer_get(ngx_http_request_t *r, ngx_http_variable_value_t *v,
                              uintptr_t zone);

/* key.c */
enum ngx_weir_answer ngx_weir_lookup(struct ngx_weir_zone *zone, const struct ngx_weir_key *key,
                                     const u_char *data, size_t len);

/* status.c */
ngx_int_t ngx_weir_status(ngx_http_request_t *r);

#endif
