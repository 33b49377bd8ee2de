/* SPDX-License-Identifier: MIT
 * Converts the header of an image from bytes to fields and back. This parser of untrusted bytes
 * allocates nothing, does no input or output, has no state, and checks each field before its
 * use. */
#include <errno.h>
#include "image/head.h"

#define MAX_BLOCKS (UINT64_C(1) << 40)
#define MAX_CAPACITY (UINT64_C(1) << 48)
/* The bits of 1.0. Positive doubles have the same order as their bits. */
#define RATE_ONE UINT64_C(0x3ff0000000000000)
#define PAGE UINT64_C(4096)
#define HUGE_PAGE (UINT64_C(2) << 20)

enum {
	AT_FORMAT = 8, AT_KIND = 12, AT_OLD_NUMBERS = 16, AT_BLOCKS = 24, AT_CAPACITY = 32,
	AT_RATE = 40, AT_HASH = 48, AT_SHARDS = 52, AT_SEED = 56, AT_GENERATION = 64,
	AT_COMPRESSION = 72, AT_MEMBERS = 76, AT_TABLE_OFFSET = 80, AT_BITS_OFFSET = 88,
	AT_LENGTH = 96, AT_NUMBERS = 104, AT_RESERVED_2 = 132, AT_MARKS = 136, AT_OWN = 192,
	AT_LATER = 224, AT_TABLE_CHECKSUM = 496,
};
enum {
	LAST_OLD_KIND = 1, /* the last kind with its shape numbers at byte 16 */
	OLD_NUMBERS = 2,
	LAST_HASH = 3,
	KEYED_HASH = 3,
	UNSEEDED_HASH = 2, /* for kinds with a foreign format; the kind is checked later */
	MARKS = WEIR_MARK_KEYED | WEIR_MARK_OVERFULL_ALLOWED | WEIR_MARK_SHRINK_ALLOWED |
	        WEIR_MARK_ONCE,
	MAX_SHARDS = 65536,
	LEAST_SHARD = 1024,
};

static const unsigned char magic[8] = { 'W', 'E', 'I', 'R', 'I', 'M', 'G', '1' };

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(unsigned char *p, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> (8 * i) & 0xff);
}

uint64_t weir__image_get64(const unsigned char *p)
{
	return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32;
}

void weir__image_put64(unsigned char *p, uint64_t value)
{
	put32(p, (uint32_t)(value & 0xffffffff));
	put32(p + 4, (uint32_t)(value >> 32));
}

uint32_t weir__image_format(const struct weir_image_head *head)
{
	return head->members ? WEIR_IMAGE_COMPOUND : head->marks || head->text.steps ? 2 : 1;
}

uint64_t weir__image_table(const struct weir_image_head *head)
{
	return head->members ? UINT64_C(1) * WEIR_IMAGE_MEMBER * head->members :
	                       UINT64_C(8) * head->shards;
}

static uint64_t table_end(const struct weir_image_head *head)
{
	return WEIR_IMAGE_HEAD + weir__image_table(head);
}

uint64_t weir__image_padding(const struct weir_image_head *head)
{
	uint64_t align = head->compression == WEIR_IMAGE_PLAIN && !head->members &&
	                 64 * head->nblocks >= HUGE_PAGE ? HUGE_PAGE : PAGE;
	return (align - table_end(head) % align) % align;
}

uint64_t weir__image_bits_offset(const struct weir_image_head *head)
{
	return table_end(head) + weir__image_padding(head);
}

uint64_t weir__image_length(const struct weir_image_head *head)
{
	return head->members ? head->length :
	                       weir__image_bits_offset(head) + 64 * head->nblocks;
}

static uint64_t stored_length(const struct weir_image_head *head)
{
	return head->compression == WEIR_IMAGE_PLAIN ? weir__image_length(head) : 0;
}

/* Check that @found equals @wanted. If not, set the fault and return false. */
static bool same(struct weir_image_fault *fault, const char *field, uint64_t found, uint64_t wanted)
{
	if (found == wanted)
		return true;
	*fault = (struct weir_image_fault){
		.err = -EBADMSG, .field = field, .found = found, .wanted = wanted
	};
	return false;
}

/* Return: @legal. If @legal is false, set the fault. */
static bool rule(struct weir_image_fault *fault, int err, const char *field, uint64_t found,
                 bool legal, const char *rule)
{
	if (legal)
		return true;
	*fault = (struct weir_image_fault){
		.err = err, .field = field, .rule = rule, .found = found
	};
	return false;
}

/* If a check failed (@right is false), make its fault print the numbers in base 16, for checksums
 * and magic numbers. Return: @right. */
