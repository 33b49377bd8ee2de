/* SPDX-License-Identifier: MIT
 * What is done to the keys of a set (--trim, --lowercase, --cidr, --suffixes) where an image stands
 * already: the same again, since servers that follow it take nothing else. */
#ifndef WEIR_TOOL_STEPS_H
#define WEIR_TOOL_STEPS_H

#include "build.h"

/* Settle what is done, when the model is known: as the options say, or else as it was done to the
 * model's. Return: TOOL_OK; TOOL_NO after a message, if an image is to be replaced to whose keys
 * something else was done, and --force is not given; TOOL_TROUBLE after a message. */
int steps_settle(struct build *build);

/* After a line that was wrong: if that is so only because of the image that is replaced, a message
 * says so, and how to end it. */
void steps_explain(const struct build *build);

#endif
