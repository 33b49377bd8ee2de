/* SPDX-License-Identifier: MIT
 * Turns lines into keys: by the form of the input file, and by the normalisation of keys. Also the
 * options for both, as rows of the commands' tables and lines of their help. */
#ifndef WEIR_TOOL_KEYING_H
#define WEIR_TOOL_KEYING_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "lines.h"

struct keying {
	/* of the input file: never in an image */
	bool comments;   /* lines that begin with # are not keys */
	bool hosts;      /* take the domains of a hosts or dnsmasq file */
	bool keep_local; /* also take the names of this machine and its network */
	uint32_t field;  /* number of the field, from 1; 0: the whole line; or KEYING_NAMED */
	const char *field_name; /* to look for in the header, or NULL */
	bool header;     /* skip the first line of each file */
	char delimiter;  /* between fields */
	bool skip_empty; /* an empty text is not a key */
	bool skip_bad;   /* skip and count wrong text; else it is an error */
	bool quiet;      /* weir query -q: print no hint that is a guess */
	/* of the keys: in the image */
	bool plain;      /* --plain-keys: none of the steps, whatever image is replaced */
	struct weir_text normal;
};

/* The field has a name, and each file's header says which one it is. */
#define KEYING_NAMED UINT32_MAX

/* Is there work to do? Otherwise the lines are the keys. */
bool keying_any(const struct keying *how);
/* Does a lookup probe several keys, as in sets of prefixes or domains? */
bool keying_probes_several(const struct keying *how);
/* Sets @from up to read the lines. @how must stay in place until they are read. */
void keying_prepare(const struct keying *how, struct lines_options *from);

enum keying_what {
	KEYING_TEXT,    /* each text, which the set normalises; its length is noted */
	KEYING_EXCLUDE, /* each text, for which the set must answer no */
	KEYING_LOOKUP,  /* each key that the lookup of a text probes: if the set does not
	                   normalise, or the caller handles these keys one by one */
};

/* Texts with a slash, as in URLs, although the keys are domains. */
struct slashed {
	uint64_t n;
	char like[80]; /* one of them, shortened */
};

/* A thread's keys, a group at a time. Start with keyer_begin(), end with keyer_end(). */
struct keyer {
	const struct keying *how;
	enum keying_what what;
	struct weir_text noted; /* how->normal, with the noted lengths */
	struct iovec *keys;       /* of the group: texts, or the keys of their lookups */
	uint32_t *of;             /* for each key, the number of its line in the group */
	size_t n, room;
	size_t counted;           /* number of keys; an excluded text counts all probed keys */
	uint32_t lines;           /* of the group */
	uint64_t local;           /* names of a hosts file that were left out, of all groups */
	struct slashed slashed;   /* of all groups */
	uint32_t texts;           /* in the last line; 0: the line has no lookup */
	bool open;                /* the last line ends within a quoted field */
	uint32_t field;           /* how->field, or the number from the file's header */
	struct arena *arena;
	struct csv_parser *csv;
};

void keyer_begin(struct keyer *k, const struct keying *how, enum keying_what what);
void keyer_end(struct keyer *k);
/* Empties the group. */
void keyer_clear(struct keyer *k);
/* Call before the first line of @c. */
void keyer_chunk(struct keyer *k, const struct chunk *c);
/* Takes a line and its keys into the group. Return: false if the line is wrong: *@why has the
 * fault, valid until the next call of this thread, and the line adds no keys. */
bool keyer_take(struct keyer *k, struct iovec line, const char **why);
/* After a false: does --skip-bad skip the line? It does not if a quoted field continues on the next
 * line: the following lines are its text, and must not be taken for rows. */
bool keyer_passes(const struct keyer *k);
/* Reports that line of chunk @c. */
void keyer_report(const struct keyer *k, const struct lines *l, const struct chunk *c,
                  const char *line, const char *why);

/* ---- options ---- */

enum { KEYING_TRIM = 512, KEYING_COMMENTS, KEYING_LOWERCASE, KEYING_FIELD, KEYING_DELIMITER,
       KEYING_HOSTS, KEYING_SUFFIXES, KEYING_CIDR, KEYING_SKIP_BAD, KEYING_PLAIN,
       KEYING_SKIP_EMPTY, KEYING_AS_IS, KEYING_HEADER, KEYING_KEEP_LOCAL };

/* The normalisation of keys, which the image keeps. */
#define KEYING_OPTIONS_STEPS \
	{ "trim", no_argument, NULL, KEYING_TRIM }, \
	{ "lowercase", no_argument, NULL, KEYING_LOWERCASE }, \
	{ "suffixes", no_argument, NULL, KEYING_SUFFIXES }, \
	{ "cidr", no_argument, NULL, KEYING_CIDR }

/* The form of the input file. */
#define KEYING_OPTIONS_FILE \
	{ "comments", no_argument, NULL, KEYING_COMMENTS }, \
	{ "header", no_argument, NULL, KEYING_HEADER }, \
	{ "field", required_argument, NULL, KEYING_FIELD }, \
	{ "delimiter", required_argument, NULL, KEYING_DELIMITER }, \
	{ "hosts", no_argument, NULL, KEYING_HOSTS }, \
	{ "keep-local", no_argument, NULL, KEYING_KEEP_LOCAL }, \
	{ "skip-bad", no_argument, NULL, KEYING_SKIP_BAD }

/* The form of a line. */
#define KEYING_OPTIONS_LINES \
	{ "null", no_argument, NULL, '0' }, \
	{ "skip-empty", no_argument, NULL, KEYING_SKIP_EMPTY }, \
	{ "as-is", no_argument, NULL, KEYING_AS_IS }

#define KEYING_HELP_FILE \
	"Of the input file:\n" \
	"      --comments       lines that begin with # are no keys\n" \
	"      --header         skip the first line of each file: it names the columns\n" \
	"      --field=N        the key is field N of a line, from 1; or a column's name,\n" \
	"                       as the first line of each file has it\n" \
	"      --delimiter=C    between fields; default: a comma, with quotes as in CSV;\n" \
	"                       'tab': without\n" \
	"      --hosts          the domains of a hosts file, of dnsmasq's, or of a list\n" \
	"      --keep-local     with --hosts: localhost and names without a dot too\n" \
	"      --skip-bad       pass over lines that are no prefix, no hosts line or lack\n" \
	"                       the field, and count them; else the first is an error\n"

/* Takes one of these. Return: 1 taken, 0 wrong (reported), -1 not such an option. */
int keying_option(int option, struct keying *how, struct lines_options *from);
/* Do the options fit together? Return: false after a message. */
bool keying_fits(const struct keying *how);

/* ---- hints ---- */

/* The use of the keys. For HINT_CHANGE, the set already has its steps. */
enum hint_for { HINT_BUILD, HINT_CHANGE, HINT_LOOKUP };

/* Looks at the first chunk of a file. Prints most hints once, for the first file, and none with
 * --plain-keys. */
void hint_lines(const struct lines *l, const struct chunk *c, const struct keying *how,
                enum hint_for what);
/* The same for a command without --field: are the lines rows? */
void hint_rows(const struct lines *l, const struct chunk *c);

/* After the end: add up the findings of the threads, and report them. */
void slashed_add(struct slashed *sum, const struct slashed *more);
void hint_slashed(const struct slashed *found);

#endif
