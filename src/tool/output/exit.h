/* SPDX-License-Identifier: MIT
 * The exit codes of every subcommand. As of grep, 1 is an answer and 2 is a failure, so a job can
 * tell a set that was rightly refused from a disk that is full. man weir has the table. */
#ifndef WEIR_TOOL_EXIT_H
#define WEIR_TOOL_EXIT_H

/* The numbers are in order: of several files the worst counts. */
enum tool_exit {
	/* Done; found; nothing was lost; all is well. */
	TOOL_OK = 0,
	/* Not found; a key was lost; a set is not well. Or refused, and nothing was written: all
	 * was read, but the result would be wrong or is hardly meant. The message names the
	 * remedy. */
	TOOL_NO = 1,
	/* Wrong options; a kind that cannot do this; a file that is missing, damaged or cannot be
	 * read or written; no memory. */
	TOOL_TROUBLE = 2,
};

#endif
