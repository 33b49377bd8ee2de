/* SPDX-License-Identifier: MIT
 * A sandbox may refuse getrandom and still have /dev/urandom. */
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>
#include "ground/error.h"
#include "ground/random.h"

#define DEVICE "/dev/urandom"

/* Return: 0 or an errno. */
static int read_device(uint64_t *out)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return errno;
	ssize_t n;
	do
		n = read(fd, out, sizeof *out);
	while (n < 0 && errno == EINTR);
	int error = n < 0 ? errno : n == sizeof *out ? 0 : EIO;
	close(fd);
	return error;
}

int weir__random(uint64_t *out)
{
	ssize_t n;
	do
		n = getrandom(out, sizeof *out, 0);
	while (n < 0 && errno == EINTR);
	if (n == sizeof *out)
		return 0;
	int refused = n < 0 ? errno : EIO, error = read_device(out);
	return error ?
	       weir__fail(-refused, "no random number: getrandom: %s; " DEVICE ": %s: allow one "
	                  "of them", weir_strerror(refused), weir_strerror(error)) :
	       0;
}
