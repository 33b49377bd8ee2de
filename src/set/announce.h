/* SPDX-License-Identifier: MIT
 * What a follower without a report writes to standard error: a line when looks begin to fail, when
 * the reason changes, and when it is over. */
#ifndef WEIR_SRC_ANNOUNCE_H
#define WEIR_SRC_ANNOUNCE_H

#include <stdbool.h>
#include <weir/error.h>

/* After each look.
 * @last: the reason of the last line; empty if none is due to end.
 * @result, @sentence: the look's.  @refused: whether the handle is refused a file all the same,
 *   where a look found nothing new. */
void weir__announce(char last[WEIR_SENTENCE_BYTES], const char *path, int result,
                    const char *sentence, bool refused);

#endif
