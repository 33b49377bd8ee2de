/* SPDX-License-Identifier: MIT
 * Thrift's compact protocol. Integers are zigzag varints. A field's number is stored as the
 * difference from the previous field's number. */
#include "ground/error.h"
#include "parquet/thrift.h"

static const char ends_early[] = "the bytes end within a value";
static const char other_type[] = "a field is of another type than the format gives it";

struct weir_thrift weir__thrift(const void *bytes, size_t n)
{
	const unsigned char *from = bytes;
	return (struct weir_thrift){ .from = from, .at = from, .end = from + n };
}

void weir__thrift_fault(struct weir_thrift *t, const char *what)
{
	if (t->fault)
		return;
	t->fault = what;
	t->fault_at = (size_t)(t->at - t->from);
	t->end = t->at; /* [THRIFT-FIRST-FAULT]: no bytes are left */
}

static size_t remaining(const struct weir_thrift *t)
{
	return (size_t)(t->end - t->at);
}

static unsigned byte(struct weir_thrift *t)
{
	if (remaining(t))
		return *t->at++;
	weir__thrift_fault(t, ends_early);
	return 0;
}

/* A varint has at most ten bytes; the tenth holds one bit. */
static uint64_t varint(struct weir_thrift *t)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		unsigned next = byte(t);
		if (shift == 63 && next > 1)
			break;
		value |= (uint64_t)(next & 0x7f) << shift;
		if (!(next & 0x80))
			return value;
	}
	weir__thrift_fault(t, "an integer is longer than 64 bits");
	return 0;
}

