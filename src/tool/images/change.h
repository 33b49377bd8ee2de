/* SPDX-License-Identifier: MIT
 * Shared by weir add and weir remove, which change an image by the lines of files and replace it as
 * a whole. Holds their common options, as rows of tables and lines of help. */
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
	bool force;    /* weir remove --force */
	bool left_live; /* it stays live, because another process has mapped it live */
	int turn;      /* place_turn() */
	const char *lost; /* for place_stands() */
	/* the result */
	uint64_t keys;
	uint64_t removed;
	struct weir_stats before, after;
};

/* The steps that differ between the commands. look() and work() return enum tool_exit, after a
 * message. */
struct change_verb {
	/* May the command change this image? */
	int (*look)(const struct change *change, const struct weir_image_info *info);
	/* Change it and save it. */
	int (*work)(struct change *change, const struct weir_image_info *info);
	void (*report)(const struct change *change);
};

/* The defaults. */
struct change change_new(void);
/* Takes one of the options above. Return: 1 taken, 0 wrong (reported), -1 not such an option. */
int change_option(int option, struct change *change);
/* Takes the arguments behind them. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int change_arguments(int argc, char **argv, struct change *change);

/* Runs the command. Return: enum tool_exit, after a message. */
int change_run(struct change *change, const struct change_verb *verb);

/* Parts of work(). change_prepare() takes over the image's steps before the lines are read.
 * change_was_read() then reports skipped lines, and refuses input without keys. Each returns enum
 * tool_exit, after a message. */
int change_prepare(struct change *change, const struct weir_filter *f);
int change_was_read(const struct change *change);
/* Loads the image, lets @put change it, and saves it in its place. */
int change_replace(struct change *change, const struct weir_image_info *info,
                   int (*put)(struct change *change, struct weir_filter *f));

/* Parts of report(): the first adds the keys that are in the image now, the second prints all. */
void change_report_set(const struct change *change, struct report *r);
void change_report_end(const struct change *change, struct report *r);

#endif
