/* SPDX-License-Identifier: MIT
 * Checks the images of windows. Any number in an image may be forged. */
#include <float.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "ground/error.h"
#include "kinds/blocked/blocked.h"
#include "window/window.h"

struct weir_shape weir__window_member_shape(uint32_t z, uint32_t g)
{
	struct weir_shape shape = { .kind = WEIR_BLOCKED };
	shape.field[WEIR_BLOCKED_Z] = z;
	shape.field[WEIR_BLOCKED_G] = g;
	return shape;
}

double weir__window_span_of(const uint64_t own[WEIR_WINDOW_OWN])
{
	double span;
	memcpy(&span, &own[WEIR_WINDOW_SPAN], sizeof span);
	return span;
}

unsigned weir__window_used(const uint64_t note[], unsigned n)
{
	unsigned used = 0;
	while (used < n && note[used] != WEIR_WINDOW_NEVER)
		used++;
	return used;
}

uint64_t weir__window_real_time(void)
{
	const int64_t most_seconds = (int64_t)(2 * WEIR_WINDOW_OLDEST / 1000000000);
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (t.tv_sec >= most_seconds)
		return 2 * WEIR_WINDOW_OLDEST;
	uint64_t ns = t.tv_sec < 0 ? 0 : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return ns ? ns : 1;
}

/* Refuse a rate that a window cannot have, since the rate of a generation would be too small. */
static int suits_filter(const struct weir_layout *whole)
{
	const uint32_t n = whole->shape.field[WEIR_WINDOW_G];
	if (!(whole->fp_rate / n >= DBL_MIN)) /* the rate of a member */
		return weir__fail(-EBADMSG, "fp_rate is %g; allowed: at least %g for each of %"
		                  PRIu32 " generations", whole->fp_rate, DBL_MIN, n);
	return 0;
}

static int suits_turns(const struct weir_layout *whole, const uint64_t own[WEIR_WINDOW_OWN])
{
	const double span = weir__window_span_of(own);
	const uint64_t room = weir__window_member_capacity(whole->capacity,
	                                                   whole->shape.field[WEIR_WINDOW_G]);
	if (!weir__window_spans(span))
		return weir__fail(-EBADMSG, "span_seconds is %g; allowed: 0, or %g to %g", span,
		                  WEIR__WINDOW_LEAST_SPAN, WEIR__WINDOW_MOST_SPAN);
	if (own[WEIR_WINDOW_PER_KEYS] > room)
		return weir__fail(-EBADMSG, "generation_keys is %" PRIu64 "; allowed: up to a "
		                  "generation's capacity, %" PRIu64, own[WEIR_WINDOW_PER_KEYS],
		                  room);
	if (own[WEIR_WINDOW_COUNTED] > WEIR_WINDOW_MOST_KEYS)
		return weir__fail(-EBADMSG, "keys counted in the newest generation is %" PRIu64
		                  "; allowed: up to 2^48", own[WEIR_WINDOW_COUNTED]);
	if (own[WEIR_WINDOW_SAVED] < 1 || own[WEIR_WINDOW_SAVED] > 2 * WEIR_WINDOW_OLDEST)
		return weir__fail(-EBADMSG, "time of saving is %" PRIu64 " ns; allowed: 1 to 2^63",
		                  own[WEIR_WINDOW_SAVED]);
	return 0;
}

static int suits_age(const struct weir_parts *p, unsigned i)
{
	const uint64_t age = p->note[i], newer = i ? p->note[i - 1] : 0;
	if (age == WEIR_WINDOW_NEVER && i)
		return 0;
	if (age > WEIR_WINDOW_OLDEST)
		return weir__fail(-EBADMSG, "generation %u: age is %" PRIu64 " ns; allowed: up to "
		                  "2^62", i, age);
	if (newer == WEIR_WINDOW_NEVER)
		return weir__fail(-EBADMSG, "generation %u: age is %" PRIu64 " ns, and the newer "
		                  "one was never the newest", i, age);
	if (age < newer)
		return weir__fail(-EBADMSG, "generation %u: age is %" PRIu64 " ns, less than the "
		                  "newer one's, %" PRIu64, i, age, newer);
	return 0;
}

int weir__window_check_image(const struct weir_parts *p)
{
	const uint32_t n = p->whole->shape.field[WEIR_WINDOW_G];
	if (p->n != n)
		return weir__fail(-EBADMSG, "members is %u where a window of %" PRIu32
		                  " generations has as many", p->n, n);
	int err = suits_filter(p->whole);
	if (!err)
		err = suits_turns(p->whole, p->own);
	for (unsigned i = 0; !err && i < n; i++)
		err = suits_age(p, i);
	return err;
}

int weir__window_member_suits(const struct weir_parts *p, unsigned i,
                              const struct weir_layout *member)
{
	const struct weir_layout *whole = p->whole;
	const uint32_t n = whole->shape.field[WEIR_WINDOW_G];
	const struct weir_shape shape =
		weir__window_member_shape(whole->shape.field[WEIR_WINDOW_WORDS],
		                          whole->shape.field[WEIR_WINDOW_BITS]);
	const uint64_t capacity = weir__window_member_capacity(whole->capacity, n);
	int err = i ? 0 : weir__window_check_image(p);
	if (err)
		return err;
	if (member->kind->id != WEIR_BLOCKED || memcmp(&member->shape, &shape, sizeof shape))
		return weir__fail(-EBADMSG, "generation %u: is of another shape than the window",
		                  i);
	if (member->lines != whole->lines / n)
		return weir__fail(-EBADMSG, "generation %u: blocks is %" PRIu64 " where %" PRIu64
		                  " should be", i, member->lines, whole->lines / n);
	if (member->capacity != capacity)
		return weir__fail(-EBADMSG, "generation %u: capacity is %" PRIu64 " where %" PRIu64
		                  " should be", i, member->capacity, capacity);
	return 0;
}
