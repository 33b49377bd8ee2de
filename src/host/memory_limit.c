/* SPDX-License-Identifier: MIT
 * Reads the memory limits of control groups (cgroups). A group is also limited by all groups above
 * it. cgroup version 2 has one tree of groups and version 1 one tree for each resource, and a
 * machine may have both. /proc/self/cgroup names the group of this process. /proc/self/mountinfo
 * lists the mount points, each of a whole tree or a subtree. In a container, the group may lie
 * outside of the mounted subtree. Then the limits of the mounted group apply. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include "memory_limit.h"

/* The files of a cgroup version. The memory in use includes the page cache, which is subtracted
 * because the kernel drops it before it kills a process. */
struct version {
	const char *type; /* file system type of the mount */
	const char *limits[2], *use;
	const char *limit_above; /* name in memory.stat of the least limit of a group and of all
	                            groups above it; NULL: there is no such figure */
	const char *cache[2];    /* names of the page cache's figures in memory.stat */
};

static const struct version older = {
	.type = "cgroup",
	.limits = { "memory.limit_in_bytes" },
	.use = "memory.usage_in_bytes",
	.limit_above = "hierarchical_memory_limit",
	.cache = { "total_inactive_file", "total_active_file" },
}, newer = {
	.type = "cgroup2",
	.limits = { "memory.max", "memory.high" },
	.use = "memory.current",
	.cache = { "inactive_file", "active_file" },
};

enum { LONGEST = 4 * PATH_MAX }; /* bytes of a line of the files in /proc/self */

static FILE *open_in(const char *folder, const char *name)
{
	char path[3 * PATH_MAX];
	const int len = snprintf(path, sizeof path, "%s/%s", folder, name);
	return len < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* Return: the number if it is alone on its line, else @otherwise, for example for "max". */
static uint64_t number_or(const char *text, uint64_t otherwise)
{
	char *end;
	const uint64_t number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && (*end == '\n' || !*end) ? number : otherwise;
}

static uint64_t number_in(const char *folder, const char *name, uint64_t otherwise)
{
	char line[64];
	FILE *file = open_in(folder, name);
	if (file && fgets(line, sizeof line, file))
		otherwise = number_or(line, otherwise);
	if (file)
		fclose(file);
	return otherwise;
}

/* Return: the value of @name in memory.stat, or @otherwise. Lines are like "inactive_file 4096". */
static uint64_t stat_or(const char *folder, const char *name, uint64_t otherwise)
{
	char line[256];
	const size_t len = strlen(name);
	FILE *file = open_in(folder, "memory.stat");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, name, len) == 0 && line[len] == ' ')
			otherwise = number_or(line + len + 1, otherwise);
	if (file)
		fclose(file);
	return otherwise;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t left_in(const char *group, const struct version *v)
{
	uint64_t limit = number_in(group, v->limits[0], MEMORY_UNLIMITED);
	if (v->limits[1])
		limit = least(limit, number_in(group, v->limits[1], MEMORY_UNLIMITED));
	if (v->limit_above)
		limit = least(limit, stat_or(group, v->limit_above, MEMORY_UNLIMITED));
	if (limit >= MEMORY_UNLIMITED)
		return MEMORY_UNLIMITED;
	uint64_t use = number_in(group, v->use, 0);
	for (unsigned i = 0; i < 2; i++)
		use -= least(use, stat_or(group, v->cache[i], 0));
	return limit - least(limit, use);
}

/* Return: the least memory that a group or a group above it leaves. @group: the path below @tree,
 * which the call truncates. */
static uint64_t least_above(const char *tree, char *group, const struct version *v)
{
	char path[2 * PATH_MAX];
	uint64_t left = MEMORY_UNLIMITED;
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		*end = '\0';
		if (snprintf(path, sizeof path, "%s%s", tree, group) < (int)sizeof path)
			left = least(left, left_in(path, v));
	}
	return left;
}

/* Return: true if @word is in a list such as "rw,memory". */
static bool has_word(const char *list, const char *word)
{
	const size_t len = strlen(word);
	for (size_t some; *list; list += some + (list[some] != '\0')) {
		some = strcspn(list, ",:\n");
		if (some == len && strncmp(list, word, len) == 0)
			return true;
		if (list[some] != ',')
			break;
	}
	return false;
}

/* ---- mount points ---- */

struct mount {
	char *root;  /* the group that is mounted */
	char *place; /* the mount point */
};

/* Decodes the escapes of mountinfo: \040 is a blank, and \134 is a backslash. */
static void unescape(char *path)
{
	char *to = path;
	for (const char *from = path; *from; to++) {
		unsigned byte;
		const bool escaped = *from == '\\' && sscanf(from + 1, "%3o", &byte) == 1;
		*to = escaped ? (char)byte : *from;
		from += escaped ? 4 : 1;
	}
	*to = '\0';
}

