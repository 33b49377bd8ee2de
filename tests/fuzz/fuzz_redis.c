/* SPDX-License-Identifier: MIT
 * Any bytes as a value that weir-redis.so loads, or as pieces of a dump for LOADCHUNK. The input is
 * refused, or gives a key that serves every command. The key is the same after a save and a load, a
 * dump and a load, a copy, and an append-only file. Anything else aborts. Bit 0 of the first byte
 * chooses CF.* instead of BF.*, and bit 1 chooses pieces instead of a value. Bits 2 to 4 of the
 * first byte are the value's encoding version if it is RedisBloom's, and 0 if it is this module's.
 * A piece is an iterator in 8 bytes, a length in 4, and its bytes. Run by libFuzzer (run-fuzz.sh),
 * or over the corpus by replay.c. */
#include <string.h>
#include "../image_bytes.h"
#include "fuzz_image.h"
#include "redis_server.h"

enum { ITEMS = 40, MOST_PIECES = 400 };

static bool cuckoo;

static struct redis_string text(const char *s)
{
	return (struct redis_string){ s, strlen(s) };
}

/* Return: the command's name with "bf." or "cf." before it. */
static const char *command(const char *name)
{
	static char whole[32];
	snprintf(whole, sizeof whole, "%s.%s", cuckoo ? "cf" : "bf", name);
	return whole;
}

/* Add items, then look them up. An item that was answered with 1 must be found. For BF.*, an item
 * that was answered with 0 was in the key before, so it must be found too. */
static void add_and_look(void)
{
	struct redis_string words[ITEMS + 4], found[ITEMS + 2];
	char items[ITEMS][12];
	int n = 0, there = 2;
	words[n++] = text(command(cuckoo ? "insert" : "madd"));
	words[n++] = text("a");
	if (cuckoo)
		words[n++] = text("ITEMS");
	for (int i = 0; i < ITEMS; i++) {
		snprintf(items[i], sizeof items[i], "%d", i);
		words[n++] = text(items[i]);
	}
	server_call(words, n);
	for (size_t i = 0; i < server_reply.count; i++)
		if (server_reply.numbers[i] == 1 || (!cuckoo && !server_reply.numbers[i]))
			found[there++] = text(items[i]);
	if (there == 2)
		return;
	found[0] = text(command("mexists"));
	found[1] = text("a");
	server_call(found, there);
	MUST(server_reply.count == (size_t)there - 2);
	for (size_t i = 0; i < server_reply.count; i++)
		MUST(server_reply.numbers[i] == 1);
}

static void ask_and_remove(void)
{
	struct redis_string words[] = { { NULL, 0 }, { "a", 1 }, { "7", 1 } };
	words[0] = text(command("info"));
	server_call(words, 2);
	MUST(!server_reply.errors && server_reply.count >= 4);
	words[0] = text(command("exists"));
	server_call(words, 3);
	MUST(server_reply.count == 1);
	if (!cuckoo)
		return;
	words[0] = text("cf.count");
	server_call(words, 3);
	const long long copies = server_reply.numbers[0];
	MUST(copies >= 0);
	words[0] = text("cf.del");
	server_call(words, 3);
	MUST(server_reply.count == 1 && (copies || !server_reply.numbers[0]));
}

/* ---- other ways to the same key ---- */

static void must_be_alike(int key, const struct redis_io *saved)
{
	MUST(server_keys[key].value);
	struct redis_io other = server_save(key);
	MUST(other.bytes == saved->bytes && !memcmp(other.at, saved->at, saved->bytes));
	free(other.at);
}

static void load_into(int key, const struct redis_io *saved, int version)
{
	struct redis_io io = *saved;
	struct redis_type *type = &server_types[cuckoo];
	server_keys[key] = (struct redis_key){ type, type->is.rdb_load(&io, version) };
}

/* Return: true if key b has the whole dump; false if the dump has too many pieces for a test. */
static bool dump_into_b(void)
{
	long long at = 0;
	for (unsigned i = 0; i < MOST_PIECES; i++) {
		char number[24];
		snprintf(number, sizeof number, "%lld", at);
		struct redis_string scan[] = { { NULL, 0 }, { "a", 1 }, text(number) };
		scan[0] = text(command("scandump"));
		server_call(scan, 3);
		MUST(!server_reply.errors && server_reply.count == 1);
		at = server_reply.numbers[0];
		if (!at) /* an empty CF key has no dump */
			return i > 0;
		snprintf(number, sizeof number, "%lld", at);
		unsigned char *piece = server_reply.string;
		server_reply.string = NULL;
		struct redis_string load[] = { { NULL, 0 }, { "b", 1 }, text(number),
			                       { piece, server_reply.bytes } };
		load[0] = text(command("loadchunk"));
		server_call(load, 4);
		MUST(!server_reply.errors);
		free(piece);
	}
	return false;
}

static void save_and_load(void)
{
	struct redis_io saved = server_save(0);
	load_into(3, &saved, SERVER_VERSION);
	must_be_alike(3, &saved);
	server_delete(3);
	free(saved.at);
}

static void carry(void)
{
	const struct redis_methods *is = &server_keys[0].type->is;
	struct redis_io saved = server_save(0);
	MUST(is->mem_usage(server_keys[0].value) > 64);
	MUST(is->free_effort(NULL, server_keys[0].value) < 64);
	if (dump_into_b())
		must_be_alike(1, &saved);
	server_keys[2] = (struct redis_key){ server_keys[0].type,
		                             is->copy(NULL, NULL, server_keys[0].value) };
	must_be_alike(2, &saved);
	server_rewrite(0);
	must_be_alike(3, &saved);
	free(saved.at);
}

/* ---- the input ---- */

static void load_pieces(const uint8_t *data, size_t size)
{
	while (size >= 12) {
		char number[24];
		size_t bytes = image_get(data + 8, 4);
		snprintf(number, sizeof number, "%lld", (long long)image_get(data, 8));
		bytes = bytes < size - 12 ? bytes : size - 12;
		unsigned char *exact = malloc(bytes ? bytes : 1);
		MUST(exact);
		memcpy(exact, data + 12, bytes);
		struct redis_string words[] = { { NULL, 0 }, { "a", 1 }, text(number),
			                        { exact, bytes } };
		words[0] = text(command("loadchunk"));
		server_call(words, 4);
		MUST(server_reply.replies == 1);
		free(exact);
		data += 12 + bytes;
		size -= 12 + bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!server_types[0].is.version)
		server_start("64kb");
	if (!size)
		return 0;
	cuckoo = data[0] & 1;
	if (data[0] & 2)
		load_pieces(data + 1, size - 1);
	else
		load_into(0, &(struct redis_io){ (unsigned char *)data + 1, size - 1, 0, false },
		          data[0] >> 2 & 7 ? data[0] >> 2 & 7 : SERVER_VERSION);
	if (server_keys[0].value) {
		save_and_load();
		add_and_look();
		ask_and_remove();
		carry();
	}
	for (int key = 0; key < SERVER_KEYS; key++)
		server_delete(key);
	return 0;
}
