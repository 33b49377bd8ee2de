/* SPDX-License-Identifier: MIT
 * The parts of bench_cost: the operator's keys, and the filters made from them. */
#ifndef WEIR_BENCH_COST_H
#define WEIR_BENCH_COST_H

#include <string>
#include <vector>
#include <sys/uio.h>
#include <weir/weir.h>
#include "harness.h"

namespace bench {

/* The lines of a file or, without a file, a million generated keys. */
struct KeyFile {
	std::string name; /* file name without folders, fit for a benchmark's name */
	std::string path; /* empty: the keys are generated */
	std::string text;
	std::vector<struct iovec> keys;
	uint64_t bytes = 0; /* bytes of all keys */
};
/* Reads the file once and caches its keys. Throws if the file cannot be read or has no key. */
const KeyFile &keys_of(const std::string &path);
std::string name_of_file(const std::string &path);

/* The ways to fill a filter. */
enum class How { single, batch, insert_hashes, load_hashes };
const char *name_of(How how);
/* Inserts the keys into @f with all threads of the team. */
Elapsed insert_all(Team &team, struct weir_filter *f, const KeyFile &file, How how);

/* cost_image.cc: adds the cases that save, load and map an image. */
void add_images(const std::string &path);

/* Makes an empty filter for the keys, with a rate of 1 %. */
struct weir_filter *empty_filter(const KeyFile &file);
/* Measures the bits per key, the rate, and the number of the file's keys that @f has lost. */
Quality quality_of(const struct weir_filter *f, const KeyFile &file);

} // namespace bench

#endif
