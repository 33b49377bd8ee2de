/* SPDX-License-Identifier: MIT
 * A follower's lines on standard error. Each is one write(), so that those of several threads do
 * not mix, and escaped: a file's name is not its reader's. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "set/announce.h"

/* weir's sentences begin with the path, but for some that are not about a file. */
static void say(const char *path, const char *sentence)
{
	char shown[WEIR_SENTENCE_BYTES], plain[3 * WEIR_SENTENCE_BYTES], line[sizeof plain];
	weir_escape(shown, sizeof shown, path, strlen(path));
	size_t n = strlen(shown);
	bool begins = strncmp(sentence, path, strlen(path)) == 0 || !strncmp(sentence, shown, n);
	snprintf(plain, sizeof plain, "weir: %s%s%s", begins ? "" : shown, begins ? "" : ": ",
	         sentence);
	weir_escape(line, sizeof line - 1, plain, strlen(plain));
	n = strlen(line);
	line[n] = '\n';
	(void)!write(STDERR_FILENO, line, n + 1);
}

void weir__announce(char last[WEIR_SENTENCE_BYTES], const char *path, int result,
                    const char *sentence, bool refused)
{
	if (result < 0) {
		if (strcmp(last, sentence) == 0)
			return;
		snprintf(last, WEIR_SENTENCE_BYTES, "%s", sentence);
		say(path, sentence);
	} else if (*last && !refused) {
		*last = '\0';
		say(path, result > 0 ? sentence : "is as it was taken over: no longer refused");
	}
}
