/* SPDX-License-Identifier: MIT
 * Writing the images of compounds: compound.h says what they are. */
#ifndef WEIR_SRC_IMAGE_COMPOUND_WRITE_H
#define WEIR_SRC_IMAGE_COMPOUND_WRITE_H

#include "image/compound.h"

/* What is to be saved. */
struct weir_compound {
	/* Of it only shape, capacity, rate_bits, normal and own are read: the rest follows
	 * from the members. */
	struct weir_image_head head;
	struct weir_member member[WEIR_IMAGE_MEMBERS]; /* of one hashing */
	unsigned n;
};

/* Write the image from the descriptor's offset 0 on: a file that is new. The members may be in use.
 * @renew: puts the members' notes as they are after their bits were copied, or NULL. */
int weir__compound_write(struct weir_compound *c, int fd, const char *name,
                         const struct weir_save_options *options,
                         void (*renew)(void *arg, struct weir_compound *c), void *arg);
/* Write it from the descriptor's position on. Nobody may insert into the members meanwhile. */
int weir__compound_stream(struct weir_compound *c, int fd, const char *name,
                          const struct weir_save_options *options);

#endif
