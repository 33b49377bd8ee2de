/* SPDX-License-Identifier: MIT
 * Writing a delta: see delta.h. The map is known when all pieces are written, so the head and the
 * map are written last. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/delta.h"
#include "image/plain.h"
#include "image/save.h"
#include "image/zstd.h"

struct writing {
	const struct weir_plain *old, *new;
	const struct weir_delta_options *options;
	struct weir_delta_head head;
	unsigned char *map;
	uint64_t *piece;           /* of the exclusive or */
	struct weir_packer packer;
};

/* Return: whether the two differ there. */
static bool differs(const struct writing *w, uint64_t i, uint64_t n)
{
	const uint64_t at = i * WEIR_DELTA_PIECE;
	const uint64_t before = weir__delta_piece(w->old->bytes, i);
	unsigned char *piece = (unsigned char *)w->piece;
	uint64_t any = 0;
	memcpy(piece, weir__plain_bytes(w->new) + at, n);
	weir__delta_xor(piece, weir__plain_bytes(w->old) + at, n < before ? n : before);
	for (uint64_t word = 0; word < n / 8; word++) /* images are lines of 64 bytes */
		any |= w->piece[word];
	return any != 0;
}

static int write_piece(struct writing *w, uint64_t i, int fd, const char *path)
{
	const uint64_t n = weir__delta_piece(w->new->bytes, i);
	uint64_t packed = 0;
	if (!differs(w, i, n))
		return 0;
	int err = weir__pack(&w->packer, w->piece, n, &packed);
	if (!err)
		err = weir__write(fd, path, w->packer.buffer, packed, -1);
	w->map[i / 8] |= (unsigned char)(1u << i % 8);
	w->head.changed++;
	w->head.length += packed;
	if (!err && w->options->max_delta && w->head.length > w->options->max_delta)
		err = weir__fail(-EFBIG, "%s: the delta has more than max_delta bytes, %llu", path,
		                 (unsigned long long)w->options->max_delta);
	return err;
}

/* From the file's first byte on; perhaps a second time. */
static int write_delta(void *what, int fd, const char *path,
                       const struct weir_save_options *options)
{
	struct writing *w = what;
	unsigned char head[WEIR_DELTA_HEAD];
	const uint64_t map = weir__delta_map(&w->head), pieces = weir__delta_pieces(&w->head);
	int err = 0;
	(void)options;
	memset(w->map, 0, map);
	w->head.changed = 0;
	w->head.length = WEIR_DELTA_HEAD + map;
	if (lseek(fd, (off_t)w->head.length, SEEK_SET) < 0)
		err = weir__fail(-errno, "%s: cannot go to byte %llu: %s", path,
		                 (unsigned long long)w->head.length, weir_strerror(errno));
	for (uint64_t i = 0; !err && i < pieces; i++) {
		err = write_piece(w, i, fd, path);
		if (!err)
			err = weir__progress(w->options->progress, w->options->progress_arg,
			                     i * WEIR_DELTA_PIECE +
			                     weir__delta_piece(w->new->bytes, i), w->new->bytes,
			                     "bytes");
	}
	if (!err)
		err = weir__write(fd, path, w->map, map, WEIR_DELTA_HEAD);
	weir__delta_put(head, &w->head);
	return err ? err : weir__write(fd, path, head, sizeof head, 0);
}

static struct weir_delta_end end_of(const struct weir_plain *plain)
{
	return (struct weir_delta_end){ .bytes = plain->bytes,
		                        .commit = plain->commit,
		                        .generation = plain->generation };
}

static int save(const char *path, const struct weir_plain *old, const struct weir_plain *new,
                const struct weir_delta_options *options)
{
	struct weir_save_options file = WEIR_SAVE_OPTIONS_INIT;
	struct writing w = { .old = old, .new = new, .options = options,
		             .head = { .old = end_of(old), .new = end_of(new) } };
	file.mode = options->mode;
	w.map = malloc(weir__delta_map(&w.head));
	w.piece = malloc(WEIR_DELTA_PIECE);
	int err = w.map && w.piece ? 0 :
	          weir__fail(-ENOMEM, "%s: no memory for a piece of a delta", path);
	if (!err)
		err = weir__packer_begin(&w.packer, WEIR_DELTA_PIECE,
		                         options->zstd_level ? options->zstd_level : 3, path);
	if (!err) {
		err = weir__save_path(write_delta, &w, path, &file);
		weir__packer_end(&w.packer);
	}
	free(w.map);
	free(w.piece);
	return err;
}

int weir_delta_save(const char *path, const char *old_image, const char *new_image,
                    const struct weir_delta_options *options)
{
	struct weir_delta_options o;
	struct weir_plain old, new;
	int err = weir__delta_options(&o, options);
	const struct weir_load_options reading = weir__delta_reading(&o);
	if (!err)
		err = weir__save_path_check(path);
	if (!err)
		err = weir__delta_image(&old, old_image, &reading);
	if (err)
		return err;
	err = weir__delta_image(&new, new_image, &reading);
	if (!err) {
		err = save(path, &old, &new, &o);
		weir__plain_free(&new);
	}
	weir__plain_free(&old);
	return err;
}
