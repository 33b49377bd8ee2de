/* SPDX-License-Identifier: MIT
 * The limits of control groups are those of a group and of all above it. Version 2 has one tree of
 * groups, version 1 one for each resource. In a container the path may be one of the host's, which
 * is not there: then what is above it counts, up to the container's own root. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "room.h"

/* The number that a file begins with, if it is less; a file that is not there, or holds "max", has
 * none. */
static uint64_t less_in(const char *path, uint64_t than)
{
	unsigned long long number;
	FILE *file = fopen(path, "re");
	if (file && fscanf(file, "%llu", &number) == 1 && number < than)
		than = number;
	if (file)
		fclose(file);
	return than;
}

static uint64_t available(const char *root)
{
	char path[PATH_MAX], line[256];
	unsigned long long kib = 0;
	snprintf(path, sizeof path, "%s/proc/meminfo", root);
	FILE *file = fopen(path, "re");
	while (file && !kib && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
			kib = 0;
	if (file)
		fclose(file);
	return kib ? kib << 10 :
	             (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* @group: the path of a group; it is cut off part by part. */
static uint64_t least_above(const char *tree, char *group, const char *name, uint64_t least)
{
	char path[2 * PATH_MAX];
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		*end = '\0';
		snprintf(path, sizeof path, "%s%s/%s", tree, group, name);
		least = less_in(path, least);
	}
	return least;
}

/* Is memory in a list such as "cpu,memory"? */
static int has_memory(const char *list, const char *end)
{
	for (const char *at = list; at < end; at += strcspn(at, ",:") + 1)
		if (strcspn(at, ",:") == 6 && strncmp(at, "memory", 6) == 0)
			return 1;
	return 0;
}

/* A line of /proc/self/cgroup: NUMBER:RESOURCES:PATH, in version 2 0::PATH. */
static uint64_t least_of(const char *root, char *line, uint64_t least)
{
	char tree[PATH_MAX];
	char *list = strchr(line, ':'), *end = list ? strchr(list + 1, ':') : NULL;
	if (!end)
		return least;
	int newer = end == list + 1;
	if (!newer && !has_memory(list + 1, end))
		return least;
	snprintf(tree, sizeof tree, "%s/sys/fs/cgroup%s", root, newer ? "" : "/memory");
	end[1 + strcspn(end + 1, "\n")] = '\0';
	return least_above(tree, end + 1, newer ? "memory.max" : "memory.limit_in_bytes", least);
}

uint64_t room_half(const char *root)
{
	char path[PATH_MAX], line[PATH_MAX + 256];
	uint64_t least = available(root);
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		least = least_of(root, line, least);
	if (file)
		fclose(file);
	return least / 2;
}
