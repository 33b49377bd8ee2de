/* SPDX-License-Identifier: MIT
 * The keys of a set in redis. They share a hash tag, so that in a Cluster one server has all of
 * them, and a script may touch any.
 *
 *     {weir:NAME}:manifest      hash: text, signature, generation, position, entries, stored (the
 *                               number drawn for the image); token (the set's half of the epoch),
 *                               streams (how often one was begun)
 *     {weir:NAME}:stream        batches
 *     {weir:NAME}:lease         who may publish, blank, in which epoch
 *     {weir:NAME}:kept          hash: generation -> signature, newline, text
 *     {weir:NAME}:nodes         hash: node -> milliseconds of the server's clock, blank, report
 *     {weir:NAME}:c:HEX:NUMBER  chunks of images
 *     {weir:NAME}:hint          channel: the generation that was published */
#ifndef WEIR_REPLICA_KEYS_H
#define WEIR_REPLICA_KEYS_H

#include <stdint.h>
#include "manifest.h"

/* Those that every script is given, in this order. */
enum weir_key {
	WEIR_KEY_MANIFEST,
	WEIR_KEY_STREAM,
	WEIR_KEY_LEASE,
	WEIR_KEY_KEPT,
	WEIR_KEY_NODES,
	WEIR_KEYS,
};

enum { WEIR_KEY_TEXT = WEIR_MANIFEST_NAME + 64 };

/* Of a set, unless somebody asks otherwise. */
enum {
	WEIR_SET_CHUNK = (1 << 20) - 64, /* bytes: redis does nothing else meanwhile; with its
	                                    head it takes a mebibyte of jemalloc's, and not the
	                                    next size, which is a quarter more */
	WEIR_SET_KEEP = 2,            /* generations, the current one too */
	WEIR_SET_STORED_S = 3600,     /* how long chunks stay that no manifest names yet */
	WEIR_SET_SUPERSEDED_S = 120,  /* and those that none names any more */
};

struct weir_key_names {
	char of[WEIR_KEYS][WEIR_KEY_TEXT];
	char hint[WEIR_KEY_TEXT];
	char set[WEIR_MANIFEST_NAME + 1];
};

/* @set: a set's name (weir__set_name_is()). */
void weir__keys_make(struct weir_key_names *k, const char *set);
/* The chunks' names without their numbers. Return: @text. */
const char *weir__key_of_chunks(char text[WEIR_KEY_TEXT], const struct weir_key_names *k,
                                uint64_t stored);

#endif
