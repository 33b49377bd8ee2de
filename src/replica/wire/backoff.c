/* SPDX-License-Identifier: MIT
 * Waiting that can be interrupted, and how long after a failure. */
#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>
#include "wire.h"
#include "../clock.h"

enum { FDS = 8, FIRST = 50, MOST = 10000 };

void weir__wire_interrupt(struct weir_wire *w)
{
	uint64_t one = 1;
	while (write(weir__wire_interrupt_fd(w), &one, sizeof one) < 0 && errno == EINTR)
		;
}

/* Readable until weir__wire_rest(): nothing else reads it. */
bool weir__wire_interrupted(const struct weir_wire *w)
{
	struct pollfd fd = { .fd = weir__wire_interrupt_fd(w), .events = POLLIN };
	return poll(&fd, 1, 0) > 0;
}

bool weir__wire_wait(struct weir_wire *w, struct pollfd *fds, size_t n, int milliseconds)
{
	struct pollfd all[1 + FDS] = { { .fd = weir__wire_interrupt_fd(w), .events = POLLIN } };
	int64_t end = (int64_t)weir__now_ms() + milliseconds;
	if (n > FDS)
		n = FDS;
	for (size_t i = 0; i < n; i++)
		all[1 + i] = fds[i];
	for (;;) {
		int64_t left = end - (int64_t)weir__now_ms();
		int ready = poll(all, (nfds_t)(1 + n), left > 0 ? (int)left : 0);
		for (size_t i = 0; i < n; i++)
			fds[i].revents = ready > 0 ? all[1 + i].revents : 0;
		if (all[0].revents)
			return false;
		if (ready >= 0 || errno != EINTR)
			return true;
	}
}

unsigned weir__wire_backoff(unsigned failures)
{
	unsigned random = 0, most = FIRST;
	for (unsigned i = 1; i < failures && most < MOST; i++)
		most *= 2;
	most = most < MOST ? most : MOST;
	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = most; /* then all of it */
	return most / 2 + random % (most / 2 + 1);
}
