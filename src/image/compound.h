/* SPDX-License-Identifier: MIT
 * Images of compounds: growing, whose members are layers, and window, whose members are
 * generations. head.h has the head, of format 3. The members' complete images follow in order, each
 * from the next multiple of 4096 on, as weir_save() would write it; zeros fill the gaps. A plain
 * member's image ends where its own head says. A compressed member's image ends with its last
 * frame. The compound's image ends with its last member.
 *
 * [MEMBER-TABLE]  The compound's table has the commit record of each member. A commit record is a
 *    checksum of the member's head and of the member's own table, which has the checksums of the
 *    member's bits. So each member has the content that the saver wrote, in the place where the
 *    saver put it.
 * [MEMBERS-AGREE]  Every member has the compression, marks, generation, hash, seed and
 *    normalisation of the compound's head. The members' numbers of blocks add up to the number in
 *    that head. So a reader refuses the first member with which the sum exceeds that number.
 * [NO-NESTING]  A member is neither a compound nor live. The compound's kind checks the member's
 *    shape, size and capacity (suits() in kind.h), the notes (a number for each member) in the
 *    compound's table, and the kind's own words in the compound's head.
 * [COMPOUND-FORMS]  Allowed: plain and compressed; files, streams, memory; WEIR_MAP_READ and
 *    WEIR_MAP_PRIVATE; shards in the members. Refused: WEIR_MAP_LIVE, since other processes would
 *    miss a member that one process adds. */
#ifndef WEIR_SRC_IMAGE_COMPOUND_H
#define WEIR_SRC_IMAGE_COMPOUND_H

#include "image/preface.h"

_Static_assert((int)WEIR__OWN_WORDS == (int)WEIR_IMAGE_OWN, "the words of a compound's own");
_Static_assert((int)WEIR__MEMBERS_MOST == (int)WEIR_IMAGE_MEMBERS, "the members of a compound");

/* Return: the number of zeros after a member whose image ends at @at. */
static inline uint64_t weir__to_page(uint64_t at)
{
	return (4096 - at % 4096) % 4096;
}

/* Return: true if the image that was read is a compound. */
static inline bool weir__is_compound(const struct weir_preface *preface)
{
	return preface->head.members != 0;
}

/* Describe a compound image to its kind. @layout: the compound's layout, which the caller may fill
 * in after this call. */
struct weir_parts weir__parts_of(const struct weir_preface *whole,
                                 const struct weir_layout *layout);

/*
 * Read and check all members of a compound image, each into its own memory.
 * @whole: the compound's preface, from weir__preface_read() on @source.
 * @out: receives whole->head.members members with their notes; the caller owns them.
 */
int weir__members_load(struct weir_member out[WEIR_IMAGE_MEMBERS],
                       const struct weir_preface *whole, struct weir_source *source,
                       const struct weir_load_options *options);
/* Read and check all members of a compound image, and pass each to @give as soon as it is read.
 * @give owns the filter, even if @give fails. A failure ends the reading. */
typedef int weir__give_fn(void *arg, unsigned i, const struct weir_member *member);
int weir__members_give(weir__give_fn *give, void *arg, const struct weir_preface *whole,
                       struct weir_source *source, const struct weir_load_options *options);
/* Call @each for every member of a compound image. @each must read all bits of the member.
 * @p: the member's preface, checked.  @bits: the source, positioned at the member's bits. */
typedef int weir__each_fn(void *arg, unsigned i, const struct weir_preface *p,
                          struct weir_source *bits, const struct weir_load_options *options);
int weir__members_each(weir__each_fn *each, void *arg, const struct weir_preface *whole,
                       struct weir_source *source, const struct weir_load_options *options);
/* Make filters around the members of a mapped image. Unless options->no_verify is set, read and
 * verify the members' bits first. The caller keeps the memory.
 * @insert_error: the error of every insert into a member; 0: inserts are allowed. */
int weir__members_map(struct weir_member out[WEIR_IMAGE_MEMBERS], unsigned char *image,
                      const struct weir_preface *whole, struct weir_source *source,
                      const struct weir_load_options *options, int insert_error);

/* Make a compound of members that were read. On failure the members are freed. @name: the image's
 * name, for error messages. */
int weir__members_join(struct weir_filter **out, const struct weir_layout *layout,
                       const struct weir_member *members, unsigned n, int insert_error,
                       const char *name);

/* ---- writing compounds ---- */

/* A compound to be saved. */
struct weir_compound {
	/* The caller fills shape, capacity, rate_bits, text and own. All other fields are computed
	 * from the members. */
	struct weir_image_head head;
	struct weir_member member[WEIR_IMAGE_MEMBERS]; /* all members have the same hashing */
	unsigned n;
};

/* Write the image of a compound. A stream gets the image at its current position, and no member may
 * take inserts. In a file the image starts at offset 0, and the members may be in use.
 * @renew: a function that updates the members' notes after the bits were copied, or NULL. */
int weir__compound_write(struct weir_compound *c, struct weir_sink *to,
                         const struct weir_save_options *options,
                         void (*renew)(void *arg, struct weir_compound *c), void *arg);

#endif
