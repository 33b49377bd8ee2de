/* SPDX-License-Identifier: MIT
 * A caller of <weir/inline.h>. The build compiles it once for each set of flags, as C and as C++
 * (inline_probe.cc), for all layouts or for one. PROBE names the set of flags. */
#include <weir/inline.h>
#include "inline_probe.h"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

#ifdef WEIR_INLINE_WORDS_PER_KEY
#define ONLY WEIR_INLINE_WORDS_PER_KEY, WEIR_INLINE_BITS_PER_WORD
#else
#define ONLY 0, 0
#endif

static int init(struct weir_inline *out, const struct weir_filter *f)
{
	return weir_inline_init(out, f);
}

static int init_mut(struct weir_inline_mut *out, struct weir_filter *f)
{
	return weir_inline_init_mut(out, f);
}

static uint64_t hash(const struct weir_inline *v, const void *key, size_t len)
{
	return weir_inline_hash(v, key, len);
}

static bool contains(const struct weir_inline *v, const void *key, size_t len)
{
	return weir_inline_contains(v, key, len);
}

static bool contains_hash(const struct weir_inline *v, uint64_t h)
{
	return weir_inline_contains_hash(v, h);
}

static bool contains_u64(const struct weir_inline *v, uint64_t key)
{
	return weir_inline_contains_u64(v, key);
}

static int insert(const struct weir_inline_mut *v, const void *key, size_t len)
{
	return weir_inline_insert(v, key, len);
}

static int insert_hash(const struct weir_inline_mut *v, uint64_t h)
{
	return weir_inline_insert_hash(v, h);
}

static int insert_u64(const struct weir_inline_mut *v, uint64_t key)
{
	return weir_inline_insert_u64(v, key);
}

static bool has_inlined(uint32_t layout)
{
#ifdef WEIR__TEST_LANES
	static const uint64_t block[8] __attribute__((aligned(64))) = { 0 };
	return weir__test_lanes(layout, block, 1) >= 0;
#else
#define IS(z, g) || layout == WEIR__LAYOUT(z, g)
	return false WEIR__INLINED(IS);
#undef IS
#endif
}

#ifdef __cplusplus
extern "C" {
#endif
extern const struct inline_probe PROBE;
const struct inline_probe PROBE = {
	STRING(PROBE), ONLY,         init,   init_mut,    hash,       contains,
	contains_hash, contains_u64, insert, insert_hash, insert_u64, has_inlined,
};
#ifdef __cplusplus
}
#endif
