/* SPDX-License-Identifier: MIT
 * Where the bits of a filter lie: the caller's memory, shared memory, huge pages, prefaulted
 * pages, and arrays of more than 2^32 bits. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <weir/inline.h>
#include "../test.h"

static struct weir_params params_for(uint32_t kind, uint64_t capacity)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	params.kind = kind;
	params.capacity = capacity;
	params.fp_rate = 0.01;
	params.seed = test_seed(params.kind, 9);
	return params;
}

static uint64_t planned_bytes(const struct weir_params *params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_plan_make(params, &plan));
	return plan.bytes;
}

static void bits_in_the_callers_memory(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_params params = params_for(test_kinds[k], 1000);
		struct weir_filter *f = NULL;
		uint64_t bytes = planned_bytes(&params);
		unsigned char *place = aligned_alloc(64, bytes + 128);
		/* dirty memory: weir_create() zeroes exactly the bytes that the filter uses */
		memset(place, 0xff, bytes + 128);
		params.memory = place + 64;
		params.memory_bytes = bytes;
		assert_ok(weir_create(&f, &params));
		/* a router's memory begins with the names of its sets */
		for (uint64_t i = weir_router_sets(f) > 1 ? 4096 : 0; i < bytes; i++)
			assert_int_equal(place[64 + i], 0);
		assert_false(weir_contains(f, "key", 3));
		bool takes = test_takes_inserts(f);
		for (uint64_t i = 0; i < 1000 && takes; i++) {
			uint64_t key = test_key(i);
			assert_ok(weir_insert(f, &key, 8));
		}
		for (uint64_t i = 0; i < 64; i++)
			assert_true(place[i] == 0xff && place[64 + bytes + i] == 0xff);
		struct weir_filter *copy = NULL;
		int err = weir_clone(&copy, f); /* the copy has memory of its own */
		assert_ok(err == -ENOTSUP ? 0 : err);
		weir_destroy(f);
		place[64] = 1; /* the memory still belongs to the caller */
		free(place);
		uint64_t key = test_key(0);
		assert_true(!copy || weir_contains(copy, &key, 8) == takes);
		weir_destroy(copy);
	}
}

static void two_processes_in_shared_memory(void **state)
{
	struct weir_params params = params_for(WEIR_BLOCKED, 100000);
	struct weir_filter *f = NULL;
	int status;
	(void)state;
	params.memory_bytes = planned_bytes(&params);
	params.memory = mmap(NULL, params.memory_bytes, PROT_READ | PROT_WRITE,
	                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(params.memory != MAP_FAILED);
	assert_ok(weir_create(&f, &params));
	pid_t child = fork();
	assert_true(child >= 0);
	for (uint64_t i = child ? 1 : 0; i < 100000; i += 2) {
		uint64_t key = test_key(i);
		weir_insert(f, &key, 8);
	}
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t key = test_key(i);
		assert_true(weir_contains(f, &key, 8));
	}
	weir_destroy(f);
	munmap(params.memory, params.memory_bytes);
}

static const uint64_t *words_of(const struct weir_filter *f)
{
	struct weir_inline view;
	assert_ok(weir_inline_init(&view, f));
	return view.words;
}

static void allocated_memory_is_aligned(void **state)
{
	(void)state;
	for (uint64_t capacity = 1; capacity < 20000000; capacity *= 7) {
		struct weir_params params = params_for(WEIR_BLOCKED, capacity);
		struct weir_filter *f = NULL;
		assert_ok(weir_create(&f, &params));
		uintptr_t at = (uintptr_t)words_of(f), huge = 2 << 20;
		assert_int_equal(at % 64, 0);
		if (planned_bytes(&params) >= huge)
			assert_int_equal(at % huge, 0);
		weir_destroy(f);
	}
}

/* Return: true if the mapping at @address has the two-letter flag, "hg" for MADV_HUGEPAGE or "nh"
 * for MADV_NOHUGEPAGE. */
static bool mapping_has(const void *address, const char *flag)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long from, to;
	bool inside = false, has = false;
	char line[512];
	assert_non_null(maps);
	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = (uintptr_t)address >= from && (uintptr_t)address < to;
		else if (inside && strncmp(line, "VmFlags:", 8) == 0)
			has = strstr(line, flag) != NULL;
	}
	fclose(maps);
	return has;
}

static bool can_ask_for_huge_pages(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* qemu and some kernels do not support MADV_HUGEPAGE */
	bool can = madvise(p, 4096, MADV_HUGEPAGE) == 0 && mapping_has(p, " hg");
	munmap(p, 4096);
	return can;
}

static void flags_choose_transparent_huge_pages(void **state)
{
	struct weir_params params = params_for(WEIR_BLOCKED, 4000000);
	struct weir_filter *f = NULL;
	(void)state;
	if (!can_ask_for_huge_pages())
		skip();
	assert_ok(weir_create(&f, &params));
	assert_true(mapping_has(words_of(f), " hg"));
	weir_destroy(f);
	params.flags = WEIR_NO_HUGE_PAGES;
	assert_ok(weir_create(&f, &params));
	assert_true(mapping_has(words_of(f), " nh"));
	weir_destroy(f);
}

static void bits_in_reserved_huge_pages(void **state)
{
	struct weir_params params = params_for(WEIR_BLOCKED, 1000);
	struct weir_filter *f = NULL;
	void *p = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	(void)state;
	params.flags = WEIR_HUGETLB;
	/* most machines have no pool of huge pages; the error names the remedy */
	if (p == MAP_FAILED) {
		assert_refused(weir_create(&f, &params), -ENOMEM, "huge-page pool",
		               "vm.nr_hugepages");
		assert_null(f);
		return;
	}
	munmap(p, 2 << 20);
	assert_ok(weir_create(&f, &params));
	assert_int_equal((uintptr_t)words_of(f) % (2 << 20), 0);
	assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
	weir_destroy(f);
}

