/* SPDX-License-Identifier: MIT
 * Each thread counts in its own cells.
 *
 *  [OWN-CELL]  Only its own thread writes a cell. So a load, an addition and a store are enough,
 *     and no two threads write one cache line.
 *  [CELLS-STAY]  Cells are never freed, since named's threads live as long as named. A thread that
 *     sums needs no lock, and the counts of a thread outlive the thread.
 *  [CELLS-PUSHED]  A thread zeroes its cells, then pushes them to the head of the list with release
 *     order. The thread that sums loads the head with acquire order, so it reads only zeroed cells.
 *  [LIST-NUMBER]  The number of a list belongs to its name for ever; no other name gets the
 *     number. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "report.h"

struct cells {
	struct cells *next; /* constant after the push */
	_Atomic uint64_t of[COUNT_LISTS][COUNTS];
};

static _Atomic(struct cells *) all_cells;
static _Thread_local struct cells *own_cells;

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static char names[COUNT_LISTS][NAME_MOST + 1];

int counts_list(const char *name)
{
	int list = 0;
	pthread_mutex_lock(&names_lock);
	while (list < COUNT_LISTS && names[list][0] && strcmp(names[list], name) != 0)
		list++;
	if (list == COUNT_LISTS)
		list = -1;
	else
		strcpy(names[list], name); /* options.c limits it to NAME_MOST bytes */
	pthread_mutex_unlock(&names_lock);
	return list;
}

static struct cells *add_cells(void)
{
	void *memory = NULL;
	size_t bytes = (sizeof(struct cells) + 127) / 128 * 128; /* CPUs prefetch pairs of lines */
	if (posix_memalign(&memory, 128, bytes) != 0)
		return NULL;
	struct cells *mine = memset(memory, 0, bytes);
	mine->next = atomic_load_explicit(&all_cells, memory_order_relaxed);
	/* release: [CELLS-PUSHED]; relaxed on failure: only the pointer is used */
	while (!atomic_compare_exchange_weak_explicit(&all_cells, &mine->next, mine,
	                                              memory_order_release, memory_order_relaxed))
		;
	return own_cells = mine;
}

void counts_add(int list, enum count what)
{
	struct cells *mine = own_cells ? own_cells : add_cells();
	if (!mine)
		return;
	/* relaxed: [OWN-CELL]; a count publishes no other memory */
	uint64_t now = atomic_load_explicit(&mine->of[list][what], memory_order_relaxed);
	atomic_store_explicit(&mine->of[list][what], now + 1, memory_order_relaxed);
}

void counts_sum(int list, uint64_t sums[COUNTS])
{
	memset(sums, 0, COUNTS * sizeof sums[0]);
	/* acquire: [CELLS-PUSHED] */
	for (struct cells *c = atomic_load_explicit(&all_cells, memory_order_acquire); c;
	     c = c->next)
		for (int i = 0; i < COUNTS; i++)
			sums[i] += atomic_load_explicit(&c->of[list][i], memory_order_relaxed);
}
