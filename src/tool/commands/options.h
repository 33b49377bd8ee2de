/* SPDX-License-Identifier: MIT
 * The options of the command line. */
#ifndef WEIR_TOOL_OPTIONS_H
#define WEIR_TOOL_OPTIONS_H

#include <getopt.h>

/* As getopt_long(), but what is wrong is reported by say(), which escapes it: getopt's own messages
 * quote arguments as they are. @letters does not begin with a colon. Return: '?' after a message.
 */
int option_next(int argc, char **argv, const char *letters, const struct option *options);

#endif
