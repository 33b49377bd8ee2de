/* SPDX-License-Identifier: MIT
 * Any bytes as a manifest: the manifest is refused with an error text, or read, and then written
 * unchanged. So a signed text has only one meaning. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>
#include "../../src/replica/format/manifest.h"
#include "fuzz_image.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, size, max_size);
}

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char written[WEIR_MANIFEST_TEXT];
	struct weir_manifest m;
	int err = weir__manifest_read(&m, (const char *)data, size);
	must(err == 0 || ((err == -EBADMSG || err == -ENOTSUP) && weir_error_detail()[0]));
	if (err)
		return 0;
	must(weir__manifest_write(written, &m) == size && memcmp(written, data, size) == 0);
	must(weir__set_name_is(m.set, strlen(m.set)) && m.has.n <= WEIR_HAS);
	must(m.chunks <= WEIR_CHUNKS && (m.chunks - 1) * WEIR_CHUNK < m.bytes);
	must(weir__replicable(m.kind) != WEIR_REPLICABLE_NOT);
	return 0;
}
