/* SPDX-License-Identifier: MIT
 * From lines to keys: what describes the input file, and what is done to keys. */
#ifndef WEIR_TOOL_KEYING_H
#define WEIR_TOOL_KEYING_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "lines.h"

struct keying {
	/* of the input file: never in an image */
	bool comments;   /* lines that begin with # are none */
	bool hosts;      /* of a hosts or dnsmasq file the domains */
	uint32_t field;  /* of a line of fields, from 1; 0: the whole line; KEYING_NAMED */
	const char *field_name; /* to be found in the header, or NULL */
	bool header;     /* skip the first line of each file */
	char delimiter;  /* between fields */
	bool skip_empty; /* an empty text is not a key */
	bool skip_bad;   /* wrong text is passed over and counted; else it is an error */
	/* of the keys: in the image */
	bool plain;      /* --plain-keys: none of the steps, whatever image is replaced */
	struct weir_normal normal;
};

/* The field has a name, and each file's header says which one it is. */
#define KEYING_NAMED UINT32_MAX

/* Whether there is anything to do: else lines are the keys. */
bool keying_any(const struct keying *how);
/* Tell @from how the lines are read. @how has to stay where it is until they are. */
void keying_prepare(const struct keying *how, struct lines_options *from);

enum keying_what {
	KEYING_INSERT, /* the key of each text, whose lengths are noted */
	KEYING_LOOKUP, /* the keys that a lookup of it asks for */
	KEYING_EXCLUDE, /* the same keys, of a text that is to be answered no */
};

/* A thread's keys, a group at a time. Start with keyer_begin(), end with keyer_end(). */
struct keyer {
	const struct keying *how;
	enum keying_what what;
	struct weir_normal noted; /* how->normal, with what was noted */
	struct iovec *keys;       /* of the group */
	uint32_t *of;             /* of each key the number of its line in the group */
	size_t n, room;
	uint32_t lines;           /* of the group */
	uint32_t texts;           /* of the last line; 0: it is not to be looked up */
	bool open;                /* the last line ends within a quoted field */
	uint32_t field;           /* how->field, or of the file where that has a name */
	struct arena *arena;
	struct csv_parser *csv;
};

void keyer_begin(struct keyer *k, const struct keying *how, enum keying_what what);
void keyer_end(struct keyer *k);
/* An empty group. */
void keyer_clear(struct keyer *k);
/* The lines of @c are next. */
void keyer_chunk(struct keyer *k, const struct chunk *c);
/* Take one line more into the group, with whatever keys it has. Return: false if it is wrong: *@why
 * has a sentence, valid until the next call of this thread, and the line has no keys. */
bool keyer_take(struct keyer *k, struct iovec line, const char **why);
/* After it was false: does --skip-bad pass over the line? It does not if a quoted field goes on
 * over the line's end: the lines that follow are its text, and must not be taken for rows. */
bool keyer_passes(const struct keyer *k);
/* Report that line, of chunk @c. */
void keyer_report(const struct keyer *k, const struct lines *l, const struct chunk *c,
                  const char *line, const char *why);

#endif
