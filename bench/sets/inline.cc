/* SPDX-License-Identifier: MIT
 * weir with <weir/inline.h>. This file is compiled with -march=native, as for a server that is
 * built for its own machines. The header then uses the widest instruction set that the compiler
 * allows. The file is compiled once more with WEIR_INLINE_WORDS_PER_KEY, for one layout. */
#include "weir_filter.h"
#include <weir/inline.h>
#include "set.h"

namespace bench {
namespace {

class Inlined final : public SingleKeySet<Inlined>, WeirFilter {
public:
	Inlined(size_t n, double rate) : WeirFilter(n, rate, WEIR_BLOCKED)
	{
		check(weir_inline_init_mut(&mut, filter), "weir_inline_init_mut");
	}
	uint64_t bytes() const override { return region->bytes(); }
	unsigned words_per_key() const override { return layout_words(); }
	void clear() override { region->clear(); }
	bool find(const void *key, size_t len) const
	{
		return weir_inline_contains(&mut.view, key, len);
	}
	void add(const void *key, size_t len) { weir_inline_insert(&mut, key, len); }

private:
	struct weir_inline_mut mut;
};

} // namespace

#ifdef WEIR_INLINE_WORDS_PER_KEY
std::unique_ptr<Set> weir_inlined_fixed(size_t n, double rate)
#else
std::unique_ptr<Set> weir_inlined(size_t n, double rate)
#endif
{
	return std::make_unique<Inlined>(n, rate);
}

} // namespace bench
