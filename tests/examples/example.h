/* SPDX-License-Identifier: MIT
 * Helpers for the scenarios: time, arguments, threads, and a check of their promises. */
#ifndef WEIR_EXAMPLES_EXAMPLE_H
#define WEIR_EXAMPLES_EXAMPLE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weir/weir.h>
#include "../../bench/keys.h"

enum { MOST_THREADS = 64, SEED = 2026, NAME = 512 };

static inline double seconds_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

/* The processor time of this thread: the cost of a call even if other programs run. */
static inline double cpu_seconds(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

/* If a call failed, print weir's error message and exit. */
static inline void must(int64_t err, const char *what)
{
	if (err >= 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", what, weir_strerror((int)err), weir_error_detail());
	exit(1);
}

static inline void *room_for(uint64_t n, size_t size)
{
	void *memory = calloc(n ? n : 1, size);
	if (!memory) {
		fprintf(stderr, "no memory for %llu times %zu bytes\n", (unsigned long long)n,
		        size);
		exit(1);
	}
	return memory;
}

/* Report a broken promise. Return: @kept. */
static inline bool promise(bool kept, const char *what)
{
	if (!kept)
		fprintf(stderr, "NOT KEPT: %s\n", what);
	return kept;
}

static inline void arguments(bool right, const char *usage)
{
	if (right)
		return;
	fprintf(stderr, "usage: %s\n", usage);
	exit(2);
}

/* Return: a whole number from @least to @most. Any other text is a usage error. */
static inline uint64_t number(const char *text, uint64_t least, uint64_t most, const char *usage)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < least || n > most) {
		fprintf(stderr, "%s: a number from %llu to %llu is wanted\nusage: %s\n", text,
		        (unsigned long long)least, (unsigned long long)most, usage);
		exit(2);
	}
	return n;
}

/* Return: the kind with this name, one of @kinds. Any other name is a usage error. */
static inline uint32_t kind_of(const char *name, const uint32_t *kinds, size_t n, const char *usage)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, weir_kind_name(kinds[i])) == 0)
			return kinds[i];
	fprintf(stderr, "%s: no kind for this\nusage: %s\n", name, usage);
	exit(2);
}

static inline uint64_t file_bytes(const char *path)
{
	struct stat st;
	must(stat(path, &st) ? -errno : 0, path);
	return (uint64_t)st.st_size;
}

static inline void rename_over(const char *from, const char *to)
{
	must(rename(from, to) ? -errno : 0, to);
}

static char example_folder[NAME - 100];

static inline void remove_folder(void)
{
	char name[NAME];
	DIR *folder = opendir(example_folder);
	for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
		snprintf(name, NAME, "%s/%.90s", example_folder, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(name);
	}
	if (folder)
		closedir(folder);
	rmdir(example_folder);
}

/* Return: a new folder for the example inside @in. It is removed at exit. */
static inline const char *fresh_folder(const char *in)
{
	int len = snprintf(example_folder, sizeof example_folder, "%s/weir-XXXXXX", in);
	if (len >= (int)sizeof example_folder || !mkdtemp(example_folder)) {
		perror(in);
		exit(2);
	}
	atexit(remove_folder);
	return example_folder;
}

/* Map a file of @bytes bytes as memory; make the file if it is missing. */
static inline void *map_shared(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(fd < 0 || ftruncate(fd, (off_t)bytes) ? -errno : 0, path);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(memory == MAP_FAILED ? -errno : 0, path);
	close(fd);
	return memory;
}

/* Return: true if @wrong, the number of wrong answers among @n, is at most 1.05 * @rate * @n plus
 * three standard deviations plus one. */
static inline bool within(uint64_t wrong, double rate, uint64_t n)
{
	return (double)wrong <= 1.05 * rate * (double)n + 3 * sqrt(rate * (double)n) + 1;
}

/* Run @body in @n threads, each with its number. Return: the seconds that this took. */
static inline double in_threads(unsigned n, void *(*body)(void *))
{
	pthread_t thread[MOST_THREADS];
	double began = seconds();
	for (uintptr_t i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, body, (void *)i))
			abort();
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return seconds() - began;
}

#endif
