/* SPDX-License-Identifier: MIT
 * What must be atomic at the server: Lua that runs there. Each is given all keys of the set
 * (keys.h), and begins by finding the epoch (L1), which INFO tells it in there. */
#ifndef WEIR_REPLICA_SCRIPTS_H
#define WEIR_REPLICA_SCRIPTS_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include "keys.h"

/* ---- arguments of commands: bytes, texts, numbers as texts ---- */

enum { WEIR_NUMBER_TEXT = 21 };

static inline struct iovec weir__bytes(const void *data, size_t len)
{
	return (struct iovec){ (void *)(uintptr_t)data, len };
}

static inline struct iovec weir__text(const char *text)
{
	return weir__bytes(text, strlen(text));
}

static inline struct iovec weir__number(char room[WEIR_NUMBER_TEXT], uint64_t number)
{
	snprintf(room, WEIR_NUMBER_TEXT, "%" PRIu64, number);
	return weir__text(room);
}

/* ---- the scripts ---- */

enum weir_script {
	WEIR_SCRIPT_MANIFEST,
	WEIR_SCRIPT_APPEND,
	WEIR_SCRIPT_READ,
	WEIR_SCRIPT_PUBLISH,
	WEIR_SCRIPT_LEASE,
	WEIR_SCRIPT_RELEASE,
	WEIR_SCRIPT_REPORT,
	WEIR_SCRIPT_ALIVE,
	WEIR_SCRIPT_STATUS,
	WEIR_SCRIPTS,
};

enum { WEIR_SCRIPT_ELEMENTS = 1000001 }; /* No answer has more. */

extern const char *const weir__script_prelude;
extern const char *const weir__script_text[WEIR_SCRIPTS];

/* A script as it is sent: after the prelude. @out: receives malloc'ed text. Return: 0 or -ENOMEM.
 */
int weir__script_make(char **out, enum weir_script script);

/* What WEIR_SCRIPT_PUBLISH is given beside the manifest and its text. */
struct weir_publishing {
	const struct weir_key_names *keys;
	struct iovec owner;    /* of the lease */
	const char *signature; /* "": none */
	const char *none;      /* SHA-1 of the text there is, if it is no manifest; else "" */
	uint32_t keep, superseded_s;
};

enum { WEIR_PUBLISH_ARGUMENTS = 17 };

struct weir_publish_texts {
	char position[WEIR_STREAM_ID_TEXT], covered[WEIR_STREAM_ID_TEXT], names[WEIR_KEY_TEXT];
	char numbers[8][WEIR_NUMBER_TEXT];
};

/* Its arguments (publish.c). @room: for their texts, for as long as they are used. */
void weir__publish_arguments(struct iovec args[WEIR_PUBLISH_ARGUMENTS],
                             struct weir_publish_texts *room, const struct weir_publishing *p,
                             const struct weir_manifest *m, const char *text, size_t len);

#endif
