/* SPDX-License-Identifier: MIT
 * The program that run-eva.sh analyses: it checks every possible header, then computes with the
 * fields of accepted headers as the library's callers do. */
#include "../../src/image/head.h"

volatile unsigned char any_byte;
volatile uint64_t any_number;

int main(void)
{
	static unsigned char bytes[WEIR_IMAGE_HEAD], again[WEIR_IMAGE_HEAD];
	struct weir_image_head head;
	struct weir_image_fault fault;
	struct weir_image_given given;
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = any_byte;
	given.length = any_number;
	given.exact = any_byte & 1;
	given.max_bytes = any_number;
	given.header_checksum = any_number;
	given.commit = any_number;
	if (weir__image_check(bytes, &given, &head, &fault))
		return fault.err + fault.field[0] +
		       (fault.rule ? fault.rule[0] : (int)(fault.wanted & 1));
	if (weir__image_check_numbers(bytes, &head, &fault))
		return fault.err + fault.field[0] + fault.rule[0];
	/* A loader computes these from a checked header, without overflow or division by zero. */
	uint64_t shard_bytes = 64 * head.nblocks / head.shards;
	weir__image_put(again, &head);
	return weir__image_length(&head) > weir__image_padding(&head) + shard_bytes + again[0];
}
