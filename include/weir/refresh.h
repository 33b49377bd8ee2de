/* SPDX-License-Identifier: MIT
 * A handle's filter from an image file that somebody replaces: taken over once, or followed by a
 * thread of the library's.
 *
 * The image's maker reads the record of what the set should hold at some moment; the file is taken
 * over later. A key inserted through the handle before or during weir_handle_refresh() is kept if
 * the image has it, or if carry is set; one whose insert begins after weir_handle_refresh() has
 * returned is kept in any case. A server that inserts while it follows a file sets carry, or has a
 * file maker that reads the same record as it writes.
 */
#ifndef WEIR_REFRESH_H
#define WEIR_REFRESH_H

#include <weir/reload.h>

WEIR_BEGIN_DECLS

struct weir_refresh_options {
	size_t struct_size;  /* sizeof(struct weir_refresh_options) */
	/* refuse if all filters together would have more bytes of bits; 0: no limit */
	uint64_t max_bytes;
	/* or the current filter's bits into the new one: nothing inserted is lost, and nothing
	 * ever leaves the set; kind, size and layout must be equal */
	bool carry;
	bool keep_previous;  /* as in struct weir_reload_options */
	bool defer_free;
	struct weir_gate gate;
};
#define WEIR_REFRESH_OPTIONS_INIT \
	{ \
		sizeof(struct weir_refresh_options), 0, false, false, false, WEIR_GATE_INIT \
	}

/**
 * If the file is another than at the last call (or this is the first): check it, map it, ask the
 * gate, swap. A plain image is mapped (weir_map(): for files that are replaced by renaming, as
 * weir_save() does, never written in place), privately if the current filter takes inserts, else
 * read-only; a compressed one is read into memory.
 * @path: of an image with the seed of the current filter (weir build --like, weir_params.seed).
 * Return: 1 swapped; 0 the file has not changed, also when it was refused before; or a negative
 *   errno: current goes on serving, and the same file is not looked at again: its refusal is told
 *   once.
 * Errors: remembered are verdicts on the file: -EBADMSG, -ENOTSUP and -EINVAL as weir_map() and
 *   weir_load(), -EISDIR, -EBUSY marked live, -EINVAL another seed, or carry between different
 *   layouts, -EROFS carry into a mapping that is read-only as the current one is, -ECANCELED the
 *   gate. All else is tried again: -EBUSY a reload or another refresh runs, -EDEADLK inside a
 *   section, -EFBIG (what is held may become less), -ENOMEM, -EMFILE, and what stat, open and read
 *   answer (-ENOENT, -EACCES, -EIO ...).
 * Threads: any one.  Progress: blocking (the file, a grace period).  Cost: reads the whole file
 *   once, to check it.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_refresh(struct weir_handle *h, const char *path);
/** As weir_handle_refresh(). @options: NULL for the defaults. */
WEIR_API WEIR_MUST_CHECK int weir_handle_refresh_with(struct weir_handle *h, const char *path,
                                                      const struct weir_refresh_options *options);

WEIR_END_DECLS

#endif
