/* SPDX-License-Identifier: MIT
 * The parts that weir add and weir remove share: they change an image by the lines of files and
 * replace it as a whole. Their options: rows of their tables, lines of their help. */
#ifndef WEIR_TOOL_CHANGE_H
#define WEIR_TOOL_CHANGE_H

#include "guard.h"
#include "images.h"
#include "input/fill.h"
#include "input/keying.h"
#include "output/report.h"
#include "saving.h"

enum { CHANGE_ZSTD = 896, CHANGE_MODE, CHANGE_JSON, CHANGE_ALLOW_EMPTY };

#define CHANGE_OPTIONS \
	IMAGE_OPTIONS_LOAD, \
	KEYING_OPTIONS_FILE, \
	KEYING_OPTIONS_LINES, \
	{ "threads", required_argument, NULL, 't' }, \
	{ "zstd", optional_argument, NULL, CHANGE_ZSTD }, \
	{ "mode", required_argument, NULL, CHANGE_MODE }, \
	{ "allow-empty", no_argument, NULL, CHANGE_ALLOW_EMPTY }, \
	{ "json", no_argument, NULL, CHANGE_JSON }, \
	{ "quiet", no_argument, NULL, 'q' }, \
	{ "help", no_argument, NULL, 'h' }
#define CHANGE_LETTERS "0t:qh"

#define CHANGE_HELP_FILE \
	"  -0, --null           keys end with a NUL byte instead of a newline\n" \
	"      --skip-empty     an empty line is not a key\n" \
	"      --as-is          take the bytes as they are, whatever they look like\n" \
	"  -t, --threads=T      default: the CPUs this process may use\n" \
	"      --max-memory=SIZE  of the image in memory; default: half of the memory\n" \
	"                       that is available\n" \
	"      --zstd[=LEVEL]   compress it for transport, 1 to 19, default 3; one that\n" \
	"                       is compressed stays so\n" \
	"      --mode=OCTAL     permissions of the image; default: as they are\n" \
	"      --allow-empty    files may have no keys; without this that is refused\n"

#define CHANGE_HELP_REPORT \
	"      --json           print the result as JSON\n" \
	"      --no-progress    no progress line on a terminal\n" \
	"  -q, --quiet          no progress line, no report\n" \
	"  -h, --help           this text\n"

struct change {
	const char *image;
	struct fill fill;
	struct fill_found found;
	struct image_how how;
	struct image_saving saving;
	struct guard guard;
	bool as_json, quiet;
	bool in_place; /* weir add --live */
	bool force;    /* weir remove: whatever keys they may be */
	bool left_live; /* by that: another process has it mapped so */
	int turn;      /* place_turn() */
	const char *lost; /* for place_stands() */
	/* the result */
	uint64_t keys;
	uint64_t removed;
	struct weir_stats before, after;
};

/* The steps in which the two differ. The former two return enum tool_exit, after a message. */
struct change_verb {
	/* May what stands there be changed so? */
	int (*look)(const struct change *change, const struct weir_image_info *info);
	/* Change it and put it back. */
	int (*work)(struct change *change, const struct weir_image_info *info);
	void (*report)(const struct change *change);
};

/* The defaults. */
struct change change_new(void);
/* Any of the options above. Return: 1 taken, 0 wrong (reported), -1 not such an option. */
int change_option(int option, struct change *change);
/* The arguments behind them. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int change_arguments(int argc, char **argv, struct change *change);

/* All of it. Return: enum tool_exit, after a message. */
int change_run(struct change *change, const struct change_verb *verb);

/* Parts of the work. Before the lines are read: what is done to them. Then: how many were passed
 * over, and was there a key? Each returns enum tool_exit, after a message. */
int change_prepare(struct change *change, const struct weir_filter *f);
int change_was_read(const struct change *change);
/* Load the image, let @put change it, and save it where it stood. */
int change_replace(struct change *change, const struct weir_image_info *info,
                   int (*put)(struct change *change, struct weir_filter *f));

/* Parts of the report: of the keys that are in it now; the end, which is printed. */
void change_report_set(const struct change *change, struct report *r);
void change_report_end(const struct change *change, struct report *r);

#endif