static int64_t zigzag(struct weir_thrift *t)
{
	uint64_t n = varint(t);
	return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

static int32_t narrow(struct weir_thrift *t, int64_t value)
{
	if (value >= INT32_MIN && value <= INT32_MAX)
		return (int32_t)value;
	weir__thrift_fault(t, "an integer is longer than 32 bits");
	return 0;
}

static void skip_bytes(struct weir_thrift *t, uint64_t n)
{
	if (n > remaining(t))
		weir__thrift_fault(t, ends_early);
	else
		t->at += n;
}

/* ---- reading a struct ---- */

bool weir__thrift_field(struct weir_thrift *t, struct weir_field *field)
{
	unsigned head = byte(t), step = head >> 4;
	field->type = (enum weir_thrift_type)(head & 15);
	if (t->fault || field->type == WEIR_THRIFT_STOP)
		return false;
	int64_t id = step ? (int64_t)field->id + step : zigzag(t);
	if (id < INT16_MIN || id > INT16_MAX)
		weir__thrift_fault(t, "a field's number is longer than 16 bits");
	field->id = t->fault ? 0 : (int32_t)id;
	if (id >= 0 && id < 32) {
		if (field->seen >> id & 1)
			weir__thrift_fault(t, "a field comes twice");
		field->seen |= UINT32_C(1) << id;
	}
	return !t->fault;
}

void weir__thrift_need(struct weir_thrift *t, const struct weir_field *field, int id,
                       const char *fault)
{
	if (!(field->seen >> id & 1))
		weir__thrift_fault(t, fault);
}

/* Check the type of a field. Return: false if @t has a fault, now or from an earlier call. */
static bool must_be(struct weir_thrift *t, const struct weir_field *field,
                    enum weir_thrift_type type)
{
	if (field->type != type)
		weir__thrift_fault(t, other_type);
	return !t->fault;
}

int32_t weir__thrift_i32(struct weir_thrift *t, const struct weir_field *field)
{
	return must_be(t, field, WEIR_THRIFT_I32) ? narrow(t, zigzag(t)) : 0;
}

int64_t weir__thrift_i64(struct weir_thrift *t, const struct weir_field *field)
{
	return must_be(t, field, WEIR_THRIFT_I64) ? zigzag(t) : 0;
}

struct weir_slice weir__thrift_element(struct weir_thrift *t)
{
	uint64_t n = varint(t);
	const unsigned char *at = t->at;
	skip_bytes(t, n);
	return t->fault || n > UINT32_MAX ? (struct weir_slice){ NULL, 0 } :
	                                    (struct weir_slice){ at, (uint32_t)n };
}

struct weir_slice weir__thrift_binary(struct weir_thrift *t, const struct weir_field *field)
{
	return must_be(t, field, WEIR_THRIFT_BINARY) ? weir__thrift_element(t) :
	                                               (struct weir_slice){ NULL, 0 };
}

void weir__thrift_struct(struct weir_thrift *t, const struct weir_field *field)
{
	(void)must_be(t, field, WEIR_THRIFT_STRUCT);
}

/* Read the type and number of a list's elements. Return: the number of elements. Each element takes
 * at least a byte, so more elements than remaining bytes are a fault. */
static uint32_t list_head(struct weir_thrift *t, enum weir_thrift_type *type)
{
	unsigned head = byte(t);
	uint64_t n = head >> 4 == 15 ? varint(t) : head >> 4;
	*type = (enum weir_thrift_type)(head & 15);
	if (n > remaining(t) || n > INT32_MAX) {
		weir__thrift_fault(t, "a list has more elements than there are bytes");
		return 0;
	}
	return (uint32_t)n;
}

/* The type of an empty list is ignored, because some writers leave it out. */
uint32_t weir__thrift_list(struct weir_thrift *t, const struct weir_field *field,
                           enum weir_thrift_type type)
{
	enum weir_thrift_type found;
	uint32_t n = must_be(t, field, WEIR_THRIFT_LIST) ? list_head(t, &found) : 0;
	if (n && found != type)
		weir__thrift_fault(t, "a list is of another type than the format gives it");
	return t->fault ? 0 : n;
}

/* ---- skipping a value ---- */

/* A value being skipped: a struct, or a list, set or map with its elements. */
struct level {
	bool is_struct;
	uint64_t elements;              /* elements left to skip; a map's keys and values count */
	enum weir_thrift_type types[2]; /* a map's key and value, which alternate */
};

static struct level map_level(struct weir_thrift *t)
{
	uint64_t n = varint(t);
	unsigned types = n ? byte(t) : 0;
	if (n > remaining(t) / 2) {
		weir__thrift_fault(t, "a map has more elements than there are bytes");
		n = 0;
	}
	return (struct level){ false, 2 * n, { (enum weir_thrift_type)(types >> 4),
	                                       (enum weir_thrift_type)(types & 15) } };
}

static struct level list_level(struct weir_thrift *t)
{
	enum weir_thrift_type type = WEIR_THRIFT_STOP;
	uint32_t n = list_head(t, &type);
	return (struct level){ false, n, { type, type } };
}

static void push(struct weir_thrift *t, struct level *levels, unsigned *depth, struct level level)
{
	if (*depth == WEIR_THRIFT_DEPTH)
		weir__thrift_fault(t, "values are nested deeper than 64 levels");
	else
		levels[(*depth)++] = level;
}

/* Skip a value. If the value has elements (struct, list, set, map), skip only count and types,
 * and push a level, so that the caller skips the elements. A boolean field has no bytes. */
static void skip_value(struct weir_thrift *t, enum weir_thrift_type type, bool is_field,
                       struct level *levels, unsigned *depth)
{
	switch (type) {
	case WEIR_THRIFT_TRUE:
	case WEIR_THRIFT_FALSE: skip_bytes(t, !is_field); break;
	case WEIR_THRIFT_I8: skip_bytes(t, 1); break;
	case WEIR_THRIFT_I16:
	case WEIR_THRIFT_I32:
	case WEIR_THRIFT_I64: (void)varint(t); break;
	case WEIR_THRIFT_DOUBLE: skip_bytes(t, 8); break;
	case WEIR_THRIFT_BINARY: skip_bytes(t, varint(t)); break;
	case WEIR_THRIFT_LIST:
	case WEIR_THRIFT_SET: push(t, levels, depth, list_level(t)); break;
	case WEIR_THRIFT_MAP: push(t, levels, depth, map_level(t)); break;
	case WEIR_THRIFT_STRUCT: push(t, levels, depth, (struct level){ .is_struct = true }); break;
	case WEIR_THRIFT_UUID: skip_bytes(t, 16); break;
	default: weir__thrift_fault(t, "a value is of a type that there is not");
	}
}

static enum weir_thrift_type skip_field_head(struct weir_thrift *t)
{
	unsigned head = byte(t);
	if (head & 15 && !(head >> 4))
		(void)varint(t);
	return (enum weir_thrift_type)(head & 15);
}

void weir__thrift_skip(struct weir_thrift *t, const struct weir_field *field)
{
	struct level levels[WEIR_THRIFT_DEPTH];
	unsigned depth = 0;
	skip_value(t, field->type, true, levels, &depth);
	while (depth && !t->fault) {
		struct level *top = &levels[depth - 1];
		enum weir_thrift_type type = WEIR_THRIFT_STOP;
		bool ends = !top->is_struct && !top->elements;
		if (top->is_struct) {
			type = skip_field_head(t);
			ends = type == WEIR_THRIFT_STOP;
		} else if (!ends) {
			type = top->types[top->elements-- & 1];
		}
		if (ends)
			depth--;
		else
			skip_value(t, type, top->is_struct, levels, &depth);
	}
}

/* ---- BloomFilterHeader: numBytes, then three unions, each with one known member ---- */

enum { NUM_BYTES = 1, ALGORITHM, HASH, COMPRESSION, FIELDS };

/* The unions and their only known members. */
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
	out[n++] = 0x15; /* field 1, a 32-bit integer */
	for (uint64_t left = 2 * bitset_bytes; left; left >>= 7) /* zigzag doubles the number */
		out[n++] = (unsigned char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
	for (unsigned i = 0; i < sizeof rest; i++)
		out[n++] = rest[i];
	return n;
}

/* Read a union. Return: the number of the member that is set. */
static int32_t read_union(struct weir_thrift *t, const struct weir_field *field)
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

/* Skip unknown fields, because new versions of Parquet add fields. */
static void read_fields(struct weir_thrift *t, struct found *found)
{
	struct weir_field field = { 0 };
	while (weir__thrift_field(t, &field))
		if (field.id == NUM_BYTES)
			found->num_bytes = weir__thrift_i32(t, &field);
		else if (field.id >= ALGORITHM && field.id < FIELDS)
			found->chosen[field.id] = read_union(t, &field);
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
