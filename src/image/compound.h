/* SPDX-License-Identifier: MIT
 * Images of compounds: growing, whose members are layers, and window, whose members are
 * generations. head.h has the head, of format 3. Behind it, each from the next multiple of 4096 on,
 * stand the members' images, whole and in order, as weir_save() would write each of them; between
 * them are zeros. A member's image ends as its own head says, or compressed where its last frame
 * ends. The last one ends the image.
 *
 * C1  The table has each member's commit record, which is a checksum of its head and its table,
 *     which has its bits' checksums. So what a member holds is what the saver put there, and in
 *     that place.
 * C2  What every member has as the head has it: compression, marks, generation, hash and seed, what
 *     is done to keys. The members' blocks add up to the head's, and never exceed them on the way.
 * C3  A member is no compound, and nothing of it is live. Its shape, size and capacity are checked
 *     by the compound itself (suits() in kind.h), as are the notes in the table and the head's
 *     words for its own use.
 * C4  Allowed: plain and compressed; files, streams, memory; WEIR_MAP_READ and WEIR_MAP_PRIVATE;
 *     shards in the members. Refused: WEIR_MAP_LIVE, since a member that one process adds would be
 *     missed by the others. */
#ifndef WEIR_SRC_IMAGE_COMPOUND_H
#define WEIR_SRC_IMAGE_COMPOUND_H

#include "image/preface.h"

_Static_assert((int)WEIR__OWN_WORDS == (int)WEIR_IMAGE_OWN, "the words of a compound's own");
_Static_assert((int)WEIR__MEMBERS_MOST == (int)WEIR_IMAGE_MEMBERS, "the members of a compound");

/* The zeros behind a member's image that ends at @at. */
static inline uint64_t weir__to_page(uint64_t at)
{
	return (4096 - at % 4096) % 4096;
}

/* Is it the image of a compound that was read? */
static inline bool weir__is_compound(const struct weir_preface *preface)
{
	return preface->head.members != 0;
}

/* What the kind is asked about. @layout: the compound's, which may be set later. */
struct weir_parts weir__parts_of(const struct weir_preface *whole,
                                 const struct weir_layout *layout);

/*
 * Read and check all members behind a compound's head, each into memory of its own.
 * @whole: weir__preface_read() of it, from @source.
 * @secret: in @options, as for any image.
 * @out: receives whole->head.members members with their notes, the caller's.
 */
int weir__members_load(struct weir_member out[WEIR_IMAGE_MEMBERS],
                       const struct weir_preface *whole, struct weir_source *source,
                       const struct weir_load_options *options);
/* Likewise, but each is given away as it comes: the filter is the callee's, also on failure, which
 * ends the reading. */
typedef int weir__give_fn(void *arg, unsigned i, const struct weir_member *member);
int weir__members_give(weir__give_fn *give, void *arg, const struct weir_preface *whole,
                       struct weir_source *source, const struct weir_load_options *options);
/* Likewise, but the callee reads the bits of each member itself.
 * @p: the member's, checked.  @bits: the source, where its bits begin. */
typedef int weir__each_fn(void *arg, unsigned i, const struct weir_preface *p,
                          struct weir_source *bits, const struct weir_load_options *options);
int weir__members_each(weir__each_fn *each, void *arg, const struct weir_preface *whole,
                       struct weir_source *source, const struct weir_load_options *options);
/* Make them of the same image in memory, mapped. Their bits are read if @options want them
 * verified. The memory stays the caller's.
 * @insert_error: of the members. */
int weir__members_map(struct weir_member out[WEIR_IMAGE_MEMBERS], unsigned char *image,
                      const struct weir_preface *whole, struct weir_source *source,
                      const struct weir_load_options *options, int insert_error);

/* Make a compound of members that were read, or free them. @name: of the image. */
int weir__members_join(struct weir_filter **out, const struct weir_layout *layout,
                       const struct weir_member *members, unsigned n, int insert_error,
                       const char *name);

/* ---- writing them ---- */

/* What is to be saved. */
struct weir_compound {
	/* Of it only shape, capacity, rate_bits, text and own are read: the rest follows
	 * from the members. */
	struct weir_image_head head;
	struct weir_member member[WEIR_IMAGE_MEMBERS]; /* of one hashing */
	unsigned n;
};

/* Write the image: to a stream from its position on, while no member takes inserts; else from
 * offset 0 on, and the members may be in use.
 * @renew: puts the members' notes as they are after their bits were copied, or NULL. */
int weir__compound_write(struct weir_compound *c, struct weir_sink *to,
                         const struct weir_save_options *options,
                         void (*renew)(void *arg, struct weir_compound *c), void *arg);

#endif
