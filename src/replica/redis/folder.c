/* SPDX-License-Identifier: MIT
 * Files of a folder: written, synced, named; removed when no generation has them. */
#include "redis.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weir/error.h>
#include "../format/number.h"

/* Go to the data at or behind @at: the padding of an image is a hole, and stays one.
 * Return: where the data ends. */
static off_t next_data(int to, int from, off_t *at, off_t bytes)
{
	const off_t data = lseek(from, *at, SEEK_DATA),
	            end = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
	if (end < 0 || end > bytes || lseek(to, data, SEEK_SET) < 0)
		return bytes; /* copy what is there, as it reads */
	*at = data;
	return end;
}

static int copy(int to, int from, off_t bytes)
{
	off_t at = 0, end = 0;
	while (at < bytes) {
		if (at == end)
			end = next_data(to, from, &at, bytes);
		ssize_t n = sendfile(to, from, &at, (size_t)(end - at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return fchmod(to, 0644) == 0 && fsync(to) == 0 ? 0 : -errno;
}

static int put(int folder, const char *name, int from, uint64_t bytes)
{
	char temporary[300];
	snprintf(temporary, sizeof temporary, ".%s.new", name);
	int to = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                0600);
	if (to < 0)
		return -errno;
	int err = copy(to, from, (off_t)bytes);
	if (close(to) != 0 && !err)
		err = -errno;
	if (!err && renameat(folder, temporary, folder, name) != 0)
		err = -errno;
	if (err)
		(void)unlinkat(folder, temporary, 0);
	return err ? err : fsync(folder) == 0 ? 0 : -errno;
}

int weir__folder_put(const char *path, const char *name, int fd, uint64_t bytes)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return weir_fail(-errno, "folder %s for images: %s", path, weir_strerror(-errno));
	int err = put(folder, name, fd, bytes);
	close(folder);
	return err ? weir_fail(err, "%s/%s: %s", path, name, weir_strerror(err)) : 0;
}

/* SET-GENERATION-HEX.weir, also of one that was not finished (.NAME.new). */
static bool is_image(const char *file, const char *set)
{
	size_t len = strlen(set);
	const char *at = *file == '.' ? file + 1 : file;
	uint64_t generation, hex;
	if (strncmp(at, set, len) != 0 || at[len] != '-')
		return false;
	at += len + 1;
	const char *dash = strchr(at, '-');
	if (!dash || !weir__number_parse(&generation, at, (size_t)(dash - at)) ||
	    strlen(dash) < 17 || !weir__hex_parse(&hex, dash + 1, 16, 16))
		return false;
	return strcmp(dash + 17, *file == '.' ? ".weir.new" : ".weir") == 0;
}

static bool among(char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_old(int folder, const char *name, unsigned seconds)
{
	struct stat st;
	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_mtime + (time_t)seconds <= time(NULL);
}

int weir__folder_prune(const char *path, const char *set, char *const *names, size_t n,
                       unsigned seconds)
{
	DIR *dir = opendir(path);
	if (!dir)
		return weir_fail(-errno, "folder %s for images: %s", path, weir_strerror(-errno));
	for (const struct dirent *e; (e = readdir(dir));)
		if (is_image(e->d_name, set) && !among(names, n, e->d_name) &&
		    is_old(dirfd(dir), e->d_name, seconds))
			(void)unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	return 0;
}
