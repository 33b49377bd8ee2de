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

/* The lines of a file, or as many made-up keys where there is none. */
struct KeyFile {
	std::string name; /* without its folders, fit for a benchmark's name */
	std::string path; /* empty: made up */
	std::string text;
	std::vector<struct iovec> keys;
	uint64_t bytes = 0; /* of keys */
};
/* Read once, then kept. Throws if the file cannot be read or is empty. */
const KeyFile &keys_of(const std::string &path);
std::string name_of_file(const std::string &path);

/* How a filter is filled. */
enum class How { single, batch, insert_hashes, load_hashes };
const char *name_of(How how);
/* Inserts the keys into @f, from as many threads as the team has. */
Elapsed insert_all(Team &team, struct weir_filter *f, const KeyFile &file, How how);

/* cost_image.cc: save, load, map. */
void add_images(const std::string &path);

/* An empty filter for the keys, at 1 %. */
struct weir_filter *empty_filter(const KeyFile &file);
/* Its bits a key, its measured rate, and whether it has all keys. */
Quality quality_of(const struct weir_filter *f, const KeyFile &file);

} // namespace bench

#endif