static bool in_hex(struct weir_image_fault *fault, bool right)
{
	if (!right)
		fault->hex = true;
	return right;
}

static unsigned char any_of(const unsigned char *bytes, unsigned from, unsigned to)
{
	unsigned char any = 0;
	for (unsigned i = from; i < to; i++)
		any |= bytes[i];
	return any;
}

static bool zero(struct weir_image_fault *fault, const unsigned char *bytes, unsigned from,
                 unsigned to)
{
	unsigned char any = any_of(bytes, from, to);
	return rule(fault, -EBADMSG, "reserved bytes", any, any == 0, "zero");
}

/* Check that the bytes are a complete header of a known format. Check the format first, since it
 * decides which fields follow. Check the checksum before all other fields, so that damage is
 * reported as damage. */
static bool recognise(const unsigned char *bytes, const struct weir_image_given *given,
                      struct weir_image_fault *fault)
{
	uint64_t name = weir__image_get64(bytes);
	uint64_t commit = weir__image_get64(bytes + WEIR_IMAGE_COMMIT);
	uint32_t format = get32(bytes + AT_FORMAT);
	return in_hex(fault, rule(fault, -EBADMSG, "magic", name, name == weir__image_get64(magic),
	                          "WEIRIMG1; this is not an image of weir")) &&
	       rule(fault, -ENOTSUP, "format", format, format <= WEIR_IMAGE_FORMAT,
	            "1 to 3; a newer weir made it") &&
	       rule(fault, -EBADMSG, "format", format, format >= 1, "1 to 3") &&
	       in_hex(fault, same(fault, "header checksum",
	                          weir__image_get64(bytes + WEIR_IMAGE_CHECKSUM),
	                          given->header_checksum)) &&
	       in_hex(fault, rule(fault, -EBADMSG, "commit record", commit,
	                          commit == given->commit || commit == WEIR_IMAGE_LIVE,
	                          "that of the two checksums before it: the save did not end, or "
	                          "the image is damaged"));
}

static bool has_old_numbers(const struct weir_shape *shape)
{
	return shape->kind <= LAST_OLD_KIND;
}

static void get_compound(const unsigned char *bytes, struct weir_image_head *head)
{
	head->members = get32(bytes + AT_MEMBERS);
	head->length = weir__image_get64(bytes + AT_LENGTH);
	for (unsigned i = 0; i < WEIR_IMAGE_OWN; i++)
		head->own[i] = weir__image_get64(bytes + AT_OWN + 8 * i);
}

static void get(const unsigned char *bytes, struct weir_image_head *head)
{
	bool marked = get32(bytes + AT_FORMAT) > 1;
	*head = (struct weir_image_head){
		.shape.kind = get32(bytes + AT_KIND),
		.hash = get32(bytes + AT_HASH),
		.shards = get32(bytes + AT_SHARDS),
		.compression = get32(bytes + AT_COMPRESSION),
		.nblocks = weir__image_get64(bytes + AT_BLOCKS),
		.capacity = weir__image_get64(bytes + AT_CAPACITY),
		.rate_bits = weir__image_get64(bytes + AT_RATE),
		.seed = weir__image_get64(bytes + AT_SEED),
		.generation = weir__image_get64(bytes + AT_GENERATION),
		.marks = marked ? get32(bytes + AT_MARKS) : 0,
		.header_checksum = weir__image_get64(bytes + WEIR_IMAGE_CHECKSUM),
		.table_checksum = weir__image_get64(bytes + AT_TABLE_CHECKSUM),
		.commit = weir__image_get64(bytes + WEIR_IMAGE_COMMIT),
	};
	if (marked)
		head->text = weir__steps_get(bytes);
	if (get32(bytes + AT_FORMAT) == WEIR_IMAGE_COMPOUND)
		get_compound(bytes, head);
	bool old = has_old_numbers(&head->shape);
	for (unsigned i = 0; i < (old ? OLD_NUMBERS : WEIR_SHAPE_FIELDS); i++)
		head->shape.field[i] = get32(bytes + (old ? AT_OLD_NUMBERS : AT_NUMBERS) + 4 * i);
}

static bool shards_legal(const struct weir_image_head *h)
{
	return h->shards >= 1 && h->shards <= MAX_SHARDS && (h->shards & (h->shards - 1)) == 0 &&
	       h->nblocks % h->shards == 0 &&
	       (h->shards == 1 || h->nblocks / h->shards >= LEAST_SHARD);
}

