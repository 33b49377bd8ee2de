/* SPDX-License-Identifier: MIT
 * Any strings as an entry of the log: the entry is refused with an error text, or read, and written
 * unchanged. The input has an id of 16 bytes, then strings, each after its length in two bytes. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>
#include "../../src/replica/format/entry.h"
#include "fuzz_image.h"

enum { STRINGS = 8 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, size, max_size);
}

static volatile uint64_t sum; /* sum of hashes, so that the hashes are read */

static void must(int holds)
{
	if (!holds)
		abort();
}

static void is_written_as_it_was(const struct weir_entry *e, const struct iovec *strings)
{
	static unsigned char text[WEIR_ENTRY_BYTES];
	char hex[WEIR_HEX_TEXT];
	must(memcmp(weir__hex_write(hex, e->tag), strings[1].iov_base, 16) == 0);
	must(memcmp(weir__hex_write(hex, e->before), strings[3].iov_base, 16) == 0);
	if (e->kind == WEIR_ENTRY_EPOCH) /* only scripts write entries of this kind */
		return;
	size_t n = weir__entry_write(text, e);
	must(n == strings[5].iov_len && memcmp(text, strings[5].iov_base, n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_log_id id;
	struct iovec strings[STRINGS];
	struct weir_entry e;
	size_t n = 0;
	if (size < sizeof id)
		return 0;
	memcpy(&id, data, sizeof id);
	for (size_t at = sizeof id; n < STRINGS && size - at >= 2; n++) {
		size_t len = data[at] | (size_t)data[at + 1] << 8;
		at += 2;
		len = len < size - at ? len : size - at;
		strings[n] = (struct iovec){ (void *)(uintptr_t)(data + at), len };
		at += len;
	}
	int err = weir__entry_read(&e, id, strings, n);
	must(err == 0 || ((err == -EBADMSG || err == -ENOTSUP) && weir_error_detail()[0]));
	if (err)
		return 0;
	for (size_t i = 0; e.kind == WEIR_ENTRY_BATCH && i < e.n; i++)
		sum += weir__entry_hash(&e, i);
	is_written_as_it_was(&e, strings);
	return 0;
}