/* Reads a line of mountinfo: ID PARENT DEVICE ROOT PLACE OPTIONS [FIELD]... - TYPE SOURCE OPTIONS.
 * Return: true if the line is a mount of version @v and, in version 1, has the memory resource. */
static bool is_mounted(char *line, const struct version *v, struct mount *out)
{
	char *word[6], *rest = line, *type;
	for (unsigned i = 0; i < 6; i++)
		if (!(word[i] = strsep(&rest, " ")))
			return false;
	do
		type = strsep(&rest, " ");
	while (type && strcmp(type, "-") != 0);
	type = strsep(&rest, " ");
	if (!type || strcmp(type, v->type) != 0 || !strsep(&rest, " ") || !rest)
		return false;
	*out = (struct mount){ .root = word[3], .place = word[4] };
	unescape(out->root);
	unescape(out->place);
	return v == &newer || has_word(rest, "memory");
}

/* Read a line, and cut a longer one. This is not getline(), because Valkey 8.1 loads modules with
 * RTLD_DEEPBIND. Then a module's free() is the C library's, but getline() allocates by jemalloc. */
static bool next_line(FILE *file, char line[LONGEST])
{
	if (!fgets(line, LONGEST, file))
		return false;
	for (int c = 0; !strchr(line, '\n') && c != '\n' && c != EOF;)
		c = fgetc(file);
	return true;
}

/* Return: the path of a group below the mounted group, or NULL if the group is elsewhere. In a
 * cgroup namespace, the path of a group above the namespace's root begins with "/..". */
static const char *below(const char *group, const char *root)
{
	const size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(group, root, len) != 0 || (group[len] && group[len] != '/'))
		return NULL;
	return strstr(group + len, "/..") ? NULL : group + len;
}

/* Return: the memory that the groups of one tree leave. If several mounts show parts of the tree,
 * only mounts that contain the group count. If no mount contains the group, all mounts count. */
static uint64_t left_by(const char *root, const char *group, const struct version *v)
{
	uint64_t left = MEMORY_UNLIMITED, left_else = MEMORY_UNLIMITED;
	bool found = false;
	char line[LONGEST], path[PATH_MAX], tree[PATH_MAX];
	struct mount m;
	FILE *file = open_in(root, "proc/self/mountinfo");
	while (file && next_line(file, line)) {
		if (!is_mounted(line, v, &m))
			continue;
		const char *there = below(group, m.root);
		snprintf(path, sizeof path, "%s", there && strcmp(there, "/") ? there : "");
		snprintf(tree, sizeof tree, "%s%s", root, m.place);
		uint64_t *of = there ? &left : &left_else;
		*of = least(*of, least_above(tree, path, v));
		found |= there != NULL;
	}
	if (file)
		fclose(file);
	return found ? left : left_else;
}

uint64_t memory_of_groups(const char *root)
{
	uint64_t left = MEMORY_UNLIMITED;
	char line[LONGEST];
	FILE *file = open_in(root, "proc/self/cgroup");
	/* Lines are NUMBER:RESOURCES:PATH, and in version 2 0::PATH. */
	while (file && next_line(file, line)) {
		char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
		if (!group || !(group == list + 1 || has_word(list + 1, "memory")))
			continue;
		group[strcspn(group, "\n")] = '\0';
		left = least(left, left_by(root, group + 1, group == list + 1 ? &newer : &older));
	}
	if (file)
		fclose(file);
	return left;
}

uint64_t memory_left(void)
{
	const uint64_t left = memory_of_groups("");
	return left - left / 16;
}

/* ---- the machine ---- */

uint64_t memory_of_machine(void)
{
	/* sysconf() would return garbage if a sandbox refuses sysinfo(). */
	struct sysinfo info = { 0 };
	const uint64_t bytes = sysinfo(&info) ? 0 : (uint64_t)info.totalram * info.mem_unit;
	return bytes ? bytes : MEMORY_UNLIMITED;
}

static uint64_t of_meminfo(const char *root)
{
	char line[256];
	unsigned long long kib = 0;
	FILE *file = open_in(root, "proc/meminfo");
	while (file && !kib && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
			kib = 0;
	if (file)
		fclose(file);
	return kib ? (uint64_t)kib << 10 : memory_of_machine();
}

uint64_t memory_available(const char *root)
{
	return least(of_meminfo(root), memory_of_groups(root));
}

uint64_t memory_half(const char *root)
{
	return memory_available(root) / 2;
}
