/* SPDX-License-Identifier: MIT
 * Provides memory for a bit array: the caller's memory, memory of the heap, or whole pages that are
 * aligned for huge pages. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weir/params.h>
#include "ground/error.h"
#include "ground/memory.h"

#define HUGE_PAGE (UINT64_C(2) << 20)
/* Request 2 MiB pages by size on machines that have them. If the default size is larger, such as 1
 * GiB, munmap() would refuse a length that is only a multiple of 2 MiB. */
#if defined(__x86_64__) || defined(__aarch64__)
#define HUGETLB (MAP_HUGETLB | 21 << MAP_HUGE_SHIFT)
#else
#define HUGETLB MAP_HUGETLB
#endif

int weir__memory_given(const void *buffer, size_t buffer_bytes)
{
	if (!buffer && buffer_bytes)
		return weir__fail(-EINVAL, "memory is NULL, memory_bytes %zu: both or neither",
		                  buffer_bytes);
	return 0;
}

static int check_buffer(uint64_t bytes, const void *buffer, size_t buffer_bytes)
{
	if ((uintptr_t)buffer % 64)
		return weir__fail(-EINVAL,
		                  "memory %p: the bits need an address that is a multiple of 64",
		                  buffer);
	if (buffer_bytes < bytes)
		return weir__fail(-EINVAL, "memory_bytes %zu: the filter needs %llu", buffer_bytes,
		                  (unsigned long long)bytes);
	return 0;
}

static int no_memory(uint64_t bytes, const char *from)
{
	return weir__fail(-ENOMEM, "no memory for %llu bytes of bits from %s",
	                  (unsigned long long)bytes, from);
}

static void heap_release(const struct weir_memory *memory)
{
	free(memory->base);
}

static void pages_release(const struct weir_memory *memory)
{
	munmap(memory->base, memory->base_bytes);
}

static int heap_alloc(struct weir_memory *out, uint64_t bytes)
{
	void *base = NULL;
	if (posix_memalign(&base, 64, bytes))
		return no_memory(bytes, "the heap");
	memset(base, 0, bytes);
	*out = (struct weir_memory){
		.bits = base, .base = base, .base_bytes = bytes, .release = heap_release
	};
	return 0;
}

/* Map one huge page more than needed, then unmap the bytes before and after the aligned range. */
static void *map_aligned(size_t bytes, size_t *mapped)
{
	size_t pages = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, slack = pages + HUGE_PAGE;
	char *p = mmap(NULL, slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	char *aligned = (char *)(((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	if (aligned > p)
		munmap(p, (size_t)(aligned - p));
	if (aligned + pages < p + slack)
		munmap(aligned + pages, (size_t)(p + slack - aligned - pages));
	*mapped = pages;
	return aligned;
}

static int hugetlb_alloc(struct weir_memory *out, uint64_t bytes)
{
	size_t pages = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *p = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | HUGETLB,
	               -1, 0);
	if (p == MAP_FAILED)
		return no_memory(bytes, "the huge-page pool (vm.nr_hugepages)");
	*out = (struct weir_memory){
		.bits = p, .base = p, .base_bytes = pages, .release = pages_release
	};
	return 0;
}

static int pages_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags)
{
	size_t mapped;
	void *p = map_aligned(bytes, &mapped);
	if (!p)
		return no_memory(bytes, "the system");
	/* This is only advice: if the kernel refuses it, small pages work as well. */
	(void)madvise(p, mapped, flags & WEIR_NO_HUGE_PAGES ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	*out = (struct weir_memory){
		.bits = p, .base = p, .base_bytes = mapped, .release = pages_release
	};
	return 0;
}

/* Headers older than Linux 5.14 lack this constant. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

void weir__memory_touch(const struct weir_memory *memory, uint64_t at, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = at + bytes;
	if (memory->origin) {
		/* Before Linux 5.14 the kernel refuses this advice, so lookups take the page
		 * faults. Reading the pages directly instead would kill the process if the file was
		 * truncated. */
		(void)madvise((char *)memory->bits + at, bytes, MADV_POPULATE_READ);
		return;
	}
	for (; at < end; at += page) {
		volatile char *byte = (volatile char *)memory->bits + at;
		*byte = *byte;
	}
}

int weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *buffer,
                       size_t buffer_bytes)
{
	if (buffer) {
		int err = check_buffer(bytes, buffer, buffer_bytes);
		if (err)
			return err;
		memset(buffer, 0, bytes);
		*out = (struct weir_memory){ .bits = buffer };
		return 0;
	}
	if (bytes > SIZE_MAX / 2)
		return no_memory(bytes, "an address space this small");
	int err = flags & WEIR_HUGETLB ? hugetlb_alloc(out, bytes)
	        : bytes < HUGE_PAGE    ? heap_alloc(out, bytes)
	                               : pages_alloc(out, bytes, flags);
	if (!err && flags & WEIR_PREFAULT)
		weir__memory_touch(out, 0, bytes);
	return err;
}

void weir__memory_free(const struct weir_memory *memory)
{
	if (memory->release)
		memory->release(memory);
}
