/* SPDX-License-Identifier: MIT
 * Writes a delta: see delta.h. Head and map are written last, since they are complete only after
 * all pieces were compressed. */
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "image/delta.h"
#include "image/location.h"
#include "image/plain.h"
#include "image/save.h"
#include "image/zstd.h"

struct writing {
	const struct weir_plain *old, *new;
	const struct weir_delta_options *options;
	struct weir_delta_head head;
	unsigned char *map;
	uint64_t *piece;           /* a piece of the old image XOR the same piece of the new one */
	struct weir_packer packer;
};

/* Compute the exclusive or of piece @i in both images. Return: true if the piece differs. */
static bool differs(const struct writing *w, uint64_t i, uint64_t n)
{
	const uint64_t at = i * WEIR_DELTA_PIECE;
	const uint64_t before = weir__delta_piece(w->old->bytes, i);
	unsigned char *piece = (unsigned char *)w->piece;
	uint64_t any = 0;
	memcpy(piece, weir__plain_bytes(w->new) + at, n);
	weir__delta_xor(piece, weir__plain_bytes(w->old) + at, n < before ? n : before);
	for (uint64_t word = 0; word < n / 8; word++) /* images have whole words */
		any |= w->piece[word];
	return any != 0;
}

static int write_piece(struct writing *w, uint64_t i, struct weir_sink *to)
{
	const uint64_t n = weir__delta_piece(w->new->bytes, i);
	uint64_t packed = 0;
	if (!differs(w, i, n))
		return 0;
	int err = weir__pack(&w->packer, w->piece, n, &packed);
	if (!err)
		err = weir__write(to, w->packer.buffer, packed, -1);
	w->map[i / 8] |= (unsigned char)(1u << i % 8);
	w->head.changed++;
	w->head.length += packed;
	if (!err && w->options->max_delta && w->head.length > w->options->max_delta)
		err = weir__fail(-EFBIG, "%s: the delta has more than max_delta bytes, %llu",
		                 to->name, (unsigned long long)w->options->max_delta);
	return err;
}

/* Write the whole file from offset 0. weir__save_to() may call this function twice. */
static int write_delta(void *what, struct weir_sink *to, const struct weir_save_options *options)
{
	struct writing *w = what;
	unsigned char head[WEIR_DELTA_HEAD];
	const uint64_t map = weir__delta_map(&w->head), pieces = weir__delta_pieces(&w->head);
	int err;
	(void)options;
	memset(w->map, 0, map);
	w->head.changed = 0;
	w->head.length = WEIR_DELTA_HEAD + map;
	err = weir__write_seek(to, w->head.length);
	for (uint64_t i = 0; !err && i < pieces; i++) {
		err = write_piece(w, i, to);
		if (!err)
			err = weir__progress(w->options->progress, w->options->progress_arg,
			                     i * WEIR_DELTA_PIECE +
			                     weir__delta_piece(w->new->bytes, i), w->new->bytes,
			                     "bytes");
	}
	if (!err)
		err = weir__write(to, w->map, map, WEIR_DELTA_HEAD);
	weir__delta_put(head, &w->head);
	return err ? err : weir__write(to, head, sizeof head, 0);
}

static struct weir_delta_end end_of(const struct weir_plain *plain)
{
	return (struct weir_delta_end){ .bytes = plain->bytes,
		                        .commit = plain->commit,
		                        .generation = plain->generation };
}

static int64_t save(const struct weir_location *to, const struct weir_plain *old,
                    const struct weir_plain *new, const struct weir_delta_options *options)
{
	struct weir_save_options file = WEIR_SAVE_OPTIONS_INIT;
	struct writing w = { .old = old, .new = new, .options = options,
		             .head = { .old = end_of(old), .new = end_of(new) } };
	char none[WEIR__FD_NAME];
	const char *name = weir__location_name(to, none);
	int64_t done = 0;
	file.mode = options->mode;
	w.map = malloc(weir__delta_map(&w.head));
	w.piece = malloc(WEIR_DELTA_PIECE);
	int err = w.map && w.piece ? 0 :
	          weir__fail(-ENOMEM, "%s: no memory for a piece of a delta", name);
	if (!err)
		err = weir__packer_begin(&w.packer, WEIR_DELTA_PIECE,
		                         options->zstd_level ? options->zstd_level : 3, name);
	if (!err) {
		done = weir__save_to(write_delta, &w, to, &file);
		weir__packer_end(&w.packer);
	}
	free(w.map);
	free(w.piece);
	return err ? err : done;
}

static int delta_options(struct weir_delta_options *out, const struct weir_delta_options *options)
{
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	int err = weir__options_copy(&o, sizeof o, options, "weir_delta_options");
	if (!err && (o.zstd_level < 0 || o.zstd_level > 19))
		err = weir__fail(-EINVAL, "zstd_level %d: allowed: 0 to 19", o.zstd_level);
	if (!err && o.mode > 0777)
		err = weir__fail(-EINVAL, "mode 0%o: permissions from 0 to 0777", o.mode);
	*out = o;
	return err;
}

static const char call[] = "weir_delta_save";

static int check(const struct weir_location *to)
{
	char name[WEIR__FD_NAME];
	int err = weir__location_check(to, WEIR__TO_WRITE, call);
	if (!err && to->form == WEIR_LOCATION_FD)
		err = weir__fail(-ENOTSUP, "%s: %s to a descriptor is not built: the head comes "
		                 "last: give it a path or room", weir__location_name(to, name),
		                 call);
	return err;
}

int64_t weir_delta_save(struct weir_location to, struct weir_location old_image,
                        struct weir_location new_image, const struct weir_delta_options *options)
{
	struct weir_delta_options o;
	struct weir_plain old, new;
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	int64_t done = delta_options(&o, options);
	reading.max_bytes = o.max_bytes;
	reading.progress = o.progress;
	reading.progress_arg = o.progress_arg;
	if (!done)
		done = check(&to);
	if (!done)
		done = weir__location_plain(&old, &old_image, call, &reading);
	if (done)
		return done;
	done = weir__location_plain(&new, &new_image, call, &reading);
	if (!done) {
		done = save(&to, &old, &new, &o);
		weir__plain_free(&new);
	}
	weir__plain_free(&old);
	return done;
}
