/* SPDX-License-Identifier: MIT
 * Helpers for this folder: time, sleep, messages, and settings that depend on the node's state. */
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include "service.h"

/* ---- time ---- */

uint64_t weir__service_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void weir__service_wake(void *replica)
{
	const struct weir_replica *r = replica;
	(void)eventfd_write(r->wake, 1);
}

void weir__service_sleep(struct weir_replica *r, uint64_t until_ms)
{
	struct pollfd fd = { .fd = r->wake, .events = POLLIN };
	const uint64_t now = weir__service_now();
	eventfd_t n;
	if (until_ms > now)
		(void)poll(&fd, 1, (int)(until_ms - now));
	(void)eventfd_read(r->wake, &n);
}

struct weir_now weir__service_clocks(void)
{
	struct timespec wall, run;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_BOOTTIME, &run);
	return (struct weir_now){ (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000,
		                  (uint64_t)run.tv_sec * 1000 + (uint64_t)run.tv_nsec / 1000000 };
}

/* ---- settings that depend on the node's state ---- */

void weir__service_may_publish(struct weir_replica *r)
{
	const bool may = r->signer ? !r->clock.err : !r->trust && !r->is_signed;
	if (r->has_node)
		atomic_store(&r->node.may_publish, may);
}

/* An image is larger than its filter, since the bits of each part begin at a huge page. Redis also
 * buffers some chunks while it stores a chunk. */
void weir__service_size(struct weir_replica *r, uint64_t bytes)
{
	const uint64_t least = UINT64_C(64) << 20;
	weir__redis_reserve(r->redis, bytes + bytes / 16 + (6 << 20));
	r->node.publish_bytes = 2 * bytes > least ? 2 * bytes : least;
}

void weir__service_tell(const struct weir_replica *r, int result, const char *sentence)
{
	if (r->o.report)
		r->o.report(r->o.context, result, sentence);
	else
		fprintf(stderr, "weir: %s\n", sentence); /* weir_fail() has escaped the sentence */
}
