/* SPDX-License-Identifier: MIT
 * Converts the normalisation of keys from header bytes to fields and back. head.c does the rest. */
#include "ground/error.h"
#include "image/head.h"
#include "normalise/normalise.h"

enum { AT_STEPS = 140, AT_IPV4 = 144, AT_IPV6 = 152, AT_LABELS = 176 };

static uint64_t get(const unsigned char *p, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

static void put(unsigned char *p, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(value >> (8 * i) & 0xff);
}

struct weir_text weir__steps_get(const unsigned char *bytes)
{
	struct weir_text n = { .steps = (uint32_t)get(bytes + AT_STEPS, 4),
		                 .ipv4 = get(bytes + AT_IPV4, 8) };
	for (unsigned i = 0; i < 3; i++)
		n.ipv6[i] = get(bytes + AT_IPV6 + 8 * i, 8);
	for (unsigned i = 0; i < 2; i++)
		n.labels[i] = get(bytes + AT_LABELS + 8 * i, 8);
	return n;
}

void weir__steps_put(unsigned char *bytes, const struct weir_text *n)
{
	put(bytes + AT_STEPS, 4, n->steps);
	put(bytes + AT_IPV4, 8, n->ipv4);
	for (unsigned i = 0; i < 3; i++)
		put(bytes + AT_IPV6 + 8 * i, 8, n->ipv6[i]);
	for (unsigned i = 0; i < 2; i++)
		put(bytes + AT_LABELS + 8 * i, 8, n->labels[i]);
}

static bool rule(struct weir_image_fault *fault, int err, const char *field, uint64_t found,
                 bool legal, const char *rule)
{
	if (!legal)
		*fault = (struct weir_image_fault){
			.err = err, .field = field, .rule = rule, .hex = true, .found = found
		};
	return legal;
}

bool weir__steps_check(const struct weir_text *n, struct weir_image_fault *fault)
{
	static const char steps[] = "the word of steps at byte 140";
	bool cidr = n->steps & WEIR_TEXT_CIDR, suffixes = n->steps & WEIR_TEXT_SUFFIXES;
	uint64_t six = n->ipv6[0] | n->ipv6[1] | n->ipv6[2], names = n->labels[0] | n->labels[1];
	return rule(fault, -ENOTSUP, steps, n->steps,
	            (n->steps & ~(uint32_t)WEIR__TEXT_STEPS) == 0,
	            "the bits 1, 2, 4, 8 and 16; a newer weir made it") &&
	       rule(fault, -EBADMSG, steps, n->steps, !cidr || !suffixes,
	            "not cidr (4) and suffixes (8) together") &&
	       rule(fault, -EBADMSG, "the word of IPv4 lengths", n->ipv4,
	            (n->ipv4 & ~WEIR__IPV4_LENGTHS) == 0 && (cidr || !n->ipv4),
	            "the bits 0 to 32; none without cidr") &&
	       rule(fault, -EBADMSG, "the last word of IPv6 lengths", n->ipv6[2], n->ipv6[2] <= 1,
	            "bit 0, which is length 128") &&
	       rule(fault, -EBADMSG, "the words of IPv6 lengths, or'ed,", six, cidr || !six,
	            "none without cidr") &&
	       rule(fault, -EBADMSG, "the words of labels, or'ed,", names,
	            (suffixes || !names) && !(n->labels[0] & 1),
	            "the bits 1 to 127; none without suffixes");
}
