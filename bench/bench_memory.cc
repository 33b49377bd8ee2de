/* SPDX-License-Identifier: MIT
 * What do pages, the batch size and the length of a key change? Measures each of them along with
 * the machine's limits, in the same run. */
#include "bench_memory.h"

namespace bench {
namespace {

void add_all(const Options &options)
{
	add_limits(options);
	add_owners(options);
	add_pages(options);
	add_hashes(options);
}

const char help[] =
	"What do pages, batches and the length of keys do? One thread, a blocked filter at 1 %:\n"
	"  what:pages  huge against small (4 KiB) pages; huge_share is what the kernel really\n"
	"              granted\n"
	"  what:batch  1 to 256 keys a call. How far ahead a batch fetches is compiled into weir,\n"
	"              so the size of the batch is what there is to choose.\n"
	"  what:hash   keys of 4 to 1024 bytes: XXH3 alone and inlined, weir's hash, a whole\n"
	"              lookup, one by one and in batches\n"
	"  what:pair, what:owner  what a line costs that another core wrote last: its way from\n"
	"              one to another (ping), and what it adds to a locked or, to 19 lookups\n"
	"              for an insert, to an insert, to one of a batch (or, mixed, insert,\n"
	"              batch); of each pair of CPUs, then of all at once in filters of each\n"
	"              size: own_ns is a key where each thread keeps to lines of its own,\n"
	"              together_ns where all work all over\n"
	"  what:lines, what:fetch-or  the machine's limits, on 1, 2, 4 ... CPUs: random lines\n"
	"              read, with the prefetch distance it likes best; locked or's of a word of\n"
	"              each thread's own, of the same word for all, and of random words\n"
	"limit_per_second beside a filter is what one thread gets of the very same memory:\n"
	"random lines for lookups, random fetch-ors for inserts, of which one key makes two\n"
	"here.\n";

const Question memory = { "memory", help, { 3, 0.02 }, { 5, 0.05 }, { 9, 0.3 },
			   "/what:(pages|batch)/.*/op:hit/", Question::nothing, add_all };

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::answer(argc, argv, bench::memory); }
