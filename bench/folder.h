/* SPDX-License-Identifier: MIT
 * A private folder in $TMPDIR or /var/tmp. The destructor deletes the folder with its files. */
#ifndef WEIR_BENCH_FOLDER_H
#define WEIR_BENCH_FOLDER_H

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace bench {

class Folder {
public:
	Folder()
	{
		const char *base = getenv("TMPDIR");
		path_ = std::string(base && *base ? base : "/var/tmp") + "/weir-bench-XXXXXX";
		if (!mkdtemp(path_.data()))
			throw std::runtime_error(path_ + ": cannot be made");
	}
	~Folder()
	{
		std::error_code ignored;
		std::filesystem::remove_all(path_, ignored);
	}
	Folder(const Folder &) = delete;
	Folder &operator=(const Folder &) = delete;

	std::string file(const char *name) const { return path_ + "/" + name; }

private:
	std::string path_;
};

} // namespace bench

#endif
