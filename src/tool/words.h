/* SPDX-License-Identifier: MIT
 * The library's names of parameters as the options of this command. */
#ifndef WEIR_TOOL_WORDS_H
#define WEIR_TOOL_WORDS_H

/* The last sentence of weir_plan_make() or weir_create(), with options in place of fields: "-m" for
 * max_bytes. Valid until the next call. */
const char *words_of_plan(void);
/* As trouble(), with that sentence. */
int trouble_plan(void);

#endif
