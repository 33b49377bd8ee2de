/* SPDX-License-Identifier: MIT
 * Functions that bench_replica.c and bench_replica_cpu.c share. */
#ifndef WEIR_BENCH_REPLICA_H
#define WEIR_BENCH_REPLICA_H

#include <hiredis/hiredis.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir/replica.h>
#include <weir/weir.h>

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void fail(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, weir_error_detail());
	exit(1);
}

static inline uint64_t key_of(uint64_t n)
{
	n *= 0x9E3779B97F4A7C15;
	return n ^ n >> 29;
}

static inline int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* A weir_replica_options.report that prints only failures. */
static inline void quiet(void *context, int result, const char *sentence)
{
	(void)context;
	if (result < 0)
		fprintf(stderr, "%s\n", sentence);
}

/* Return: the number after @name in @section of INFO; 0 if @name is missing. */
static inline double info(redisContext *c, const char *section, const char *name)
{
	redisReply *r = redisCommand(c, "INFO %s", section);
	const char *at = r && r->str ? strstr(r->str, name) : NULL;
	double number = at ? atof(at + strlen(name)) : 0;
	freeReplyObject(r);
	return number;
}

#endif
