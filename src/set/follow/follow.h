/* SPDX-License-Identifier: MIT
 * A refresh of a handle from a file, and the parts of a follower. */
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

/* The deltas of a followed file are the files NAME.delta-* in its folder, ordered by strverscmp().
 * A delta is applied if it starts from the state of the image, or from the state to which the last
 * applied delta led. */

#define WEIR__DELTA_MARK ".delta-" /* between the file's name and the delta's version */

struct weir_chain {
	char **paths;
	struct weir_delta_info *heads; /* one head for each path; NULL before weir__chain_heads() */
	size_t n;
	uint64_t identity;  /* a checksum of the files' state when they were found; 0: no files */
	const char *failed; /* the delta that cannot be applied, or NULL */
};

/* Find the deltas of a file.
 * Return: 0; -ENOMEM; -E2BIG there are more than 4096 deltas; or the errno of opendir(). */
int weir__chain_find(struct weir_chain *out, const char *path);
void weir__chain_free(struct weir_chain *chain);
/* Read the head (struct weir_delta_info) of each delta, so that a bad delta is found before the
 * image is read. Paths that are missing, empty or not a regular file are dropped. */
int weir__chain_heads(struct weir_chain *chain);
/* Apply the deltas in order, except those that lead back to an earlier state. The heads must have
 * been read.  @name: the image's name.  @options: as for weir__delta_apply(). */
int weir__chain_apply(struct weir_chain *chain, struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);

/* The fault that a failed refresh found. */
enum weir_verdict {
	WEIR_VERDICT_NONE, /* no lasting fault, so try the file again */
	WEIR_VERDICT_BAD,  /* the file is bad */
	WEIR_VERDICT_UNFIT /* the refusal may depend on the current filter */
};

/* One refresh. The thread that runs it has claimed the handle. */
struct weir_refresh_run {
	struct weir_handle *handle;
	struct weir_source *source;
	struct weir_chain chain;   /* the file's deltas */
	const struct weir_refresh_options *options;
	double began;
	struct weir_pace pace;
	uint64_t turn;             /* CPU time up to which the pace has counted work; 0: no pace */
	enum weir_verdict verdict; /* the verdict if the current step fails */
	bool stopped;              /* progress stopped the refresh: no verdict */
};

/* The progress function of every long step. @run: a struct weir_refresh_run. */
int weir__run_progress(void *run, uint64_t done, uint64_t total);
/* Make a filter from the image and its deltas. */
int weir__refresh_read(struct weir_filter **out, struct weir_refresh_run *l);

/* A follower without a report() writes a line to standard error when refreshes begin to fail, when
 * the reason changes, and when refreshes succeed again. */

/* A process that may replace the file decides how often the reason changes and what the message
 * says. To keep such a process from flooding the log, write at most WEIR__LINES_AT_ONCE lines at
 * once, and then one line in WEIR__LINE_EVERY seconds. */
enum { WEIR__LINES_AT_ONCE = 10, WEIR__LINE_EVERY = 5 };

/* Initialise this to { 0 }. An empty string means no failure. */
struct weir_announcer {
	char written[WEIR_SENTENCE_BYTES]; /* the reason that the last line gave */
	char reason[WEIR_SENTENCE_BYTES];  /* the reason why refreshes fail now */
	double lines;                      /* lines that may be written at once */
	double when;                       /* weir__seconds() when `lines` was set; 0: never */
	unsigned long held_back;           /* messages held back since the last line */
};

/* Call this after each refresh. @result: what the refresh returned.  @sentence: its error message.
 * @refused: a file is still refused, even if this refresh returned 0. */
void weir__announce(struct weir_announcer *a, const char *path, int result, const char *sentence,
                    bool refused);

/* Notices from inotify about one name in one folder: a file was renamed to it, was closed after a
 * write, or was removed. If inotify fails, no notice comes, so a waiting caller needs a timeout. */

struct weir_notice {
	int fd;           /* -1: not opened yet, or opening failed */
	int watch;        /* the watch of the folder; -1: none */
	const char *folder;
	const char *name; /* the file's name in the folder */
	const char *mark; /* unless NULL, also accept names that begin with name and mark */
};

/* The strings must outlive the notice. Nothing is opened before weir__notice_renew(). */
struct weir_notice weir__notice(const char *folder, const char *name, const char *mark);
/* Watch the folder that the path names now. A watch follows its folder when the folder is renamed
 * or removed, so call this before each wait. */
void weir__notice_renew(struct weir_notice *n);
/* Read all pending notices without waiting. Return: true if a notice may concern the name. */
bool weir__notice_read(struct weir_notice *n);
void weir__notice_close(struct weir_notice *n);

/* Sanity checks. An image may be intact but not what its publisher meant, for example if the list
 * of keys was empty or far too long. */

enum { WEIR_SANITY_TEXT = 512 };

/* Check @next, a filter from the image @path. Skip a check if a mark (enum weir_image_marks) says
 * that the builder allowed the result.
 * @current: the filter that @next replaces. NULL: do not compare numbers of keys, since @next will
 *   also get the current filter's keys, or there are none.
 * @progress: called while all bits are counted, if a sample does not decide; or NULL.
 * Return: 0; or -ECANCELED: the rate of @next exceeds twice its fp_rate by more than chance may
 * cause, or @next has under a tenth of the keys of @current, or progress stopped. */
int weir__sanity_ask(const char *path, const struct weir_filter *next,
                     const struct weir_filter *current, weir_progress_fn *progress,
                     void *progress_arg);

/* Write a message that the handle has accepted an image. It warns if the set has more keys than its
 * capacity. Such a set is published all the same, since without it keys would be missing. */
void weir__sanity_report(const struct weir_handle *h, const char *path,
                         char text[WEIR_SANITY_TEXT]);

#endif