/* Check each field by itself. */
static bool fields(const struct weir_image_head *h, struct weir_image_fault *fault)
{
	return rule(fault, -EBADMSG, "hash", h->hash, h->hash >= 1 && h->hash <= LAST_HASH,
	            "1, 2 or 3") &&
	       rule(fault, -EBADMSG, "hash", h->hash,
	            (h->hash == KEYED_HASH) == ((h->marks & WEIR_MARK_KEYED) != 0),
	            "3 where the marks say keyed, and there alone") &&
	       rule(fault, -EBADMSG, "seed", h->seed, h->seed != 0 || h->hash == UNSEEDED_HASH,
	            "1 or more") &&
	       rule(fault, -EBADMSG, "blocks", h->nblocks,
	            h->nblocks >= 1 && h->nblocks <= MAX_BLOCKS, "1 to 2^40") &&
	       rule(fault, -EBADMSG, "capacity", h->capacity,
	            h->capacity >= 1 && h->capacity <= MAX_CAPACITY, "1 to 2^48") &&
	       rule(fault, -EBADMSG, "fp_rate, as bits,", h->rate_bits,
	            h->rate_bits > 0 && h->rate_bits < RATE_ONE, "above 0 and below 1") &&
	       rule(fault, -EBADMSG, "compression", h->compression,
	            h->compression <= WEIR_IMAGE_ZSTD, "0 or 1") &&
	       rule(fault, -EBADMSG, "compression", h->compression,
	            h->commit != WEIR_IMAGE_LIVE || h->compression == WEIR_IMAGE_PLAIN,
	            "0 in a live image") &&
	       rule(fault, -EBADMSG, "shards", h->shards, shards_legal(h),
	            "1, or a power of two up to 65536 that cuts the blocks into runs of 1024 or "
	            "more");
}

static bool nothing_later(const unsigned char *bytes, unsigned from,
                          struct weir_image_fault *fault)
{
	if (!any_of(bytes, from, WEIR_IMAGE_CHECKSUM))
		return true;
	while (from < WEIR_IMAGE_CHECKSUM - 1 && !bytes[from])
		from++;
	return rule(fault, -ENOTSUP, "the first of the bytes up to 487 that should be 0", from,
	            false, "none; a newer weir made it");
}

/* Check the fields of a compound. Its exact length follows from the heads of its members, which the
 * reader reads later. */
static bool compound(const unsigned char *bytes, const struct weir_image_head *h,
                     struct weir_image_fault *fault)
{
	if (get32(bytes + AT_FORMAT) != WEIR_IMAGE_COMPOUND)
		return true;
	return rule(fault, -EBADMSG, "members", h->members,
	            h->members >= 1 && h->members <= WEIR_IMAGE_MEMBERS, "1 to 16") &&
	       rule(fault, -EBADMSG, "shards", h->shards, h->shards == 1, "1 of a compound") &&
	       rule(fault, -EBADMSG, "commit record", h->commit, h->commit != WEIR_IMAGE_LIVE,
	            "not that of a live image: a compound cannot be live") &&
	       rule(fault, -EBADMSG, "blocks", h->nblocks, h->nblocks >= h->members,
	            "one a member at least") &&
	       rule(fault, -EBADMSG, "length", h->length,
	            h->compression == WEIR_IMAGE_PLAIN ?
	                    h->length >= weir__image_bits_offset(h) + 64 * h->nblocks :
	                    h->length == 0,
	            "that of the members; 0 if compressed");
}

/* Check marks and steps, which format 1 lacks, and the words of later formats. An unknown mark
 * gives -ENOTSUP, not -EBADMSG, since a newer library wrote it. */
static bool marks(const unsigned char *bytes, struct weir_image_fault *fault)
{
	uint32_t found = get32(bytes + AT_MARKS);
	const struct weir_text text = weir__steps_get(bytes);
	uint32_t format = get32(bytes + AT_FORMAT);
	if (format == 1)
		return zero(fault, bytes, AT_MARKS, WEIR_IMAGE_CHECKSUM);
	return nothing_later(bytes, format == WEIR_IMAGE_COMPOUND ? AT_LATER : AT_OWN, fault) &&
	       in_hex(fault, rule(fault, -ENOTSUP, "the word of marks at byte 136", found,
	                          (found & ~(uint32_t)MARKS) == 0,
	                          "the bits 1, 2, 4 and 8; a newer weir made it")) &&
	       weir__steps_check(&text, fault) &&
	       rule(fault, -EBADMSG, "the word of marks at byte 136", found,
	            found || text.steps || format == WEIR_IMAGE_COMPOUND,
	            "not 0 in format 2 without steps");
}

