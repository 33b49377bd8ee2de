/* SPDX-License-Identifier: MIT
 * What does my set cost? Measures building, saving, loading and mapping a filter of the operator's
 * own keys. */
#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>
#include <unistd.h>
#include "bench_cost.h"
#include "machine.h"

namespace bench {
namespace {

/* Times creation and inserts together, to include the kernel's time to supply memory. */
void run(benchmark::State &state, const std::string &path, How how, unsigned threads)
{
	const KeyFile &file = keys_of(path);
	Team &team = team_of(threads);
	Quality quality;
	uint64_t bytes = 0;
	Tally tally = rounds(state, [&] {
		Tally t;
		double began = clock_ns(CLOCK_MONOTONIC);
		struct weir_filter *f = empty_filter(file);
		Elapsed e = insert_all(team, f, file, how);
		t.ns = t.wall_ns = clock_ns(CLOCK_MONOTONIC) - began;
		t.waited_ns = e.waited_ns;
		t.keys = static_cast<double>(file.keys.size());
		if (!bytes) {
			quality = quality_of(f, file);
			bytes = static_cast<uint64_t>(quality.bits_per_key * t.keys / 8);
		}
		weir_destroy(f);
		return t;
	});
	report(state, quality, bytes);
	report(state, tally, threads);
	counter(state, "keys", static_cast<double>(file.keys.size()));
	counter(state, "key_bytes", static_cast<double>(file.bytes));
}

void add_all(const Options &options)
{
	const char *words = "/usr/share/dict/american-english-insane";
	std::vector<std::string> files = options.keys;
	if (files.empty())
		files.push_back(access(words, R_OK) == 0 ? words : "");
	std::set<std::string> names;
	for (const std::string &path : files) {
		if (!path.empty() && access(path.c_str(), R_OK))
			throw std::runtime_error(path + ": " + strerror(errno));
		if (!names.insert(name_of_file(path)).second)
			throw std::runtime_error(path + ": another file is called " +
			                         name_of_file(path));
		for (How how : { How::single, How::batch, How::insert_hashes, How::load_hashes })
			for (unsigned threads : thread_counts(options.quick() ? 3 : 64))
				add({ { "what", "build" }, { "file", name_of_file(path) },
				      { "how", name_of(how) }, { "threads", threads } },
				    [=](benchmark::State &state) {
					    run(state, path, how, threads);
				    });
		add_images(path);
	}
}

const char help[] =
	"What does my set cost? A blocked filter at 1 % of the lines of each file (without any:\n"
	"the words of wamerican-insane if they are there, else a million made-up keys).\n"
	"  what:build           from nothing to all keys, on 1, 2, 4 ... CPUs. how: single\n"
	"                       (weir_insert), batch (weir_insert_keys, 1024 a call),\n"
	"                       insert_hashes (all hashes at once, into a filter that others may\n"
	"                       use), load_hashes (one that is private still)\n"
	"  what:save            to $TMPDIR (/var/tmp), with fsync; form:zstd is compressed at\n"
	"                       level 3\n"
	"  what:load, map, map_unverified   and a thousand lookups; cache:cold after the kernel\n"
	"                       was asked to forget the file: in_page_cache is the share of it\n"
	"                       that it kept\n"
	"All times are of the clock. bytes: the filter's, or the image's.\n";

const Question cost = { "cost", help, { 3, 0.1 }, { 5, 0.3 }, { 9, 1.0 },
			   "/form:plain/|/how:load_hashes/", Question::keys, add_all };

} // namespace
} // namespace bench

int main(int argc, char **argv) { return bench::answer(argc, argv, bench::cost); }
