/* SPDX-License-Identifier: MIT
 * det: the memory model of C11. Each location keeps its last stores. Happens-before and coherence
 * determine the stores that a load may return. */
#include <string.h>
#include "det_location.h"

static _Alignas(64) struct location table[LOCATIONS];
static int in_use;
static struct det_clock seq_cst_fences;

void det_memory_begin(void)
{
	in_use = 0;
	memset(&seq_cst_fences, 0, sizeof seq_cst_fences);
}

struct location *det_slot(uintptr_t a)
{
	uint32_t i = (uint32_t)((a >> 2) * 2654435761u) % LOCATIONS;
	while (table[i].execution == det.execution && table[i].address != a)
		i = (i + 1) % LOCATIONS;
	return &table[i];
}

struct location *det_find(const volatile void *address)
{
	uintptr_t a = (uintptr_t)address;
	det_heap_check(a);
	struct location *l = det_slot(a);
	if (l->execution != det.execution) {
		if (++in_use == LOCATIONS)
			det_fail("more than %d locations in one execution", LOCATIONS - 1);
		l->address = a;
		l->execution = det.execution;
		l->stores = 0;
		l->plain_written = 0;
		memset(l->plain_read, 0, sizeof l->plain_read);
	}
	return l;
}

/* Return: the location of an atomic access, with at least one store. */
static struct location *atomic_location(const volatile void *address, unsigned bytes, bool write)
{
	struct location *l = det_find(address);
	uint64_t now = 0;
	memcpy(&now, (const void *)address, bytes);
	det_check_plain_write(l);
	if (write)
		det_check_reads(l, l->plain_read);
	/* The memory has its initial value, or a value that plain code has written since. */
	if (!l->stores || l->store[l->stores - 1].value != now) {
		memset(&l->store[0], 0, sizeof l->store[0]);
		l->store[0].value = now;
		l->store[0].thread = l->plain_writer;
		l->store[0].when = l->plain_written;
		l->stores = 1;
	}
	return l;
}

static struct store *newest(struct location *l)
{
	return &l->store[l->stores - 1];
}

static bool acquires(enum det_order order)
{
	return order == DET_ACQUIRE || order == DET_ACQ_REL || order == DET_SEQ_CST;
}

static bool releases(enum det_order order)
{
	return order == DET_RELEASE || order == DET_ACQ_REL || order == DET_SEQ_CST;
}

/* Appends a store to the history. @replaced: the store that a read-modify-write has read, whose
 * release sequence the new store continues; NULL if the store is not part of a
 * read-modify-write. */
static void append(struct location *l, volatile void *address, unsigned bytes, uint64_t value,
                   enum det_order order, const struct store *replaced)
{
	const struct det_thread *t = det_self();
	struct store s = { .value = value, .when = t->clock.of[det.current],
	                   .thread = (uint8_t)det.current, .seq_cst = order == DET_SEQ_CST };
	if (t->reader)
		det_fail("a thread that was to read only stored to %p", (void *)l->address);
	s.released = releases(order) ? t->clock : t->release_fence;
	if (replaced)
		det_clock_join(&s.released, &replaced->released);
	if (l->stores == HISTORY) {
		memmove(l->store, l->store + 1, sizeof l->store[0] * (HISTORY - 1));
		l->stores--;
		det.result.forgotten++;
	}
	l->store[l->stores++] = s;
	memcpy((void *)address, &value, bytes);
}

static void read_store(struct store *s, enum det_order order)
{
	struct det_thread *t = det_self();
	if (!s->seen[det.current])
		s->seen[det.current] = t->clock.of[det.current];
	det_clock_join(acquires(order) ? &t->clock : &t->acquire_fence, &s->released);
}

/* Return: true if the running thread must not read a store older than @s, because of
 * happens-before, coherence or the order of seq_cst operations. */
static bool hides_older(const struct store *s, enum det_order order)
{
	if (!s->when || det_knows(s->thread, s->when) || (order == DET_SEQ_CST && s->seq_cst))
		return true;
	for (int i = 0; i < det.threads; i++)
		if (s->seen[i] && det_knows(i, s->seen[i]))
			return true;
	return false;
}

