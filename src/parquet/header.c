/* SPDX-License-Identifier: MIT
 * The header: numBytes, then algorithm, hash and compression, each a union of one choice so far. */
#include "ground/error.h"
#include "parquet/thrift.h"

enum { NUM_BYTES = 1, ALGORITHM, HASH, COMPRESSION, FIELDS };

/* The fields that are a choice, and the one choice that there is of each. */
static const struct {
	const char *name, *known;
} choices[FIELDS] = {
	[ALGORITHM] = { "algorithm", "BLOCK" },
	[HASH] = { "hash", "XXHASH" },
	[COMPRESSION] = { "compression", "UNCOMPRESSED" },
};

size_t weir__parquet_header_put(unsigned char out[WEIR_PARQUET_HEADER_ROOM], uint64_t bitset_bytes)
{
	static const unsigned char rest[] = { 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0,
		                              0 };
	size_t n = 0;
	out[n++] = 0x15; /* field 1, of 32 bits */
	for (uint64_t left = 2 * bitset_bytes; left || n == 1; left >>= 7) /* zigzag */
		out[n++] = (unsigned char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
	for (unsigned i = 0; i < sizeof rest; i++)
		out[n++] = rest[i];
	return n;
}

/* Which member of the union it is. */
static int32_t choice(struct weir_thrift *t, const struct weir_field *field)
{
	struct weir_field member = { 0 };
	int32_t chosen = 0;
	weir__thrift_struct(t, field);
	while (weir__thrift_field(t, &member)) {
		if (chosen)
			weir__thrift_fault(t, "a choice has two answers");
		chosen = member.id;
		weir__thrift_skip(t, &member);
	}
	if (!chosen)
		weir__thrift_fault(t, "a choice has no answer");
	return chosen;
}

struct found {
	int32_t num_bytes, chosen[FIELDS];
};

/* Fields that are not known here are passed over: Parquet adds some now and then. */
static void read_fields(struct weir_thrift *t, struct found *found)
{
	struct weir_field field = { 0 };
	while (weir__thrift_field(t, &field))
		if (field.id == NUM_BYTES)
			found->num_bytes = weir__thrift_i32(t, &field);
		else if (field.id >= ALGORITHM && field.id < FIELDS)
			found->chosen[field.id] = choice(t, &field);
		else
			weir__thrift_skip(t, &field);
	weir__thrift_need(t, &field, NUM_BYTES, "numBytes is missing");
	weir__thrift_need(t, &field, ALGORITHM, "the algorithm is missing");
	weir__thrift_need(t, &field, HASH, "the hash is missing");
	weir__thrift_need(t, &field, COMPRESSION, "the compression is missing");
}

int weir__parquet_header_get(struct weir_parquet_header *out, const void *bytes, size_t n)
{
	struct weir_thrift t = weir__thrift(bytes, n);
	struct found found = { 0 };
	read_fields(&t, &found);
	if (t.fault)
		return weir__fail(-EBADMSG, "the filter's header, byte %zu: %s", t.fault_at,
		                  t.fault);
	for (int i = ALGORITHM; i < FIELDS; i++)
		if (found.chosen[i] != 1)
			return weir__fail(-ENOTSUP, "the filter's %s is number %d of Parquet's: "
			                  "weir knows 1, %s", choices[i].name, found.chosen[i],
			                  choices[i].known);
	if (found.num_bytes <= 0 || found.num_bytes % 32)
		return weir__fail(-EBADMSG, "the filter's header: numBytes is %d where a multiple "
		                  "of 32 above 0 should be", found.num_bytes);
	*out = (struct weir_parquet_header){ (size_t)(t.at - t.from), (uint64_t)found.num_bytes };
	return 0;
}
