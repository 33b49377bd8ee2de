/* SPDX-License-Identifier: MIT
 * A line on stderr where keys look as if an option were meant; also with -q, since jobs that run
 * by themselves have that. */
#ifndef WEIR_TOOL_HINT_H
#define WEIR_TOOL_HINT_H

#include "keying.h"
#include "lines.h"

/* Of the first chunk: is it text of another encoding? */
void hint_encoding(const struct chunk *c);

/* Look at the first chunk of the input. @building: of a set; else lines are looked up in one. None
 * with --plain-keys. */
void hint_lines(const struct lines *l, const struct chunk *c, const struct keying *how,
                bool building);

#endif
