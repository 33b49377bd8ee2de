/* SPDX-License-Identifier: MIT
 * A follower's lines on standard error. Each is one write(), so that those of several threads do
 * not mix, and escaped: a file's name is not its reader's. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "ground/system.h"
#include "set/follow/announce.h"
#include "set/generation.h"

/* weir's sentences begin with the path, but for some that are not about a file. */
static void say(const char *path, const char *sentence, unsigned long held_back)
{
	char shown[WEIR_SENTENCE_BYTES], plain[3 * WEIR_SENTENCE_BYTES], line[sizeof plain];
	char others[64] = "";
	weir_escape(shown, sizeof shown, path, strlen(path));
	size_t n = strlen(shown);
	bool begins = strncmp(sentence, path, strlen(path)) == 0 || !strncmp(sentence, shown, n);
	if (held_back)
		snprintf(others, sizeof others, " (%lu lines before it were held back)", held_back);
	snprintf(plain, sizeof plain, "weir: %s%s%s%s", begins ? "" : shown, begins ? "" : ": ",
	         sentence, others);
	weir_escape(line, sizeof line - 1, plain, strlen(plain));
	n = strlen(line);
	line[n] = '\n';
	(void)!write(STDERR_FILENO, line, n + 1);
}

/* A log that nobody reads, a full pipe, holds no follower up. */
static bool has_room(void)
{
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };
	return poll(&log, 1, 0) > 0;
}

static bool may_write(struct weir_announcer *a)
{
	double now = weir__seconds(), passed = a->when > 0 ? now - a->when : INFINITY;
	a->lines = fmin(a->lines + passed / WEIR__LINE_EVERY, WEIR__LINES_AT_ONCE);
	a->when = now;
	if (a->lines < 1 || !has_room())
		return false;
	a->lines -= 1;
	return true;
}

void weir__announce(struct weir_announcer *a, const char *path, int result, const char *sentence,
                    bool refused)
{
	if (result < 0)
		snprintf(a->reason, sizeof a->reason, "%s", sentence);
	else if (!refused)
		a->reason[0] = '\0';
	if (strcmp(a->reason, a->written) == 0)
		return;
	if (!may_write(a)) {
		a->held_back += result != 0;
		return;
	}
	memcpy(a->written, a->reason, sizeof a->reason);
	say(path, *a->reason   ? a->reason :
	          result > 0   ? sentence :
	                         "is as it was taken over: no longer refused", a->held_back);
	a->held_back = 0;
}
