/* SPDX-License-Identifier: MIT
 * The options of the commands that make keys of lines: rows of their tables, lines of their
 * help. */
#ifndef WEIR_TOOL_KEYING_OPTIONS_H
#define WEIR_TOOL_KEYING_OPTIONS_H

#include <getopt.h>
#include "keying.h"
#include "lines.h"

enum { KEYING_TRIM = 512, KEYING_COMMENTS, KEYING_LOWERCASE, KEYING_FIELD, KEYING_DELIMITER,
       KEYING_HOSTS, KEYING_SUFFIXES, KEYING_CIDR, KEYING_SKIP_BAD, KEYING_PLAIN,
       KEYING_SKIP_EMPTY, KEYING_AS_IS, KEYING_HEADER };

/* What is done to keys: in the image. */
#define KEYING_OPTIONS_STEPS \
	{ "trim", no_argument, NULL, KEYING_TRIM }, \
	{ "lowercase", no_argument, NULL, KEYING_LOWERCASE }, \
	{ "suffixes", no_argument, NULL, KEYING_SUFFIXES }, \
	{ "cidr", no_argument, NULL, KEYING_CIDR }

/* Of the input file. */
#define KEYING_OPTIONS_FILE \
	{ "comments", no_argument, NULL, KEYING_COMMENTS }, \
	{ "header", no_argument, NULL, KEYING_HEADER }, \
	{ "field", required_argument, NULL, KEYING_FIELD }, \
	{ "delimiter", required_argument, NULL, KEYING_DELIMITER }, \
	{ "hosts", no_argument, NULL, KEYING_HOSTS }, \
	{ "skip-bad", no_argument, NULL, KEYING_SKIP_BAD }

/* Of what is a line. */
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
	"      --skip-bad       pass over lines that are no prefix, no hosts line or lack\n" \
	"                       the field, and count them; else the first is an error\n"

/* Any of these. Return: 1 taken, 0 wrong (reported), -1 not such an option. */
int keying_option(int option, struct keying *how, struct lines_options *from);
/* Do the options fit each other? False after a message. */
bool keying_fits(const struct keying *how);

#endif
