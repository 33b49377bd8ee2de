/* SPDX-License-Identifier: MIT
 * Keys from a file with one key per line, and filters of these keys. */
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include "bench_cost.h"
#include "keys.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

constexpr size_t made_up = 1000000;

void split(KeyFile &file)
{
	for (size_t at = 0, end; at < file.text.size(); at = end + 1) {
		end = std::min(file.text.find('\n', at), file.text.size());
		if (end > at)
			file.keys.push_back({ &file.text[at], end - at });
		file.bytes += end - at;
	}
	if (file.keys.empty())
		throw std::runtime_error(file.path + ": there is no key in it");
}

void read(KeyFile &file)
{
	std::ifstream in(file.path, std::ios::binary);
	std::ostringstream all;
	if (!in || !(all << in.rdbuf()))
		throw std::runtime_error(file.path + ": cannot be read, or is empty");
	file.text = all.str();
	split(file);
}

/* Generates lines of 16 hexadecimal digits. */
void make_up(KeyFile &file)
{
	char line[24];
	for (size_t i = 0; i < made_up; i++) {
		int n = snprintf(line, sizeof(line), "%016llx\n",
		                 static_cast<unsigned long long>(scramble(i)));
		file.text.append(line, static_cast<size_t>(n));
	}
	split(file);
}

} // namespace

std::string name_of_file(const std::string &path)
{
	std::string name = path.empty() ? "made-up" : path.substr(path.rfind('/') + 1);
	for (char &c : name)
		if (!isalnum(static_cast<unsigned char>(c)) && !strchr("._-", c))
			c = '_';
	return name;
}

const KeyFile &keys_of(const std::string &path)
{
	static std::map<std::string, std::unique_ptr<KeyFile>> files;
	std::unique_ptr<KeyFile> &file = files[path];
	if (!file) {
		std::unique_ptr<KeyFile> fresh = std::make_unique<KeyFile>();
		fresh->name = name_of_file(path);
		fresh->path = path;
		path.empty() ? make_up(*fresh) : read(*fresh);
		file = std::move(fresh);
	}
	return *file;
}

struct weir_filter *empty_filter(const KeyFile &file)
{
	struct weir_params params = WeirFilter::params_of(file.keys.size(), 0.01, WEIR_BLOCKED);
	struct weir_filter *f;
	check(weir_create(&f, &params), "weir_create");
	return f;
}

const char *name_of(How how)
{
	switch (how) {
	case How::single: return "single";
	case How::batch: return "batch";
	case How::insert_hashes: return "insert_hashes";
	case How::load_hashes: return "load_hashes";
	}
	return "";
}

namespace {

void insert_part(struct weir_filter *f, const struct iovec *keys, size_t n, How how)
{
	constexpr size_t at_once = size_t(1) << 22;
	if (how == How::single) {
		for (size_t i = 0; i < n; i++)
			weir_insert(f, keys[i].iov_base, keys[i].iov_len);
		return;
	}
	if (how == How::batch) {
		for (size_t i = 0; i < n; i += batch_keys)
			weir_insert_keys(f, weir_keys_iov(keys + i, std::min(n - i, batch_keys)),
			                 nullptr);
		return;
	}
	std::vector<uint64_t> hashes(std::min(n, at_once));
	for (size_t i = 0, m; i < n; i += m) {
		m = std::min(n - i, at_once);
		weir_hash_keys(f, weir_keys_iov(keys + i, m), hashes.data());
		if (how == How::load_hashes)
			check(weir_fill_keys(f, weir_keys_hashes(hashes.data(), m)),
			      "weir_fill_keys");
		else
			weir_insert_keys(f, weir_keys_hashes(hashes.data(), m), nullptr);
	}
}

} // namespace

Elapsed insert_all(Team &team, struct weir_filter *f, const KeyFile &file, How how)
{
	size_t n = file.keys.size();
	unsigned threads = team.size();
	return team.run([&](unsigned t) {
		size_t from = n * t / threads, to = n * (t + 1) / threads;
		insert_part(f, &file.keys[0] + from, to - from, how);
	});
}

Quality quality_of(const struct weir_filter *f, const KeyFile &file)
{
	static const Strings absent_keys(absent, 1000000); /* 16 to 64 random bytes */
	struct weir_stats stats = WEIR_STATS_INIT;
	check(weir_measure(f, WEIR_SAMPLED, &stats), "weir_measure");
	size_t most = std::max(file.keys.size(), absent_keys.size());
	std::vector<uint64_t> bitmap(WEIR_BITMAP_WORDS(most));
	Quality q;
	q.bits_per_key = static_cast<double>(stats.bytes) * 8 /
	                 static_cast<double>(file.keys.size());
	q.fp_asked = 0.01;
	q.lost = file.keys.size() -
	         weir_contains_keys(f, weir_keys_iov(file.keys.data(), file.keys.size()),
	                            bitmap.data());
	double wrong = static_cast<double>(
		weir_contains_keys(f, weir_keys_iov(absent_keys.data(), absent_keys.size()),
	                           bitmap.data()));
	q.fp_measured = wrong / static_cast<double>(absent_keys.size());
	q.fp_interval = wrong > 0 ? 2.576 * std::sqrt((1 - q.fp_measured) / wrong) : 1;
	return q;
}

} // namespace bench
