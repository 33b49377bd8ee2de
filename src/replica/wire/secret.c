/* SPDX-License-Identifier: MIT
 * What was a password is overwritten when it is freed. */
#include "link.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/error.h>

enum { MOST = 4096 };

int weir__secret_read(char **out, const char *path)
{
	char text[MOST + 1];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	ssize_t got = file ? read(fd, text, MOST) : -1;
	int err = fd >= 0 && !file ? -EINVAL : got < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (err)
		return weir_fail(err, "password file %s: %s", path, weir_strerror(err));
	size_t n = got < 0 ? 0 : (size_t)got;
	text[n] = '\0';
	size_t len = strcspn(text, "\r\n");
	bool whole = text[len] != '\0' || n < MOST;
	text[len] = '\0';
	*out = len && whole ? strdup(text) : NULL;
	explicit_bzero(text, sizeof text);
	if (!len || !whole)
		return weir_fail(-EINVAL, "password file %s: its first line is %s", path,
		                 len ? "too long" : "empty");
	return *out ? 0 : weir_fail(-ENOMEM, "no memory for a password");
}

void weir__secret_free(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}
