/* SPDX-License-Identifier: MIT
 * A model of the kernel's files and the disk's files, and the images that a power cut may leave. */
#include "../test.h"
#include <fcntl.h>
#include "power.h"
#include "shim.h"

enum { BY_CHANCE = 40, MOST_FILES = 8 };

/* A file: the bytes that the kernel has, and the bytes that are certainly on the disk. */
struct file {
	ino_t inode;
	int fd;
	unsigned char *now, *disk;
	size_t n_now, n_disk;
};

struct power power;
static const char *path;
static size_t grain;
static power_right *right;
static struct file files[MOST_FILES];
static unsigned nfiles, bound[MOST_FILES], nbound; /* bound: files that path may name after a cut */
static bool none_bound, /* a cut may leave path without a file */
        answered;       /* the function under test has returned 0 */
static const unsigned char *mapped;

/* ---- the cuts ---- */

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void judge(const unsigned char *image, size_t n, const char *when)
{
	power.cuts++;
	if (!right(image, n, answered) && power.bad++ == 0)
		snprintf(power.first_bad, sizeof power.first_bad, "before %s, of %zu bytes", when,
		         n);
}

static bool differs(const struct file *f, size_t at)
{
	size_t n = smaller(grain, f->n_now - at);
	return at + n > f->n_disk || memcmp(f->now + at, f->disk + at, n) != 0;
}

/* Copy a piece of the kernel's or the disk's file into the trial, padded with zeros. */
static void put(unsigned char *trial, const struct file *f, size_t at, bool from_now)
{
	size_t n = smaller(grain, f->n_now - at);
	memset(trial + at, 0, n);
	if (from_now)
		memcpy(trial + at, f->now + at, n);
	else if (at < f->n_disk)
		memcpy(trial + at, f->disk + at, smaller(n, f->n_disk - at));
}

static void put_all(unsigned char *trial, const struct file *f, bool from_now)
{
	for (size_t at = 0; at < f->n_now; at += grain)
		put(trial, f, at, from_now);
}

/* Try an image whose pieces all come from one file: the disk's file if @from_now is true, otherwise
 * the kernel's file. Then, for each piece in which the two files differ, try an image in which only
 * this piece comes from the other file. */
static void each_alone(unsigned char *trial, const struct file *f, bool from_now, const char *when)
{
	put_all(trial, f, !from_now);
	judge(trial, f->n_now, when);
	for (size_t at = 0; at < f->n_now; at += grain)
		if (differs(f, at)) {
			put(trial, f, at, from_now);
			judge(trial, f->n_now, when);
			put(trial, f, at, !from_now);
		}
}

static void cut_file(const struct file *f, const char *when)
{
	static uint64_t random = 1;
	unsigned char *trial = malloc(f->n_now + 1);
	assert_non_null(trial);
	each_alone(trial, f, true, when);
	each_alone(trial, f, false, when);
	for (unsigned i = 0; i < BY_CHANCE; i++) {
		uint64_t share = test_random(&random) % 4 + 1;
		for (size_t at = 0; at < f->n_now; at += grain)
			put(trial, f, at, !differs(f, at) || test_random(&random) % 5 < share);
		judge(trial, f->n_now, when);
	}
	put_all(trial, f, false);
	if (f->n_disk < f->n_now) /* the disk may still have the old length */
		judge(trial, f->n_disk, when);
	free(trial);
}

static void cut(const char *when)
{
	if (none_bound)
		judge(NULL, 0, when);
	for (unsigned i = 0; i < nbound; i++) {
		const struct file *f = &files[bound[i]];
		if (f->n_now == f->n_disk && memcmp(f->now, f->disk, f->n_now) == 0)
			judge(f->now, f->n_now, when);
		else
			cut_file(f, when);
	}
}

/* ---- the kernel's files, and their syncs ---- */

static void refresh(struct file *f)
{
	struct stat st;
	assert_int_equal(fstat(f->fd, &st), 0);
	free(f->now);
	f->n_now = (size_t)st.st_size;
	f->now = malloc(f->n_now + 1);
	assert_non_null(f->now);
	assert_int_equal(pread(f->fd, f->now, f->n_now, 0), f->n_now);
}

static unsigned file_of(int fd)
{
	struct stat st;
	unsigned i = 0;
	assert_int_equal(fstat(fd, &st), 0);
	while (i < nfiles && files[i].inode != st.st_ino)
		i++;
	if (i < nfiles)
		return i;
	assert_in_range(nfiles, 0, MOST_FILES - 1);
	files[nfiles++] = (struct file){ .inode = st.st_ino, .fd = dup(fd), .disk = malloc(1) };
	return i;
}

static void bind_path(void)
{
	int fd = open(path, O_RDONLY);
	if (fd < 0) {
		none_bound = true;
		return;
	}
	unsigned file = file_of(fd), i = 0;
	close(fd);
	while (i < nbound && bound[i] != file)
		i++;
	if (i == nbound)
		bound[nbound++] = file;
}

/* Record a sync of bytes @from to @to: these bytes are on the disk, up to the end of their page. */
static void synced(struct file *f, size_t from, size_t to)
{
	refresh(f);
	to = smaller((to + 4095) / 4096 * 4096, f->n_now);
	f->disk = realloc(f->disk, f->n_now + 1);
	assert_non_null(f->disk);
	if (f->n_disk < f->n_now)
		memset(f->disk + f->n_disk, 0, f->n_now - f->n_disk);
	f->n_disk = f->n_now;
	memcpy(f->disk + from, f->now + from, to - from);
}

static void sync_of(const struct shim_call *call)
{
	struct stat st;
	if (call->at) { /* an msync; the msync of the live mark comes before power_mapped() */
		size_t from = mapped ? (size_t)((const unsigned char *)call->at - mapped) : 0;
		synced(&files[bound[0]], from, from + call->n);
	} else if (fstat(call->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		nbound = 0;
		none_bound = false;
		bind_path();
	} else {
		synced(&files[file_of(call->fd)], 0, SIZE_MAX / 2);
	}
}

static void look(const struct shim_call *call)
{
	bind_path();
	for (unsigned i = 0; i < nbound; i++)
		refresh(&files[bound[i]]);
	if (call->done)
		sync_of(call);
	else
		cut(call->what);
}

/* ---- the functions that a test calls ---- */

static void forget(void)
{
	for (unsigned i = 0; i < nfiles; i++) {
		free(files[i].now);
		free(files[i].disk);
		close(files[i].fd);
	}
	nfiles = nbound = 0;
	none_bound = answered = false;
	mapped = NULL;
}

void power_begin(const char *name, size_t piece, power_right *is_right)
{
	power = (struct power){ 0 };
	path = name;
	grain = piece;
	right = is_right;
	bind_path();
	for (unsigned i = 0; i < nbound; i++)
		synced(&files[bound[i]], 0, SIZE_MAX / 2);
	shim.look = look;
}

void power_mapped(const void *image)
{
	mapped = image;
}

void power_step(const char *what)
{
	shim.look = NULL;
	look(&(struct shim_call){ .what = what });
	shim.look = look;
}

void power_end(void)
{
	answered = true;
	power_step("whatever follows");
	shim.look = NULL;
	forget();
}
