/* SPDX-License-Identifier: MIT
 * Turns lines into keys, by the form of the input file and by the normalisation. This header also
 * declares the options for both, as rows of the commands' option tables and as lines of their
 * help texts. */
#ifndef WEIR_TOOL_KEYING_H
#define WEIR_TOOL_KEYING_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "lines.h"

struct keying {
	/* Options of the input file, which no image contains. */
	bool comments;   /* lines that begin with # are not keys */
	bool hosts;      /* take the domains of a hosts or dnsmasq file */
	bool keep_local; /* also take the names of this machine and its network */
	uint32_t field;  /* number of the field, from 1; 0: the line is the key; or KEYING_NAMED */
	const char *field_name; /* name to find in the header, or NULL */
	bool header;     /* skip the first line of each file */
	char delimiter;  /* the byte between fields */
	bool skip_empty; /* an empty text is not a key */
	bool skip_bad;   /* skip and count lines that cannot be keys; else they are errors */
	bool quiet;      /* weir query -q: no hints about rows and wrapped keys */
	/* Options of the keys, which the image contains. */
	bool plain;      /* --plain-keys: no steps, even if the replaced image has some */
	struct weir_text normal;
};

/* A value of keying.field: the field has a name, which each file's header maps to a number. */
#define KEYING_NAMED UINT32_MAX

/* Return: true if lines must be processed to get keys; false if each line is a key. */
bool keying_any(const struct keying *how);
/* Return: true if a lookup probes several keys, as in sets of prefixes or domains. */
bool keying_probes_several(const struct keying *how);
/* Adds to @from the options for reading the lines. @how must stay valid until all lines are
 * read. */
void keying_prepare(const struct keying *how, struct lines_options *from);

enum keying_what {
	KEYING_TEXT,    /* texts; keyer.noted records their prefix lengths or label counts */
	KEYING_EXCLUDE, /* texts for which the set must answer no */
	KEYING_LOOKUP,  /* all keys that a lookup probes */
};

/* The texts that contain a slash, as URLs do, although the keys are domains. @n: their number. */
struct slashed {
	uint64_t n;
	char like[80]; /* an example, shortened */
};

/* The keys of a thread, collected for a group of lines. keyer_clear() begins a new group. */
struct keyer {
	const struct keying *how;
	enum keying_what what;
	struct weir_text noted; /* how->normal, to which each key adds its prefix length or its
	                           number of labels; keyer_clear() does not reset it */
	struct iovec *keys;       /* texts, or with KEYING_LOOKUP the keys that lookups probe */
	uint32_t *of;             /* for each key, the number of its line in the group */
	size_t n, room;
	/* number of keys; an excluded text counts as all keys that its lookup probes */
	size_t counted;
	uint32_t lines;           /* number of lines in the group */
	uint64_t local;           /* number of skipped local names in hosts files, in all groups */
	struct slashed slashed;   /* texts with a slash in all groups */
	uint32_t texts;           /* number of texts in the last line; 0: nothing to look up */
	bool open;                /* the last line ends within a quoted field */
	uint32_t field;           /* how->field, or the number that the file's header gives */
	struct arena *arena;
	struct csv_parser *csv;
};

void keyer_begin(struct keyer *k, const struct keying *how, enum keying_what what);
void keyer_end(struct keyer *k);
/* Empties the group, so that a new group can begin. */
void keyer_clear(struct keyer *k);
/* Call before the first line of chunk @c. */
void keyer_chunk(struct keyer *k, const struct chunk *c);
/* Adds the keys of a line to the group. Return: false if the line is wrong. Then no key is added,
 * and *@why has the fault, valid until the thread's next call. */
bool keyer_take(struct keyer *k, struct iovec line, const char **why);
/* Return: true if --skip-bad skips the line for which keyer_take() returned false. A line that ends
 * within a quoted field is not skipped, since the following lines are part of the field and must
 * not be read as rows. */
bool keyer_passes(const struct keyer *k);
/* Reports the wrong @line of chunk @c. @why: the fault. */
void keyer_report(const struct keyer *k, const struct lines *l, const struct chunk *c,
                  const char *line, const char *why);

/* ---- options ---- */

enum { KEYING_TRIM = 512, KEYING_COMMENTS, KEYING_LOWERCASE, KEYING_FIELD, KEYING_DELIMITER,
       KEYING_HOSTS, KEYING_SUFFIXES, KEYING_CIDR, KEYING_SKIP_BAD, KEYING_PLAIN,
       KEYING_SKIP_EMPTY, KEYING_AS_IS, KEYING_HEADER, KEYING_KEEP_LOCAL };

/* The options for the normalisation of keys, which the image contains. */
#define KEYING_OPTIONS_STEPS \
	{ "trim", no_argument, NULL, KEYING_TRIM }, \
	{ "lowercase", no_argument, NULL, KEYING_LOWERCASE }, \
	{ "suffixes", no_argument, NULL, KEYING_SUFFIXES }, \
	{ "cidr", no_argument, NULL, KEYING_CIDR }

/* The options for the form of the input file. */
#define KEYING_OPTIONS_FILE \
	{ "comments", no_argument, NULL, KEYING_COMMENTS }, \
	{ "header", no_argument, NULL, KEYING_HEADER }, \
	{ "field", required_argument, NULL, KEYING_FIELD }, \
	{ "delimiter", required_argument, NULL, KEYING_DELIMITER }, \
	{ "hosts", no_argument, NULL, KEYING_HOSTS }, \
	{ "keep-local", no_argument, NULL, KEYING_KEEP_LOCAL }, \
	{ "skip-bad", no_argument, NULL, KEYING_SKIP_BAD }

/* The options for the form of a line. */
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

/* Applies an option of the tables above. Return: 1 if applied, 0 after a message about a wrong
 * value, -1 if @option is unknown. */
int keying_option(int option, struct keying *how, struct lines_options *from);
/* Checks that the options fit together. Return: false after a message. */
bool keying_fits(const struct keying *how);

/* ---- hints ---- */

/* The use of the keys: build a set, change a set, or look keys up. With HINT_CHANGE, no hint
 * suggests a normalisation step, because the set already has its steps. */
enum hint_for { HINT_BUILD, HINT_CHANGE, HINT_LOOKUP };

/* Prints hints about the lines in the first chunk of a file. Most hints are printed for the first
 * file only. --plain-keys disables all hints. */
void hint_lines(const struct lines *l, const struct chunk *c, const struct keying *how,
                enum hint_for what);
/* Prints the hints about rows and wrapped keys, for a lookup by a command without --field. */
void hint_rows(const struct lines *l, const struct chunk *c);

/* slashed_add() adds up the findings of the threads. hint_slashed() reports the sum after the last
 * pass. */
void slashed_add(struct slashed *sum, const struct slashed *more);
void hint_slashed(const struct slashed *found);

#endif
