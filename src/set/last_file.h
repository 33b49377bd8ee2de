/* SPDX-License-Identifier: MIT
 * The file that a handle's refresh has taken or refused last, so that it is not looked at again. By
 * the handle's writer alone.
 *
 * What is found damaged may be about to be written, in place, by somebody who copies over it. The
 * next bytes then give it another size, time or commit record, and it is another file. But times
 * are as coarse as the kernel's tick (some file systems': two seconds): bytes written within the
 * tick of the head that was read change nothing that shows. So for some seconds a damaged file is
 * read again at each look, in silence: the same refusal is not reported twice. */
#ifndef WEIR_SRC_LAST_FILE_H
#define WEIR_SRC_LAST_FILE_H

#include "image/io.h"

struct weir_last_file {
	struct weir_file_identity identity;
	bool refused;
	/* 0, or the generation whose filter it was refused with: then it is looked at again when
	 * another one is current */
	uint64_t refused_with;
	double damaged_since; /* weir__seconds(); 0: it is not, or it will stay so */
};

/* Was it looked at already, with the same answer to come? */
bool weir__last_file_is(const struct weir_last_file *last, const struct weir_file_identity *file,
                        uint64_t generation);

/* Remember a verdict. @err: 0 or the refusal. @with: the generation that it was refused beside, or
 * 0. @began: when the look did. Return: whether this very refusal was there before. */
bool weir__last_file_judge(struct weir_last_file *last, const struct weir_file_identity *file,
                           int err, uint64_t with, double began);

#endif
