/* SPDX-License-Identifier: MIT
 * One look at a file that a handle's filter comes from, and reading it. */
#ifndef WEIR_SRC_SET_FOLLOW_FOLLOW_H
#define WEIR_SRC_SET_FOLLOW_FOLLOW_H

#include <stdbool.h>
#include <weir/delta.h>
#include <weir/error.h>
#include <weir/handle.h>
#include <weir/image.h>
#include <weir/refresh.h>
#include "image/io.h"
#include "image/plain.h"
#include "set/generation.h"
#include "set/reload/pace.h"

/* The deltas beside a file that a handle follows: NAME.delta-*, in the order of their versions
 * (strverscmp()), of which each that goes on where the one before ended is applied. */

#define WEIR__DELTA_MARK ".delta-" /* behind the file's name */

struct weir_chain {
	char **paths;
	struct weir_delta_info *heads; /* of each; NULL: not read yet */
	size_t n;
	uint64_t identity;  /* of the files, as they were when they were found; 0: none */
	const char *failed; /* the delta that cannot be applied, or NULL */
};

/* Find those of a file. Return: 0; -ENOMEM; -E2BIG more than 4096; the errno of opendir. */
int weir__chain_find(struct weir_chain *out, const char *path);
void weir__chain_free(struct weir_chain *chain);
/* Read the heads of those that were found, so that what is wrong with one shows before the image is
 * read. What has gone, is no regular file, or is empty is no delta, and left out. */
int weir__chain_heads(struct weir_chain *chain);
/* Apply those that begin where the image, or the last of them, ends, but none that lead back to an
 * image that was there before. The heads were read.
 * @name: of the image.  @options: as of weir__delta_apply(). */
int weir__chain_apply(struct weir_chain *chain, struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);

/* What a failure is a verdict on. */
enum weir_verdict {
	WEIR_VERDICT_NONE,  /* nothing that will last: the file is tried again */
	WEIR_VERDICT_ALONE, /* the file */
	WEIR_VERDICT_BESIDE /* the file beside the current filter */
};

/* One look at a file, by the handle's writer. */
struct weir_look {
	struct weir_handle *handle;
	struct weir_source *source;
	struct weir_chain chain;   /* of the source */
	const struct weir_refresh_options *options;
	double began;
	struct weir_pace pace;
	uint64_t turn;             /* when the work began that pace has not counted yet */
	enum weir_verdict verdict; /* if the step that is under way fails */
	bool stopped;              /* by progress, which is no verdict whatever the step */
};

/* For every step that takes long: a progress function, whose argument is the look. */
int weir__look_goes_on(void *look, uint64_t done, uint64_t total);
/* Make a filter of the image, and of the deltas to it. */
int weir__look_read(struct weir_filter **out, struct weir_look *l);

/* What a follower without a report writes to standard error: a line when looks begin to fail, when
 * the reason changes, and when it is over. */

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

/* Notices of one name in one folder, from inotify: a file was renamed to it, written there and
 * closed, or removed. If anything goes wrong with inotify, no notice comes: a caller that waits for
 * one needs a time limit as well. */

struct weir_notice {
	int fd;           /* -1: not opened yet, or that failed */
	int watch;        /* of the folder; -1: none */
	const char *folder;
	const char *name; /* in the folder */
	const char *mark; /* not NULL: also each name that goes on with it */
};

/* The strings stay the caller's. Nothing is opened before the first weir__notice_renew(). */
struct weir_notice weir__notice(const char *folder, const char *name, const char *mark);
/* Watch the folder that the path names now. A watch stays with its folder when that is renamed or
 * removed, so this is called again before each wait. */
void weir__notice_renew(struct weir_notice *n);
/* Read the notices that have come; never waits. Return: whether one concerns the name, or may. */
bool weir__notice_read(struct weir_notice *n);
void weir__notice_close(struct weir_notice *n);

/* Is an image a set that somebody meant to publish? An empty list of keys builds a perfect image,
 * and so does one that is far too long. */

enum { WEIR_SANITY_TEXT = 512 };

/* Ask that of @next, a filter from the image @path. An image whose builder wanted it so has a mark
 * (enum weir_image_marks) and is not asked.
 * @current: what it is to follow; NULL: it only adds to that, so it cannot be too small.
 * @progress: called where a sample does not tell, while all bits are counted; or NULL.
 * Return: 0; -ECANCELED its rate is above twice the one asked, or it has under a tenth of the
 *   current filter's keys, or both, in one sentence; or progress stopped it. */
int weir__sanity_ask(const char *path, const struct weir_filter *next,
                     const struct weir_filter *current, weir_progress_fn *progress,
                     void *progress_arg);

/* What a follower reports of an image that the handle has taken over: that, and loudly if it has
 * more keys than its capacity. Such a set is published all the same: without it, keys would be
 * missing, to keep a rate that is a little better. */
void weir__sanity_report(const struct weir_handle *h, const char *path,
                         char text[WEIR_SANITY_TEXT]);

#endif
