/* SPDX-License-Identifier: MIT
 * The stand-in for redis-server: registrations, and requests of a test. */
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include "fuzz_image.h"
#include "redis_server.h"

struct redis_key server_keys[SERVER_KEYS];
struct redis_type server_types[3];
struct server_reply server_reply;

enum { COMMANDS = 64 };

struct redis_context {
	int (*get)(const char *name, void *function);
};

static struct {
	const char *name;
	redis_command *function;
} commands[COMMANDS];
static size_t command_count, type_count;

static const struct {
	const char *name;
	void (*function)(void);
} functions[] = {
#define FAKE(result, name, arguments) { "RedisModule_" #name, (void (*)(void))fake_##name },
	REDIS_FUNCTIONS(FAKE)
#undef FAKE
};

static int get_function(const char *name, void *function)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (!strcmp(functions[i].name, name)) {
			memcpy(function, &functions[i].function, sizeof functions[i].function);
			return REDIS_OK;
		}
	}
	return REDIS_ERR;
}

static struct redis_context context = { get_function };
int server_flags;

/* ---- registrations ---- */

void fake_SetModuleAttribs(struct redis_context *c, const char *name, int version, int api)
{
	MUST(c && name && version && api);
}

void fake_SetModuleOptions(struct redis_context *c, int options)
{
	MUST(c && options == REDIS_IO_ERRORS);
}

int fake_CreateCommand(struct redis_context *c, const char *name, redis_command *function,
                       const char *words, int first, int last, int step)
{
	MUST(c && words && first && last && step && command_count < COMMANDS);
	commands[command_count].name = name;
	commands[command_count++].function = function;
	return REDIS_OK;
}

struct redis_command_handle *fake_GetCommand(struct redis_context *c, const char *name)
{
	MUST(c && command_count && !strcmp(commands[command_count - 1].name, name));
	return (struct redis_command_handle *)&commands[command_count - 1];
}

int fake_SetCommandInfo(struct redis_command_handle *handle, const struct redis_command_info *info)
{
	MUST(handle && info->version->version == 1 && info->arity);
	return REDIS_OK;
}

struct redis_type *fake_CreateDataType(struct redis_context *c, const char *name, int version,
                                       struct redis_methods *methods)
{
	MUST(c && strlen(name) == 9 && (version == SERVER_VERSION || version == 1) &&
	     type_count < sizeof server_types / sizeof *server_types);
	server_types[type_count].is = *methods;
	return &server_types[type_count++];
}

void fake_Log(struct redis_context *c, const char *level, const char *format, ...)
{
	MUST(c && level && format);
}

void fake_LogIOError(struct redis_io *io, const char *level, const char *format, ...)
{
	char line[WEIR_SENTENCE_BYTES + 100];
	va_list list;
	va_start(list, format);
	MUST(io && level && vsnprintf(line, sizeof line, format, list) > 0);
	va_end(list);
}

/* ---- requests of a test ---- */

int RedisModule_OnLoad(struct redis_context *, struct redis_string **, int);

void server_start(const char *most)
{
	struct redis_string words[] = { { "max-bytes", 9 }, { most, strlen(most) } };
	struct redis_string *argv[] = { &words[0], &words[1] };
	MUST(RedisModule_OnLoad(&context, argv, 2) == REDIS_OK && type_count == 3);
}

void server_call(const struct redis_string *words, int n)
{
	struct redis_string copy[SERVER_WORDS], *argv[SERVER_WORDS];
	size_t i = 0;
	MUST(n <= SERVER_WORDS);
	for (int k = 0; k < n; k++) {
		copy[k] = words[k];
		argv[k] = &copy[k];
	}
	while (i < command_count && strcasecmp(commands[i].name, words[0].at))
		i++;
	MUST(i < command_count);
	server_reply.count = server_reply.errors = server_reply.replies = 0;
	commands[i].function(&context, argv, n);
	MUST(server_reply.replies);
}

void server_delete(int key)
{
	if (server_keys[key].value)
		server_keys[key].type->is.free(server_keys[key].value);
	server_keys[key] = (struct redis_key){ NULL, NULL };
}
