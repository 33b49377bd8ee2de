/* SPDX-License-Identifier: MIT
 * A look at the file that a handle's filter comes from, and the parts of a follower. */
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

/* The deltas beside a followed file: NAME.delta-*, in the order of their versions (strverscmp()).
 * Each delta that continues where the one before ended is applied. */

#define WEIR__DELTA_MARK ".delta-" /* behind the file's name */

struct weir_chain {
	char **paths;
	struct weir_delta_info *heads; /* one per path; NULL: not read yet */
	size_t n;
	uint64_t identity;  /* of the files, as they were found; 0: no files */
	const char *failed; /* the delta that cannot be applied, or NULL */
};

/* Find the deltas of a file.
 * Return: 0; -ENOMEM; -E2BIG more than 4096; the errno of opendir. */
int weir__chain_find(struct weir_chain *out, const char *path);
void weir__chain_free(struct weir_chain *chain);
/* Read the heads of the deltas found, so that a bad delta shows before the image is read. A path
 * that is gone, empty or not a regular file is left out. */
int weir__chain_heads(struct weir_chain *chain);
/* Apply the deltas that begin where the image, or the last applied delta, ends, but none that lead
 * back to an earlier image. The heads must have been read.
 * @name: of the image.  @options: as for weir__delta_apply(). */
int weir__chain_apply(struct weir_chain *chain, struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);

/* A failure is a verdict on: */
enum weir_verdict {
	WEIR_VERDICT_NONE,  /* no lasting fault: the file is tried again */
	WEIR_VERDICT_ALONE, /* the file alone */
	WEIR_VERDICT_BESIDE /* the file together with the current filter */
};

/* One look at a file, by the handle's writer. */
struct weir_look {
	struct weir_handle *handle;
	struct weir_source *source;
	struct weir_chain chain;   /* the source's deltas */
	const struct weir_refresh_options *options;
	double began;
	struct weir_pace pace;
	uint64_t turn;             /* CPU time since which the pace has counted nothing */
	enum weir_verdict verdict; /* of the step under way, if it fails */
	bool stopped;              /* by progress: no verdict, whatever the step */
};

/* The progress function of every long step; its argument is the look. */
int weir__look_goes_on(void *look, uint64_t done, uint64_t total);
/* Make a filter from the image and its deltas. */
int weir__look_read(struct weir_filter **out, struct weir_look *l);

/* A follower without a report() writes a line to standard error when looks begin to fail, when the
 * reason changes, and when looks succeed again. */

/* A process that may replace the file decides how often the reason changes and what the sentence
 * says. But it cannot flood the log: after WEIR__LINES_AT_ONCE lines there is one line in
 * WEIR__LINE_EVERY seconds. */
enum { WEIR__LINES_AT_ONCE = 10, WEIR__LINE_EVERY = 5 };

/* Start from { 0 }. Empty sentences: no failure. */
struct weir_announcer {
	char written[WEIR_SENTENCE_BYTES]; /* the reason in the last line */
	char reason[WEIR_SENTENCE_BYTES];  /* why looks fail now */
	double lines;                      /* that may be written at once, as of: */
	double when;                       /* weir__seconds(), or 0 */
	unsigned long held_back;           /* results without a line since the last line */
};

/* Call it after each look.
 * @result, @sentence: the look's.  @refused: whether a file is still refused although this look
 * found nothing new. */
void weir__announce(struct weir_announcer *a, const char *path, int result, const char *sentence,
                    bool refused);

/* Notices from inotify about one name in one folder: a file was renamed to it, written there and
 * closed, or removed. If inotify fails, no notice comes, so a caller that waits for one needs a
 * time limit too. */

struct weir_notice {
	int fd;           /* -1: not opened yet, or opening failed */
	int watch;        /* of the folder; -1: none */
	const char *folder;
	const char *name; /* in the folder */
	const char *mark; /* not NULL: also names that continue with this mark */
};

/* The strings stay the caller's. Nothing is opened before the first weir__notice_renew(). */
struct weir_notice weir__notice(const char *folder, const char *name, const char *mark);
/* Watch the folder that the path names now. A watch stays with its folder when the folder is
 * renamed or removed, so call this before each wait. */
void weir__notice_renew(struct weir_notice *n);
/* Read the notices that have come; never waits. Return: true if one concerns the name, or may. */
bool weir__notice_read(struct weir_notice *n);
void weir__notice_close(struct weir_notice *n);

/* Is an image a set that its publisher meant to publish? An empty list of keys builds a perfect
 * image, and so does one that is far too long. */

enum { WEIR_SANITY_TEXT = 512 };

/* Judge @next, a filter from the image @path. A mark (enum weir_image_marks) says that the builder
 * meant it so; such an image is not judged.
 * @current: the filter that @next would follow; NULL: @next only adds to it, so it cannot be too
 * small.
 * @progress: called while all bits are counted, if a sample does not decide; or NULL.
 * Return: 0; -ECANCELED its rate is above twice the one asked, or it has under a tenth of the
 * current filter's keys, or both, in one sentence; or progress stopped it. */
int weir__sanity_ask(const char *path, const struct weir_filter *next,
                     const struct weir_filter *current, weir_progress_fn *progress,
                     void *progress_arg);

/* Report that the handle has taken over an image, with a warning if the set has more keys than its
 * capacity. Such a set is published all the same: without it keys would be missing, for the sake of
 * a slightly better rate. */
void weir__sanity_report(const struct weir_handle *h, const char *path,
                         char text[WEIR_SANITY_TEXT]);

#endif
