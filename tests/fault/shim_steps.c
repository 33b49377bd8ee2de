/* SPDX-License-Identifier: MIT
 * Steps of the library between its system calls, where a test can look or kill the process. */
#include <stdint.h>
#include "shim.h"

static void step(const char *what)
{
	(void)shim_strikes(&(struct shim_call){ .what = what, .fd = -1 });
}

/* The library writes a word of the table. */
void __real_weir__image_put64(unsigned char *bytes, uint64_t value);
void __wrap_weir__image_put64(unsigned char *bytes, uint64_t value);
void __wrap_weir__image_put64(unsigned char *bytes, uint64_t value)
{
	step("put64");
	__real_weir__image_put64(bytes, value);
}

/* The library reads the bits of a shard to seal it. */
void __real_weir__shard_copy(const void *f, uint32_t shard, uint64_t *out);
void __wrap_weir__shard_copy(const void *f, uint32_t shard, uint64_t *out);
void __wrap_weir__shard_copy(const void *f, uint32_t shard, uint64_t *out)
{
	step("shard_copy");
	__real_weir__shard_copy(f, shard, out);
}

/* The library verifies a shard. */
int __real_weir__preface_check(const void *p, uint32_t shard, const void *bits, const char *name);
int __wrap_weir__preface_check(const void *p, uint32_t shard, const void *bits, const char *name);
int __wrap_weir__preface_check(const void *p, uint32_t shard, const void *bits, const char *name)
{
	step("preface_check");
	return __real_weir__preface_check(p, shard, bits, name);
}
