/* SPDX-License-Identifier: MIT
 * Read-side sections and grace periods, for the models: at most 8 threads with sections, 4 grace
 * periods at once.
 *
 * A grace period waits for the sections that were running when it began, and for nothing else: that
 * is all that RCU promises. */

byte inside; /* a bit for each thread: it is in a section */
int awaited; /* a byte for each grace period: the threads whose sections it still waits for */

inline read_lock(t)
{
#ifndef NO_SECTION
	inside = inside | (1 << (t))
#else
	skip
#endif
}

inline read_unlock(t)
{
	d_step {
		inside = inside & ~(1 << (t));
		awaited = awaited & ~((1 | 1 << 8 | 1 << 16 | 1 << 24) << (t))
	}
}

inline grace_begin(g)
{
	awaited = awaited | (inside << (8 * (g)))
}

inline grace_end(g)
{
	((awaited >> (8 * (g))) & 255) == 0
}

inline grace(g)
{
	grace_begin(g);
	grace_end(g)
}
