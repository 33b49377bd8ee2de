/* SPDX-License-Identifier: MIT
 * The parts of bench_cost: the operator's keys, and what is done with them. */
#ifndef WEIR_BENCH_COST_H
#define WEIR_BENCH_COST_H

#include <string>
#include <vector>
#include <sys/uio.h>
#include <weir/weir.h>
#include "harness.h"

namespace bench {

/* The lines of a file, or a million made-up keys without a file. */
struct KeyFile {
	std::string name; /* without its folders, fit for a benchmark's name */
	std::string path; /* empty: made up */
	std::string text;
	std::vector<struct iovec> keys;
	uint64_t bytes = 0; /* of keys */
};
/* Reads the file once and keeps it. Throws if it cannot be read or has no key. */
const KeyFile &keys_of(const std::string &path);
std::string name_of_file(const std::string &path);

/* How a filter is filled. */
enum class How { single, batch, insert_hashes, load_hashes };
const char *name_of(How how);
/* Inserts the keys into @f with all threads of the team. */
Elapsed insert_all(Team &team, struct weir_filter *f, const KeyFile &file, How how);

/* cost_image.cc: save, load, map. */
void add_images(const std::string &path);

/* An empty filter for the keys, at 1 %. */
struct weir_filter *empty_filter(const KeyFile &file);
/* Measures bits a key, the rate, and how many keys of the file @f has lost. */
Quality quality_of(const struct weir_filter *f, const KeyFile &file);

} // namespace bench

#endif
