/* SPDX-License-Identifier: MIT
 * The subcommands of weir, and their parser for options. */
#ifndef WEIR_TOOL_COMMANDS_H
#define WEIR_TOOL_COMMANDS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include "output/say.h"

/* A subcommand. Its argv[0] is the full name, such as "weir build", for getopt and messages. */
struct command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

int cmd_plan(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_delta(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_remove(int argc, char **argv);
int cmd_count(int argc, char **argv);
int cmd_route(int argc, char **argv);
int cmd_seal(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_parquet(int argc, char **argv);
int cmd_replicate(int argc, char **argv);
int cmd_drill(int argc, char **argv);

/* ---- weir help ---- */

/* Runs man(1) for the manual page of a command. If @part is not NULL, shows the page of that part
 * of the command instead. Both names come from tables of this program, never from the user's text.
 * Return: false, after a message, if man shows no page. */
bool help_shows(const char *command, const char *part);
/* Return: the part of weir replicate that has this name, or NULL. */
const char *replicate_part(const char *name);

/* ---- options ---- */

/* Like getopt_long(), but reports a wrong option by say(), which escapes it. getopt's own messages
 * quote arguments unescaped. @letters must not begin with a colon. Return: '?' after a message. */
int option_next(int argc, char **argv, const char *letters, const struct option *options);

#endif