/* Return: the number of stores that a load may choose from. They are the newest stores. */
static int readable(const struct location *l, enum det_order order)
{
	int n = 1;
	while (n < l->stores && !hides_older(&l->store[l->stores - n], order)) {
		uint32_t seen = l->store[l->stores - n - 1].seen[det.current];
		/* the thread paused after it read the next older store, so that store is hidden */
		if (seen && seen <= det_self()->paused_clock)
			break;
		n++;
	}
	return n;
}

/* Return: the store that a load reads. Choice 0 is the newest value. If several stores have equal
 * values, the oldest stands for all of them: it forbids the fewest later reads and reveals the
 * least about other threads, so it allows every behaviour that a newer store allows. */
static struct store *choose_store(struct location *l, enum det_order order)
{
	struct store *oldest[HISTORY];
	uint64_t relevant = det.options.relevant ?
	                            det.options.relevant((const volatile void *)l->address) :
	                            ~UINT64_C(0);
	int values = 0;
	for (int age = 0, n = readable(l, order); age < n; age++) {
		struct store *s = newest(l) - age;
		int i = 0;
		while (i < values && ((oldest[i]->value ^ s->value) & relevant))
			i++;
		oldest[i] = s;
		values += i == values;
	}
	return oldest[det_choose_stale(values)];
}

uint64_t det_load(const volatile void *address, unsigned bytes, enum det_order order)
{
	det_operation_begins();
	det_tick();
	struct location *l = atomic_location(address, bytes, false);
	struct store *s = choose_store(l, order);
	uint64_t value = s->value;
	read_store(s, order);
	if (order == DET_SEQ_CST)
		/* the position in the total order of seq_cst operations matters */
		det_operation_ends();
	return value;
}

void det_store(volatile void *address, unsigned bytes, uint64_t value, enum det_order order)
{
	det_write_begins();
	det_tick();
	append(atomic_location(address, bytes, true), address, bytes, value, order, NULL);
	det_operation_ends();
}

static uint64_t result_of(enum det_operation operation, uint64_t old, uint64_t operand)
{
	switch (operation) {
	case DET_EXCHANGE:
		return operand;
	case DET_ADD:
		return old + operand;
	case DET_SUB:
		return old - operand;
	case DET_OR:
		return old | operand;
	case DET_AND:
		return old & operand;
	case DET_XOR:
		return old ^ operand;
	}
	return old;
}

uint64_t det_rmw(volatile void *address, unsigned bytes, enum det_operation operation,
                 uint64_t operand, enum det_order order)
{
	det_write_begins();
	det_tick();
	struct location *l = atomic_location(address, bytes, true);
	uint64_t mask = bytes == 8 ? ~UINT64_C(0) : (UINT64_C(1) << (8 * bytes)) - 1;
	read_store(newest(l), order);
	struct store old = *newest(l);
	append(l, address, bytes, result_of(operation, old.value, operand) & mask, order, &old);
	det_operation_ends();
	return old.value;
}

bool det_compare_exchange(volatile void *address, unsigned bytes, uint64_t *expected,
                          uint64_t desired, enum det_order success, enum det_order failure,
                          bool weak)
{
	det_write_begins();
	det_tick();
	struct location *l = atomic_location(address, bytes, true);
	bool done = newest(l)->value == *expected && !(weak && det_choose(2, DET_WHICH_VALUE));
	read_store(newest(l), done ? success : failure);
	struct store old = *newest(l);
	if (done)
		append(l, address, bytes, desired, success, &old);
	else
		*expected = old.value;
	det_operation_ends();
	return done;
}

void det_fence(enum det_order order)
{
	struct det_thread *t = det_self();
	det_write_begins();
	det_tick();
	if (acquires(order))
		det_clock_join(&t->clock, &t->acquire_fence);
	if (order == DET_SEQ_CST) {
		det_clock_join(&t->clock, &seq_cst_fences);
		seq_cst_fences = t->clock;
	}
	if (releases(order))
		t->release_fence = t->clock;
	if (order == DET_SEQ_CST)
		det_operation_ends();
}
