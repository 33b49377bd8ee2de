/* SPDX-License-Identifier: MIT
 * Arguments of commands: bytes, texts, numbers as texts. */
#ifndef WEIR_REPLICA_ARGUMENT_H
#define WEIR_REPLICA_ARGUMENT_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

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

#endif
