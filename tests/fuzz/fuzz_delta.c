/* SPDX-License-Identifier: MIT
 * Any bytes as a delta from a small image: the delta is refused with an error text, or applied. An
 * applied delta gives a filter that can be used; anything else aborts. The mutator corrects the
 * head's checksum, so that inputs reach the code behind it. Run by libFuzzer (run-fuzz.sh), or over
 * the corpus by replay.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weir/weir.h>
#include "../image_bytes.h"
#include "fuzz_image.h"

enum { KEYS = 500, MOST_BITS = 1 << 20, SUM_AT = 120 };

static char old_image[64];

/* Make the image that the corpus's deltas start from, with the same bits on every machine. */
static void make_old(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	const int fd = memfd_create("old", 0);
	p.capacity = KEYS;
	p.fp_rate = 0.01;
	p.seed = 42;
	MUST(fd >= 0 && weir_create(&f, &p) == 0);
	for (uint64_t i = 0; i < KEYS; i++)
		MUST(weir_insert_u64(f, i) >= 0);
	MUST(weir_save(f, weir_location_fd(fd), NULL) > 0);
	weir_destroy(f);
	snprintf(old_image, sizeof old_image, "/proc/self/fd/%d", fd);
}

static int is_verdict(int err)
{
	return err == -EBADMSG || err == -ENOTSUP || err == -EFBIG || err == -EINVAL ||
	       err == -EKEYREJECTED;
}

static void use(struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	MUST(weir_measure(f, WEIR_EXACT, &s) == 0 && s.bytes >= 32 && s.bytes <= 2 * MOST_BITS);
	for (uint64_t i = 0; i < 40; i++) {
		const int answer = weir_insert_u64(f, i);
		MUST(answer < 0 || weir_contains_u64(f, i));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	char path[64];
	if (!old_image[0])
		make_old();
	const int fd = memfd_create("delta", 0);
	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const char *deltas[] = { path };
	const int head = weir_delta_inspect(weir_location_path(path), &info);
	MUST(head ? is_verdict(head) : info.file_bytes == size && info.changed <= info.pieces);
	o.max_bytes = MOST_BITS;
	const int err = weir_load(&f, weir_location_chain(old_image, deltas, 1), &o);
	MUST(err ? !f && is_verdict(err) : f && !head);
	if (err)
		MUST(strncmp(weir_error_detail(), path, strlen(path)) == 0);
	else
		use(f);
	weir_destroy(f);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 8 && size > SUM_AT + 8) {
		if (seed % 3)
			image_put64(data + 72, size); /* the delta's length */
		image_put64(data + SUM_AT, XXH3_64bits(data, SUM_AT));
	}
	return size;
}
