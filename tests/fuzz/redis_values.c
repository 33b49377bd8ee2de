/* SPDX-License-Identifier: MIT
 * The stand-in for redis-server: values as streams, and commands of an append-only file. */
#include <stdarg.h>
#include <string.h>
#include "fuzz_image.h"
#include "redis_server.h"

static void put(struct redis_io *io, const void *from, size_t bytes)
{
	if (io->bytes + bytes > io->room) {
		io->room = 2 * (io->bytes + bytes);
		io->at = realloc(io->at, io->room);
		MUST(io->at);
	}
	memcpy(io->at + io->bytes, from, bytes);
	io->bytes += bytes;
}

static void take(struct redis_io *io, void *to, size_t bytes)
{
	memset(to, 0, bytes);
	io->failed |= bytes > io->bytes;
	if (io->failed)
		return;
	memcpy(to, io->at, bytes);
	io->at += bytes;
	io->bytes -= bytes;
}

void fake_SaveUnsigned(struct redis_io *io, uint64_t n)
{
	put(io, &n, sizeof n);
}

uint64_t fake_LoadUnsigned(struct redis_io *io)
{
	uint64_t n;
	take(io, &n, sizeof n);
	return n;
}

void fake_SaveDouble(struct redis_io *io, double n)
{
	put(io, &n, sizeof n);
}

double fake_LoadDouble(struct redis_io *io)
{
	double n;
	take(io, &n, sizeof n);
	return n;
}

void fake_SaveStringBuffer(struct redis_io *io, const char *at, size_t bytes)
{
	fake_SaveUnsigned(io, bytes);
	put(io, at, bytes);
}

char *fake_LoadStringBuffer(struct redis_io *io, size_t *bytes)
{
	*bytes = fake_LoadUnsigned(io);
	io->failed |= *bytes > io->bytes;
	char *s = io->failed ? NULL : malloc(*bytes ? *bytes : 1);
	if (s)
		take(io, s, *bytes);
	return s;
}

int fake_IsIOError(struct redis_io *io)
{
	return io->failed;
}

struct redis_io server_save(int key)
{
	struct redis_io io = { NULL, 0, 0, false };
	server_keys[key].type->is.rdb_save(&io, server_keys[key].value);
	return io;
}

/* ---- the append-only file ---- */

/* Run the command at once, on key "d". */
void fake_EmitAOF(struct redis_io *io, const char *name, const char *format, ...)
{
	struct redis_string words[SERVER_WORDS] = { { name, strlen(name) }, { "d", 1 } };
	char numbers[SERVER_WORDS][24];
	int n = 2;
	va_list list;
	va_start(list, format);
	MUST(io && *format == 's' && va_arg(list, struct redis_string *));
	while (*++format) {
		struct redis_string *w = &words[n];
		if (*format == 'l') {
			w->bytes = (size_t)snprintf(numbers[n], sizeof *numbers, "%lld",
			                            va_arg(list, long long));
			w->at = numbers[n++];
			continue;
		}
		MUST(*format == 'b' || *format == 'c');
		w->at = va_arg(list, const char *);
		w->bytes = *format == 'b' ? va_arg(list, size_t) : strlen(w->at);
		n++;
	}
	va_end(list);
	server_flags = REDIS_LOADING;
	server_call(words, n);
	server_flags = 0;
	MUST(!server_reply.errors);
}

void server_rewrite(int from)
{
	struct redis_string name = { "d", 1 };
	struct redis_io io = { NULL, 0, 0, false };
	server_keys[from].type->is.aof_rewrite(&io, &name, server_keys[from].value);
}
