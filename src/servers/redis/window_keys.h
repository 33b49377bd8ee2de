/* SPDX-License-Identifier: MIT
 * Functions shared by the files of WEIR.WINDOW.*.
 *
 * A write is replicated with its time, as the last two words AT ms. They are taken only from a
 * master or a file, and from these they are required; from a client they are two items. So an
 * append-only file that is loaded a day later makes the generations that the master had. */
#ifndef WEIR_REDIS_WINDOW_KEYS_H
#define WEIR_REDIS_WINDOW_KEYS_H

#include "keys.h"
#include "window.h"

/* window_rewrite.c: return this server's time. */
uint64_t window_clock(void);
/* Take AT ms off the end of a command. @time: receives the time; this server's for a command of a
 * client. Return: false, and an error reply is sent, if the words are missing. */
bool window_take_time(struct redis_context *context, struct redis_string **argv, int *argc,
                      uint64_t *time);

/* Replicate a new window, which has one empty generation. */
void window_replicate_new(struct redis_context *context, struct redis_string *name,
                          const struct window *w);
void window_rewrite(struct redis_io *io, struct redis_string *key, void *value);

#endif
