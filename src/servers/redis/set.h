/* SPDX-License-Identifier: MIT
 * A set of libweir-redis (src/replica), as this module meets it: its keys are in this very server.
 * They are asked by the scripts by which nodes ask, so that there is one meaning of each. While a
 * command runs, nobody else changes anything: what was read is so until the command ends. */
#ifndef WEIR_REDIS_SET_H
#define WEIR_REDIS_SET_H

#include <sys/uio.h>
#include "../../replica/format/manifest.h"
#include "../../replica/format/keys.h"
#include "../../replica/format/scripts.h"
#include "keys.h"

struct set {
	struct redis_context *context;
	struct weir_key_names keys;
	char epoch[WEIR_REPLICA_EPOCH + 1]; /* the server's, with the set's half (L1, rules.h) */
	struct weir_manifest manifest;      /* generation 0: there is none */
	struct weir_origins origins;        /* the manifest's */
};

/* All return 0 or a negative errno, with weir_error_detail(), where they return an int. */

/* Of the words KEY SET name: read the set's manifest, and refuse what a module cannot take: a
 * signed generation, an image elsewhere, another kind than blocked, a key of the set's own.
 * @make: a set that is not there is begun: it gets its half of the epoch.
 * @s: to be closed, whatever the answer. */
int set_find(struct set *s, struct redis_context *context, struct redis_string **words, bool make);
void set_close(struct set *s);
/* Can the set's filter and the key's be united? Of one link, and by one seed. */
int set_check_key(const struct set *s, const struct chain *c);

/* The image of the manifest, all of it checked.
 * @most: bytes of bits that it may have; 0: what its chunks have, so that a compressed one cannot
 * ask for more than is there. */
int set_image(const struct set *s, uint64_t most, struct weir_filter **out);

/* Insert what follows the manifest in the stream, as a node does that joins it.
 * @entries: receives how many entries there were. Errors: -ENOENT some have gone. */
int set_replay(const struct set *s, struct weir_filter *f, uint64_t *entries);

/* How many entries were ever added to the stream, and are there. */
int set_counts(const struct set *s, struct weir_stream_counts *counts);

/* Make @f, which has all of the manifest's image, the next generation: @s has its manifest then
 * (set_next.c). */
int set_publish(struct set *s, const struct weir_filter *f);

/* Of the parts. */

/* Store the image of @m, and say in @m what there is to be said of it. */
int set_store(const struct set *s, const struct weir_filter *f, struct weir_manifest *m);
/* It is not needed. @err: why, whose sentence stays. */
void set_unstore(const struct set *s, const struct weir_manifest *m, int err);

/* Call a script with these arguments, as the user who sent the command.
 * @reply: receives an answer that is no error. */
int set_script(const struct set *s, enum weir_script script, const struct iovec *args, size_t n,
               struct redis_reply **reply);
/* Call a command. Replicas get it if it writes. Likewise. */
int set_command(const struct set *s, const char *name, const struct iovec *args, size_t n,
                struct redis_reply **reply);
/* Return: is it text? Then @out has it, for as long as the reply lives. */
bool set_text(struct redis_reply *reply, struct iovec *out);
/* An answer of another shape than it should have. */
int set_shape(const struct set *s, const char *of);

#endif
