/* SPDX-License-Identifier: MIT
 * Measures saving, loading and mapping the operator's set, with and without the file in the page
 * cache. */
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "bench_cost.h"
#include "folder.h"
#include "sets/weir_filter.h"

namespace bench {
namespace {

/* The set in memory, and its plain and compressed images in a folder that is deleted with this
 * object. */
class Images {
public:
	explicit Images(const KeyFile &keys) : file(keys), filter(empty_filter(keys))
	{
		insert_all(team_of(1), filter, file, How::load_hashes);
		quality = quality_of(filter, file);
		for (bool packed : { false, true })
			save(packed);
	}
	~Images() { weir_destroy(filter); }
	Images(const Images &) = delete;
	Images &operator=(const Images &) = delete;

	std::string path(bool packed) const
	{
		return folder_.file(packed ? "packed.weir" : "plain.weir");
	}
	void save(bool packed) const
	{
		struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
		options.zstd_level = packed ? 3 : 0;
		check(weir_save(filter, weir_location_path(path(packed).c_str()), &options),
		      "weir_save");
	}

	const KeyFile &file;
	struct weir_filter *filter;
	Quality quality;

private:
	Folder folder_;
};

Images &images_of(const std::string &path)
{
	static std::unique_ptr<Images> last;
	if (!last || last->file.path != path) {
		last.reset();
		last = std::make_unique<Images>(keys_of(path));
	}
	return *last;
}

enum class Step { save, load, map, map_unverified };

struct Case {
	std::string path;
	Step step;
	bool packed, cold;
};

class Descriptor {
public:
	explicit Descriptor(const std::string &path) : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC))
	{
		if (fd < 0)
			throw std::runtime_error(path + ": cannot be opened");
	}
	~Descriptor() { close(fd); }
	Descriptor(const Descriptor &) = delete;
	Descriptor &operator=(const Descriptor &) = delete;
	const int fd;
};

/* If @cold is true, asks the kernel to drop the file from the page cache. Otherwise reads the file
 * into the page cache. Return: the share of the file that is in the page cache afterwards. */
double settle(const std::string &path, bool cold)
{
	Descriptor file(path);
	struct stat st;
	if (fstat(file.fd, &st) || st.st_size == 0)
		throw std::runtime_error(path + ": has no size");
	size_t size = static_cast<size_t>(st.st_size);
	size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	if (cold)
		posix_fadvise(file.fd, 0, 0, POSIX_FADV_DONTNEED);
	else
		for (std::vector<char> buffer(1 << 20);
		     ::read(file.fd, buffer.data(), buffer.size()) > 0;)
			;
	std::vector<unsigned char> there((size + page - 1) / page);
	void *map = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd, 0);
	if (map == MAP_FAILED || mincore(map, size, there.data()))
		throw std::runtime_error(path + ": cannot be looked at");
	munmap(map, size);
	double in_cache = 0;
	for (unsigned char in : there)
		in_cache += in & 1;
	return in_cache / static_cast<double>(there.size());
}

/* Loads or maps the image. run() times this together with a thousand lookups, since the user waits
 * for the first answers. */
struct weir_filter *open_image(const Case &c, const Images &images)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	std::string path = images.path(c.packed);
	options.no_verify = c.step == Step::map_unverified;
	if (c.step == Step::load)
		check(weir_load(&f, weir_location_path(path.c_str()), &options), "weir_load");
	else
		check(weir_load(&f, weir_location_map(path.c_str(), WEIR_MAP_READ), &options),
		      "weir_load, mapped");
	return f;
}

uint64_t ask(const struct weir_filter *f, const KeyFile &file)
{
	size_t n = file.keys.size(), asked = std::min<size_t>(n, 1000);
	uint64_t lost = 0;
	for (size_t i = 0; i < asked; i++) {
		const struct iovec &key = file.keys[i * (n / asked)];
		lost += !weir_contains(f, key.iov_base, key.iov_len);
	}
	return lost;
}

void run(benchmark::State &state, const Case &c)
{
	Images &images = images_of(c.path);
	double cached = 0;
	Tally all = rounds(state, [&] {
		Tally t;
		struct weir_filter *f = nullptr;
		if (c.step != Step::save)
			cached += settle(images.path(c.packed), c.cold);
		double began = clock_ns(CLOCK_MONOTONIC);
		if (c.step == Step::save)
			images.save(c.packed);
		else
			t.lost = ask(f = open_image(c, images), images.file);
		t.ns = t.wall_ns = clock_ns(CLOCK_MONOTONIC) - began;
		t.keys = 1;
		weir_destroy(f);
		return t;
	});
	struct stat st;
	if (stat(images.path(c.packed).c_str(), &st))
		throw std::runtime_error(images.path(c.packed) + ": is gone");
	report(state, images.quality, static_cast<uint64_t>(st.st_size));
	lost_keys(state, all.lost);
	counter(state, "keys", static_cast<double>(images.file.keys.size()));
	if (c.step != Step::save)
		counter(state, "in_page_cache", cached / all.keys);
}

const char *name_of(Step step)
{
	return step == Step::save ? "save" :
	       step == Step::load ? "load" :
	       step == Step::map  ? "map" :
	                            "map_unverified";
}

void add_case(const Case &c)
{
	auto body = [c](benchmark::State &state) { run(state, c); };
	const char *form = c.packed ? "zstd" : "plain";
	if (c.step == Step::save)
		add({ { "what", "save" }, { "file", name_of_file(c.path) }, { "form", form } },
		    body);
	else
		add({ { "what", name_of(c.step) }, { "file", name_of_file(c.path) },
		      { "form", form }, { "cache", c.cold ? "cold" : "warm" } }, body);
}

} // namespace

void add_images(const std::string &path)
{
	for (bool packed : { false, true })
		add_case({ path, Step::save, packed, false });
	for (bool cold : { true, false }) {
		for (bool packed : { false, true })
			add_case({ path, Step::load, packed, cold });
		add_case({ path, Step::map, false, cold });
		add_case({ path, Step::map_unverified, false, cold });
	}
}

} // namespace bench
