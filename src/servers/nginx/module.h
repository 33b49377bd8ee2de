/* SPDX-License-Identifier: MIT
 * What the files of the nginx module share. */
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

/* While there is no usable file. */
enum ngx_weir_on_error {
	NGX_WEIR_ON_ERROR_KEEP, /* the set in use stays; without one weir_allow refuses */
	NGX_WEIR_ON_ERROR_PASS, /* the set goes, requests pass */
	NGX_WEIR_ON_ERROR_DENY, /* the set goes, rules refuse */
};

/* What a rule does with a request whose key it cannot look up. */
enum ngx_weir_then { NGX_WEIR_USUAL, NGX_WEIR_PASS, NGX_WEIR_REFUSE, NGX_WEIR_THENS };

enum ngx_weir_answer {
	NGX_WEIR_HIT, NGX_WEIR_MISS, NGX_WEIR_OFF, NGX_WEIR_INVALID,
	NGX_WEIR_EXCESS, /* a list beyond its limits, which is not looked up */
	NGX_WEIR_ANSWERS
};

/* How a variable's value is made a key. */
enum ngx_weir_form {
	NGX_WEIR_FORM_TEXT,
	NGX_WEIR_FORM_ADDRESS, /* an address as text */
	NGX_WEIR_FORM_CLIENT,  /* the client's address, of 4 or 16 bytes */
	NGX_WEIR_FORM_LIST,    /* addresses as text, with commas between them */
};
enum { NGX_WEIR_LIST_BYTES = 4096, NGX_WEIR_LIST_MOST = 64 }; /* limits of a list */

/* Counted by one worker, so that workers share no line; the sums are the zone's. Those that drain
 * beside their successors have lines of their own too, as long as there are not more than so many
 * processes; then two count in one. */
enum { NGX_WEIR_STRIPES = 64 };
struct ngx_weir_counters {
	struct ngx_weir_stripe {
		ngx_atomic_t answer[NGX_WEIR_ANSWERS]; /* lookups of rules */
		ngx_atomic_t refused;              /* requests */
	} __attribute__((aligned(64))) stripe[NGX_WEIR_STRIPES];
	ngx_atomic_t swaps;    /* sets taken */
	ngx_atomic_t refusals; /* files refused */
	ngx_atomic_t invalid_logged;    /* lookups of invalid keys in the log so far */
	ngx_atomic_t invalid_logged_at; /* ms since boot; 0: never */
};

struct ngx_weir_key {
	ngx_int_t variable; /* its index; of the client's address none is asked */
	enum ngx_weir_form form;
	/* of a list: */
	ngx_str_t header; /* its name, as in $http_NAME; empty: of another variable */
	ngx_uint_t from;  /* only that one, counted from the right; 0: each */
};

enum { NGX_WEIR_NAME = 64 }; /* longest name of a zone */

struct ngx_weir_zone {
	ngx_str_t name; /* letters, digits and _ */
	ngx_str_t path; /* NUL behind it; NULL: named by a rule, and not defined yet */
	const char *needed_in; /* the file with that rule */
	ngx_uint_t needed_at;  /* its line */
	ngx_msec_t check;
	size_t max; /* bytes of an image */
	bool map;
	const void *secret; /* of keyed images, or NULL */
	enum ngx_weir_on_error on_error;
	ngx_uint_t rules[2][NGX_WEIR_THENS]; /* how many: of weir_deny, weir_allow; on_missing */
	struct ngx_weir_key key; /* of $weir_NAME where no rule asked */
	ngx_int_t answer;    /* the index of $weir_NAME */
	ngx_cycle_t *cycle;  /* that it belongs to */
	ngx_shm_zone_t *memory;
	struct ngx_weir_counters *counters;
	struct store *store;
	/* a worker's (follow.c): */
	ngx_event_t timer;
	ngx_thread_task_t *task;
	ngx_thread_pool_t *pool;
	struct reading reading;
	bool tidying;                 /* the task gives pages back */
	bool doubted;                 /* doubt is set */
	ngx_msec_t doubted_at;
	struct file_identity doubt;   /* a file that seems bad: refused if it stays so */
	bool waits;                   /* a new file, since then: */
	ngx_msec_t waiting;
	uint64_t waiting_beside;      /* the set in use then */
	bool waiting_said, lacks_said;
};

struct ngx_weir_main_conf {
	ngx_array_t zones; /* struct ngx_weir_zone * */
	ngx_thread_pool_t *pool;
};

struct ngx_weir_rule {
	struct ngx_weir_zone *zone;
	struct ngx_weir_key key;
	bool allow; /* refuse what is not in the set; else what is */
	enum ngx_weir_then on_missing; /* there is no set */
	enum ngx_weir_then on_invalid; /* its list has an address that is none */
	ngx_uint_t status;
};

struct ngx_weir_loc_conf {
	ngx_array_t *rules; /* struct ngx_weir_rule; NULL: inherited */
	bool prometheus;    /* of weir_status */
};

/* directives.c */
extern ngx_command_t ngx_weir_commands[];

/* zone.c: the zone's memory, when the configuration has been read, before workers are forked */
ngx_int_t ngx_weir_zone_init(ngx_shm_zone_t *memory, void *before);

/* follow.c: a worker's timer */
ngx_int_t ngx_weir_follow_begin(struct ngx_weir_zone *zone, ngx_cycle_t *cycle);

/* verdict.c: of a leader that has read a file, or tried to: publish zone->reading, or refuse it
 * for @err. What will perhaps not fail again is looked at again, and what says nothing of the file
 * leaves the set in use whatever on_error is */
void ngx_weir_take(struct ngx_weir_zone *zone, ngx_log_t *log);
void ngx_weir_refuse(struct ngx_weir_zone *zone, const struct file_identity *file,
                     const char *sentence, int err, ngx_log_t *log);

/* verdict.c: a zone without a set. Such a rule refuses; how many of the zone's rules refuse, and
 * how many let requests pass; the same as words, which need @room */
bool ngx_weir_is_closed(const struct ngx_weir_zone *zone, bool allow, enum ngx_weir_then then);
void ngx_weir_count_rules(const struct ngx_weir_zone *zone, ngx_uint_t *refusing,
                          ngx_uint_t *passing);
enum { NGX_WEIR_CONSEQUENCE = 128 };
const char *ngx_weir_consequence(const struct ngx_weir_zone *zone,
                                 char room[NGX_WEIR_CONSEQUENCE]);

/* request.c; the log has a line a minute at most of invalid keys, with how many they are: @value is
 * one of them, or NULL */
void ngx_weir_log_invalid(struct ngx_weir_zone *zone, const ngx_str_t *value, ngx_log_t *log);
ngx_int_t ngx_weir_access(ngx_http_request_t *r);
ngx_int_t ngx_weir_answer_get(ngx_http_request_t *r, ngx_http_variable_value_t *v,
                              uintptr_t zone);

/* key.c */
enum ngx_weir_answer ngx_weir_ask(struct ngx_weir_zone *zone, const struct ngx_weir_key *key,
                                  const u_char *data, size_t len);

/* status.c */
ngx_int_t ngx_weir_status(ngx_http_request_t *r);

#endif