static size_t resident_pages(const void *at, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = (bytes + page - 1) / page, resident = 0;
	unsigned char *in = malloc(pages);
	assert_int_equal(mincore((void *)(uintptr_t)at, bytes, in), 0);
	for (size_t i = 0; i < pages; i++)
		resident += in[i] & 1;
	free(in);
	return resident;
}

static void prefault_touches_every_page(void **state)
{
	struct weir_params params = params_for(WEIR_BLOCKED, 4000000);
	struct weir_filter *f = NULL;
	size_t bytes = planned_bytes(&params), page = (size_t)sysconf(_SC_PAGESIZE);
	(void)state;
	params.flags = WEIR_NO_HUGE_PAGES;
	assert_ok(weir_create(&f, &params));
	/* pages are allocated on first use */
	assert_int_equal(resident_pages(words_of(f), bytes), 0);
	weir_destroy(f);
	params.flags |= WEIR_PREFAULT;
	assert_ok(weir_create(&f, &params));
	assert_int_equal(resident_pages(words_of(f), bytes), (bytes + page - 1) / page);
	assert_false(weir_contains(f, "key", 3));
	weir_destroy(f);
}

/* Every function must work beyond bit 2^32. The test touches only the pages of its keys. */
static void more_than_2_to_the_32_bits(void **state)
{
	enum { KEYS = 4000 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_params params = params_for(test_kinds[k], 0);
		struct weir_filter *f = NULL;
		uint64_t keys[KEYS], hashes[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)], wrong = 0;
		params.max_bytes = UINT64_C(700) << 20;
		params.flags = WEIR_NO_HUGE_PAGES;
		assert_ok(weir_create(&f, &params));
		if (!test_takes_inserts(f)) {
			weir_destroy(f);
			continue;
		}
		for (uint64_t i = 0; i < KEYS; i++)
			keys[i] = test_key(i);
		weir_hash_keys(f, weir_keys_u64(keys, KEYS), hashes);
		for (uint64_t i = 0; i < KEYS / 2; i++)
			assert_int_equal(weir_insert(f, &keys[i], 8), WEIR_NEW);
		assert_int_equal(weir_insert_keys(f, weir_keys_u64(keys, KEYS / 2), bitmap),
		                 0);
		assert_ok(weir_fill_keys(f, weir_keys_hashes(hashes, KEYS / 2)));
		assert_int_equal(weir_contains_keys(f, weir_keys_u64(keys, KEYS), bitmap),
		                 KEYS / 2);
		for (uint64_t i = 0; i < KEYS; i++) {
			assert_int_equal(weir_contains(f, &keys[i], 8), i < KEYS / 2);
			wrong += weir_contains_hash(f, hashes[i]) !=
			         (bool)(bitmap[i / 64] >> i % 64 & 1);
		}
		assert_int_equal(wrong, 0);
		/* the last block exists and keeps what was inserted */
		struct weir_inline view;
		int err = weir_inline_init(&view, f);
		if (err != -ENOTSUP) {
			assert_ok(err);
			assert_true(view.nblocks * 512 > UINT64_C(1) << 32);
			assert_int_equal(weir_insert_hash(f, UINT64_MAX), WEIR_NEW);
			uint64_t line = 0;
			for (unsigned w = 0; w < 8; w++)
				line |= view.words[8 * (view.nblocks - 1) + w];
			assert_true(line != 0);
		}
		weir_destroy(f);
	}
}

/* Beyond 2^32 blocks the lookups with vector instructions use other code. Linux allocates a
 * page only when the page is touched, and the test touches only the pages of its keys. */
static void more_than_2_to_the_32_blocks(void **state)
{
	enum { KEYS = 1000 };
	struct weir_params params = params_for(WEIR_BLOCKED, 0);
	struct weir_filter *f = NULL;
	uint64_t keys[2 * KEYS], bitmap[WEIR_BITMAP_WORDS(2 * KEYS)];
	(void)state;
	params.max_bytes = UINT64_C(300) << 30;
	params.flags = WEIR_NO_HUGE_PAGES;
	int err = weir_create(&f, &params);
	if (err == -ENOMEM)
		skip(); /* this machine has no address range of that size */
	assert_ok(err);
	for (uint64_t i = 0; i < 2 * KEYS; i++)
		keys[i] = test_key(i);
	assert_int_equal(weir_insert_keys(f, weir_keys_u64(keys, KEYS), NULL), KEYS);
	assert_int_equal(weir_contains_keys(f, weir_keys_u64(keys, 2 * KEYS), bitmap), KEYS);
	for (uint64_t i = 0; i < 2 * KEYS; i++)
		assert_int_equal(weir_contains(f, &keys[i], 8), bitmap[i / 64] >> i % 64 & 1);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_in_the_callers_memory),
		cmocka_unit_test(two_processes_in_shared_memory),
		cmocka_unit_test(allocated_memory_is_aligned),
		cmocka_unit_test(flags_choose_transparent_huge_pages),
		cmocka_unit_test(bits_in_reserved_huge_pages),
		cmocka_unit_test(prefault_touches_every_page),
		cmocka_unit_test(more_than_2_to_the_32_bits),
		cmocka_unit_test(more_than_2_to_the_32_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
