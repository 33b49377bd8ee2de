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

/* The action without a usable file. */
enum ngx_weir_on_error {
	NGX_WEIR_ON_ERROR_KEEP, /* the set in use stays; without one weir_allow refuses */
	NGX_WEIR_ON_ERROR_PASS, /* the set goes, requests pass */
	NGX_WEIR_ON_ERROR_DENY, /* the set goes, rules refuse */
};

/* The action of a rule on a request if it cannot look up the key. */
enum ngx_weir_then { NGX_WEIR_USUAL, NGX_WEIR_PASS, NGX_WEIR_REFUSE, NGX_WEIR_THENS };

enum ngx_weir_answer {
	NGX_WEIR_HIT, NGX_WEIR_MISS, NGX_WEIR_OFF, NGX_WEIR_INVALID,
	NGX_WEIR_EXCESS, /* a list beyond its limits, not looked up */
	NGX_WEIR_ANSWERS
};

/* How a key is made from a variable's value. */
enum ngx_weir_form {
	NGX_WEIR_FORM_TEXT,
	NGX_WEIR_FORM_ADDRESS, /* an address as text */
	NGX_WEIR_FORM_CLIENT,  /* the client's address, of 4 or 16 bytes */
	NGX_WEIR_FORM_LIST,    /* addresses as text, separated by commas */
};
enum { NGX_WEIR_LIST_BYTES = 4096, NGX_WEIR_LIST_MOST = 64 }; /* limits of a list */

/* The counters of a zone. Each worker counts in its own stripe, so that workers share no line.
 * Readers sum the stripes. Workers that drain beside their successors have own stripes too. With
 * more than NGX_WEIR_STRIPES processes, two count in one stripe. */
enum { NGX_WEIR_STRIPES = 64 };
struct ngx_weir_counters {
	struct ngx_weir_stripe {
		ngx_atomic_t answer[NGX_WEIR_ANSWERS]; /* lookups of rules */
		ngx_atomic_t refused;              /* requests */
	} __attribute__((aligned(64))) stripe[NGX_WEIR_STRIPES];
	ngx_atomic_t swaps;    /* sets taken */
	ngx_atomic_t refusals; /* files refused */
	ngx_atomic_t invalid_logged;    /* lookups of invalid keys that the log has covered */
	ngx_atomic_t invalid_logged_at; /* ms since boot; 0: never */
};

struct ngx_weir_key {
	ngx_int_t variable; /* its index; unused for the client's address */
	enum ngx_weir_form form;
	/* for a list: */
	ngx_str_t header; /* its name, as in $http_NAME; empty: another variable */
	ngx_uint_t from;  /* the only element asked, from the right; 0: all */
};

enum { NGX_WEIR_NAME = 64 }; /* longest name of a zone */

struct ngx_weir_zone {
	ngx_str_t name; /* letters, digits and _ */
	ngx_str_t path; /* ends with a NUL; NULL: only named by a rule so far */
	const char *needed_in; /* the file with that rule */
	ngx_uint_t needed_at;  /* its line */
	ngx_msec_t check;
	size_t max; /* bytes of an image */
	bool map;
	const void *secret; /* of keyed images, or NULL */
	enum ngx_weir_on_error on_error;
	ngx_uint_t rules[2][NGX_WEIR_THENS]; /* numbers, by weir_deny, weir_allow and on_missing */
	struct ngx_weir_key key; /* of $weir_NAME if no rule has asked */
	ngx_int_t answer;    /* the index of $weir_NAME */
	ngx_cycle_t *cycle;  /* its owner */
	ngx_shm_zone_t *memory;
	struct ngx_weir_counters *counters;
	struct store *store;
	/* for one worker (follow.c): */
	ngx_event_t timer;
	ngx_thread_task_t *task;
	ngx_thread_pool_t *pool;
	struct reading reading;
	bool tidying;                 /* the task gives pages back */
	bool doubted;                 /* doubt is set */
	ngx_msec_t doubted_at;
	struct file_identity doubt;   /* a file that seems bad: refused if it stays bad */
	bool waits;                   /* a new file waits, since then: */
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
	bool allow; /* refuse keys outside the set; else keys in it */
	enum ngx_weir_then on_missing; /* there is no set */
	enum ngx_weir_then on_invalid; /* an element of its list is not an address */
	ngx_uint_t status;
};

struct ngx_weir_loc_conf {
	ngx_array_t *rules; /* struct ngx_weir_rule; NULL: inherited */
	bool prometheus;    /* of weir_status */
};

/* directives.c */
extern ngx_command_t ngx_weir_commands[];

/* zone.c: set up the zone's memory. Runs after the configuration was read, before nginx forks */
ngx_int_t ngx_weir_zone_init(ngx_shm_zone_t *memory, void *before);

/* follow.c: a worker's timer */
ngx_int_t ngx_weir_follow_begin(struct ngx_weir_zone *zone, ngx_cycle_t *cycle);

/* verdict.c, for a leader that has read a file or tried to: publish zone->reading, or refuse the
 * file for @err. The leader looks again at a file that may succeed later. An error that says
 * nothing about the file leaves the set in use, whatever on_error is */
void ngx_weir_take(struct ngx_weir_zone *zone, ngx_log_t *log);
void ngx_weir_refuse(struct ngx_weir_zone *zone, const struct file_identity *file,
                     const char *sentence, int err, ngx_log_t *log);

/* verdict.c, for a zone without a set: does such a rule refuse? The numbers of the zone's rules
 * that refuse and that let requests pass; the same numbers as text, written into @room */
bool ngx_weir_is_closed(const struct ngx_weir_zone *zone, bool allow, enum ngx_weir_then then);
void ngx_weir_count_rules(const struct ngx_weir_zone *zone, ngx_uint_t *refusing,
                          ngx_uint_t *passing);
enum { NGX_WEIR_CONSEQUENCE = 128 };
const char *ngx_weir_consequence(const struct ngx_weir_zone *zone,
                                 char room[NGX_WEIR_CONSEQUENCE]);

/* request.c: log the number of invalid keys since the last such line, at most once a minute.
 * @value: one of the keys, or NULL */
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
