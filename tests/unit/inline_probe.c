/* SPDX-License-Identifier: MIT
 * A caller of <weir/inline.h>, compiled once for each set of flags, as C and as C++
 * (inline_probe.cc). PROBE names the set. */
#include <weir/inline.h>
#include "inline_probe.h"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

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

static int insert(const struct weir_inline_mut *v, const void *key, size_t len)
{
	return weir_inline_insert(v, key, len);
}

static int insert_hash(const struct weir_inline_mut *v, uint64_t h)
{
	return weir_inline_insert_hash(v, h);
}

#ifdef __cplusplus
extern "C" {
#endif
extern const struct inline_probe PROBE;
const struct inline_probe PROBE = {
	STRING(PROBE), hash, contains, contains_hash, insert, insert_hash,
};
#ifdef __cplusplus
}
#endif
