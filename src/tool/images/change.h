/* SPDX-License-Identifier: MIT
 * Shared by weir add and weir remove, which change an image by the lines of files and replace it as
 * a whole. This header has their common options, as rows of option tables and lines of help
 * texts. */
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
	bool left_live; /* the image stays live, since another process has mapped it live */
	int lock;      /* descriptor with the lock of the image, from place_lock() */
	const char *lost; /* argument @lost of place_check_unchanged() */
	/* the result */
	uint64_t keys;
	uint64_t removed;
	struct weir_stats before, after;
};

/* The functions that differ between the commands. look() and work() return an enum tool_exit, and
 * print a message unless the result is TOOL_OK. */
struct change_verb {
	/* Checks that the command may change the image. */
	int (*look)(const struct change *change, const struct weir_image_info *info);
	/* Changes the image and saves it. */
	int (*work)(struct change *change, const struct weir_image_info *info);
	void (*report)(const struct change *change);
};

/* Return: the default options. */
struct change change_new(void);
/* Applies an option of CHANGE_OPTIONS. Return: 1 if applied, 0 after a message about a wrong value,
 * -1 if @option is unknown. */
int change_option(int option, struct change *change);
/* Takes the arguments after the options: the image, then files of keys. Return: TOOL_OK, or
 * TOOL_TROUBLE after a message. */
int change_arguments(int argc, char **argv, struct change *change);

/* Runs the command. Return: an enum tool_exit, after a message unless it is TOOL_OK. */
int change_run(struct change *change, const struct change_verb *verb);

/* For work(). Before the lines are read, change_prepare() sets change->fill up with the steps of
 * @f. After the lines were read, change_was_read() reports skipped lines, and refuses input if one
 * of its files has no keys. Both functions return an enum tool_exit, after a message unless it is
 * TOOL_OK. */
int change_prepare(struct change *change, const struct weir_filter *f);
int change_was_read(const struct change *change);
/* Loads the image, calls @put to change the filter, and saves the filter over the image. Return: an
 * enum tool_exit. */
int change_replace(struct change *change, const struct weir_image_info *info,
                   int (*put)(struct change *change, struct weir_filter *f));

/* For report(). change_report_set() adds the keys, capacity and rate of the changed image.
 * change_report_end() prints and frees the report. */
void change_report_set(const struct change *change, struct report *r);
void change_report_end(const struct change *change, struct report *r);

#endif