/* Check the fields that follow from others, the reserved bytes and the length. */
static bool check_layout(const unsigned char *bytes, const struct weir_image_head *h,
                         const struct weir_image_given *given, struct weir_image_fault *fault)
{
	uint64_t stored = stored_length(h), needed = stored ? stored : weir__image_bits_offset(h);
	return same(fault, "offset of the table", weir__image_get64(bytes + AT_TABLE_OFFSET),
	            WEIR_IMAGE_HEAD) &&
	       same(fault, "offset of the bits", weir__image_get64(bytes + AT_BITS_OFFSET),
	            weir__image_bits_offset(h)) &&
	       same(fault, "length", weir__image_get64(bytes + AT_LENGTH), stored) &&
	       (h->members || zero(fault, bytes, AT_MEMBERS, AT_TABLE_OFFSET)) &&
	       zero(fault, bytes, AT_RESERVED_2, AT_MARKS) &&
	       rule(fault, -EFBIG, "bytes of bits", 64 * h->nblocks,
	            given->max_bytes == 0 || 64 * h->nblocks <= given->max_bytes,
	            "at most max_bytes") &&
	       (given->exact && stored ?
	                same(fault, "length of the file", given->length, stored) :
	                rule(fault, -EBADMSG, "length of what is there", given->length,
	                     given->length >= needed, "that of the image"));
}

int weir__image_check(const unsigned char *bytes, const struct weir_image_given *given,
                      struct weir_image_head *out, struct weir_image_fault *fault)
{
	struct weir_image_head head;
	/* set the fault, since the prover (run-eva.sh) cannot see that each failed check sets it */
	*fault = (struct weir_image_fault){ .err = -EBADMSG, .field = "", .rule = "" };
	if (!recognise(bytes, given, fault))
		return fault->err;
	get(bytes, &head);
	if (!marks(bytes, fault) || !fields(&head, fault) || !compound(bytes, &head, fault) ||
	    !check_layout(bytes, &head, given, fault))
		return fault->err;
	*out = head;
	return 0;
}

int weir__image_check_numbers(const unsigned char *bytes, const struct weir_image_head *head,
                              struct weir_image_fault *fault)
{
	static const char *const old[OLD_NUMBERS] = { "words_per_key", "bits_per_word" };
	if (!has_old_numbers(&head->shape))
		return zero(fault, bytes, AT_OLD_NUMBERS, AT_BLOCKS) ? 0 : fault->err;
	for (unsigned i = 0; i < OLD_NUMBERS; i++) {
		uint32_t n = head->shape.field[i];
		if (!rule(fault, -EBADMSG, old[i], n, n >= 1 && n <= 64, "1 to 64"))
			return fault->err;
	}
	return zero(fault, bytes, AT_NUMBERS, AT_RESERVED_2) ? 0 : fault->err;
}

void weir__image_put(unsigned char *bytes, const struct weir_image_head *head)
{
	for (unsigned i = 0; i < WEIR_IMAGE_HEAD; i++)
		bytes[i] = i < sizeof magic ? magic[i] : 0;
	put32(bytes + AT_FORMAT, weir__image_format(head));
	put32(bytes + AT_KIND, head->shape.kind);
	bool old = has_old_numbers(&head->shape);
	for (unsigned i = 0; i < (old ? OLD_NUMBERS : WEIR_SHAPE_FIELDS); i++)
		put32(bytes + (old ? AT_OLD_NUMBERS : AT_NUMBERS) + 4 * i, head->shape.field[i]);
	weir__image_put64(bytes + AT_BLOCKS, head->nblocks);
	weir__image_put64(bytes + AT_CAPACITY, head->capacity);
	weir__image_put64(bytes + AT_RATE, head->rate_bits);
	put32(bytes + AT_HASH, head->hash);
	put32(bytes + AT_SHARDS, head->shards);
	weir__image_put64(bytes + AT_SEED, head->seed);
	weir__image_put64(bytes + AT_GENERATION, head->generation);
	put32(bytes + AT_COMPRESSION, head->compression);
	put32(bytes + AT_MARKS, head->marks);
	weir__steps_put(bytes, &head->text);
	put32(bytes + AT_MEMBERS, head->members);
	for (unsigned i = 0; head->members && i < WEIR_IMAGE_OWN; i++)
		weir__image_put64(bytes + AT_OWN + 8 * i, head->own[i]);
	weir__image_put64(bytes + AT_TABLE_OFFSET, WEIR_IMAGE_HEAD);
	weir__image_put64(bytes + AT_BITS_OFFSET, weir__image_bits_offset(head));
	weir__image_put64(bytes + AT_LENGTH, stored_length(head));
	weir__image_put64(bytes + WEIR_IMAGE_CHECKSUM, head->header_checksum);
	weir__image_put64(bytes + AT_TABLE_CHECKSUM, head->table_checksum);
	weir__image_put64(bytes + WEIR_IMAGE_COMMIT, head->commit);
}
