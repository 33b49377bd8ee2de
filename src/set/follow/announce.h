/* SPDX-License-Identifier: MIT
 * What a follower without a report writes to standard error: a line when looks begin to fail, when
 * the reason changes, and when it is over. */
#ifndef WEIR_SRC_ANNOUNCE_H
#define WEIR_SRC_ANNOUNCE_H

#include <stdbool.h>
#include <weir/error.h>

/* Whoever may replace the file decides how often that changes, and what stands in the sentence, but
 * not how fast the log grows: after some lines at once there is one in WEIR__LINE_EVERY seconds. */
enum { WEIR__LINES_AT_ONCE = 10, WEIR__LINE_EVERY = 5 };

/* Start from { 0 }. Empty sentences: all is well. */
struct weir_announcer {
	char written[WEIR_SENTENCE_BYTES]; /* the reason in the last line */
	char reason[WEIR_SENTENCE_BYTES];  /* why looks fail now */
	double lines;                      /* that may be written at once, as of: */
	double when;                       /* weir__seconds(), or 0 */
	unsigned long held_back;           /* changes since the last line */
};

/* After each look.
 * @result, @sentence: the look's.  @refused: whether the handle is refused a file all the same,
 *   where a look found nothing new. */
void weir__announce(struct weir_announcer *a, const char *path, int result, const char *sentence,
                    bool refused);

#endif
