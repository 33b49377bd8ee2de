/* SPDX-License-Identifier: MIT
 * The arguments of the script that publishes, in its order. */
#include "scripts.h"

void weir__publish_arguments(struct iovec args[WEIR_PUBLISH_ARGUMENTS],
                             struct weir_publish_texts *room, const struct weir_publishing *p,
                             const struct weir_manifest *m, const char *text, size_t len)
{
	const struct iovec all[WEIR_PUBLISH_ARGUMENTS] = {
		weir__text(m->epoch),
		p->owner,
		weir__number(room->numbers[0], m->base),
		weir__number(room->numbers[1], m->generation),
		weir__bytes(text, len),
		weir__text(p->signature),
		weir__text(weir__stream_id_print(room->position, m->cursor.at)),
		weir__number(room->numbers[2], m->cursor.consumed),
		weir__text(weir__stream_id_print(room->covered, m->covered)),
		weir__text(weir__key_of_chunks(room->names, p->keys, m->stored)),
		weir__number(room->numbers[3], m->path[0] ? 0 : m->chunks),
		weir__number(room->numbers[4], m->chunk_bytes),
		weir__number(room->numbers[5], m->bytes),
		weir__number(room->numbers[6], p->keep),
		weir__number(room->numbers[7], p->superseded_s),
		weir__text(p->keys->hint),
		weir__text(p->none),
	};
	memcpy(args, all, sizeof all);
}
