/* SPDX-License-Identifier: MIT
 * The window as a kind: its fields, its legal shapes, and the table of its functions. */
#include <inttypes.h>
#include <stdio.h>
#include "window/window.h"

enum { MOST_COLUMN_BITS = 10 }; /* bits per key: a hash has room for 10 positions of 6 bits */

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	uint32_t layout = shape->field[WEIR_WINDOW_LAYOUT], n = shape->field[WEIR_WINDOW_G];
	uint32_t z = shape->field[WEIR_WINDOW_WORDS], g = shape->field[WEIR_WINDOW_BITS];
	struct weir_shape member = weir__window_member_shape(z, g);
	if (n < WEIR_WINDOW_LEAST || n > WEIR_WINDOW_MOST)
		return false;
	if (layout != WEIR_WINDOW_RING &&
	    (layout != WEIR_WINDOW_COLUMNS || z != 1 || g > MOST_COLUMN_BITS))
		return false;
	return (lines == UINT64_MAX || lines % n == 0) &&
	       weir__shape_legal(weir__kind(WEIR_BLOCKED), &member,
	                         lines == UINT64_MAX ? lines : lines / n);
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	struct weir_shape member = weir__window_member_shape(shape->field[WEIR_WINDOW_WORDS],
	                                                     shape->field[WEIR_WINDOW_BITS]);
	char inner[WEIR_SHAPE_TEXT];
	weir__kind(WEIR_BLOCKED)->describe(&member, inner);
	snprintf(text, WEIR_SHAPE_TEXT, "%s of %" PRIu32 " generations, %.40s",
	         shape->field[WEIR_WINDOW_LAYOUT] == WEIR_WINDOW_RING ? "a ring" : "columns",
	         shape->field[WEIR_WINDOW_G], inner);
}

static bool decides(const struct weir_shape *shape)
{
	return shape->field[2] == 1; /* words_per_key */
}

const struct weir_kind weir__kind_window = {
	.id = WEIR_WINDOW,
	.name = "window",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW | WEIR_CAN_FORGET,
	.decides = decides,
	.fields = { "layout", "generations", "words_per_key", "bits_per_word" },
	.settle = weir__window_settle,
	.plan = weir__window_plan,
	.legal = legal,
	.describe = describe,
	.kernel = weir__window_kernel,
	.create = weir__window_create,
	.begin = weir__window_begin,
	.asked = weir__window_asked,
	.destroy = weir__window_destroy,
	.figures = weir__window_survey,
	.own_words = WEIR_WINDOW_OWN,
	.suits = weir__window_member_suits,
	.freeze = weir__window_freeze,
	.thaw = weir__window_thaw,
	.put = weir__window_put,
	.thawed = weir__window_thawed,
};
