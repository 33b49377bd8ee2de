/* SPDX-License-Identifier: MIT
 * Declarations of the part of Redis's module API that this module uses. The first word of a context
 * points to a function that finds each API function by its name. */
#ifndef WEIR_REDIS_ABI_H
#define WEIR_REDIS_ABI_H

#include <stddef.h>
#include <stdint.h>

struct redis_context;
struct redis_string;
struct redis_key;
struct redis_io;
struct redis_type;
struct redis_reply;
struct redis_server_info;
struct redis_command_handle;

enum { REDIS_OK = 0, REDIS_ERR = 1, REDIS_READ = 1, REDIS_WRITE = 2, REDIS_EMPTY = 0 };
enum { REDIS_IO_ERRORS = 1 };                      /* the module handles I/O errors */
/* Flags of a context. */
enum { REDIS_IS_REPLICA = 1 << 3, REDIS_READ_ONLY = 1 << 4, REDIS_REPLICATED = 1 << 12,
       REDIS_LOADING = 1 << 13, REDIS_RESP3 = 1 << 22 };

typedef int redis_command(struct redis_context *, struct redis_string **, int);

/* REDIS_KEY_READ: a command reads its key (RO), and returns data of the key (ACCESS). */
enum { REDIS_KEY_READ = 1 << 0 | 1 << 4, REDIS_BEGIN_INDEX = 2, REDIS_FIND_RANGE = 2 };

struct redis_key_spec {
	const char *notes;
	uint64_t flags;
	int begin_type;
	union {
		int index; /* of the first key */
		struct { const char *keyword; int start; } keyword;
	} begin;
	int find_type;
	union {
		struct { int last, step, limit; } range; /* from the first key on */
		struct { int number, first, step; } counted;
	} find;
};

/* Sizes of the elements of the arrays, by which the server reads those of older modules. */
struct redis_info_version {
	int version;
	size_t history_bytes, key_spec_bytes, argument_bytes;
};

/* Arrays end with an element of zeros. */
struct redis_command_info {
	const struct redis_info_version *version;
	const char *summary, *complexity, *since;
	const void *history;
	const char *tips;
	int arity;
	const struct redis_key_spec *key_specs;
	const void *arguments;
};

/* Version 4 of a type's callbacks, from Redis 7.0. */
struct redis_methods {
	uint64_t version;
	void *(*rdb_load)(struct redis_io *, int);
	void (*rdb_save)(struct redis_io *, void *);
	void (*aof_rewrite)(struct redis_io *, struct redis_string *, void *);
	size_t (*mem_usage)(const void *);
	void (*digest)(void *, void *);
	void (*free)(void *);
	int (*aux_load)(struct redis_io *, int, int);
	void (*aux_save)(struct redis_io *, int);
	int aux_save_triggers;
	size_t (*free_effort)(struct redis_string *, const void *);
	void (*unlink)(struct redis_string *, const void *);
	void *(*copy)(struct redis_string *, struct redis_string *, const void *);
	int (*defrag)(void *, struct redis_string *, void **);
	size_t (*mem_usage2)(void *, const void *, size_t);
	size_t (*free_effort2)(void *, const void *);
	void (*unlink2)(void *, const void *);
	void *(*copy2)(void *, const void *);
};

/* X(return type, name, parameters) */
#define REDIS_FUNCTIONS(X) \
	X(void, SetModuleAttribs, (struct redis_context *, const char *, int, int)) \
	X(void, SetModuleOptions, (struct redis_context *, int)) \
	X(int, CreateCommand, (struct redis_context *, const char *, redis_command *, \
	                       const char *, int, int, int)) \
	X(struct redis_command_handle *, GetCommand, (struct redis_context *, const char *)) \
	X(int, SetCommandInfo, (struct redis_command_handle *, \
	                        const struct redis_command_info *)) \
	X(struct redis_type *, CreateDataType, (struct redis_context *, const char *, int, \
	                                        struct redis_methods *)) \
	X(void, Log, (struct redis_context *, const char *, const char *, ...)) \
	X(void, LogIOError, (struct redis_io *, const char *, const char *, ...)) \
	X(void *, TryAlloc, (size_t)) \
	X(void, Free, (void *)) \
	X(size_t, MallocSize, (void *)) \
	X(long long, Milliseconds, (void)) \
	X(void, GetRandomBytes, (unsigned char *, size_t)) \
	X(int, GetContextFlags, (struct redis_context *)) \
	X(int, WrongArity, (struct redis_context *)) \
	X(struct redis_key *, OpenKey, (struct redis_context *, struct redis_string *, int)) \
	X(void, CloseKey, (struct redis_key *)) \
	X(int, KeyType, (struct redis_key *)) \
	X(struct redis_type *, ModuleTypeGetType, (struct redis_key *)) \
	X(void *, ModuleTypeGetValue, (struct redis_key *)) \
	X(int, ModuleTypeSetValue, (struct redis_key *, struct redis_type *, void *)) \
	X(int, Replicate, (struct redis_context *, const char *, const char *, ...)) \
	X(int, ReplicateVerbatim, (struct redis_context *)) \
	X(void, DigestAddStringBuffer, (void *, const char *, size_t)) \
	X(void, DigestEndSequence, (void *)) \
	X(void, EmitAOF, (struct redis_io *, const char *, const char *, ...)) \
	X(const char *, StringPtrLen, (const struct redis_string *, size_t *)) \
	X(int, StringToLongLong, (const struct redis_string *, long long *)) \
	X(int, StringToDouble, (const struct redis_string *, double *)) \
	X(int, ReplyWithError, (struct redis_context *, const char *)) \
	X(int, ReplyWithSimpleString, (struct redis_context *, const char *)) \
	X(int, ReplyWithStringBuffer, (struct redis_context *, const char *, size_t)) \
	X(int, ReplyWithLongLong, (struct redis_context *, long long)) \
	X(int, ReplyWithBool, (struct redis_context *, int)) \
	X(int, ReplyWithNull, (struct redis_context *)) \
	X(int, ReplyWithArray, (struct redis_context *, long)) \
	X(int, ReplyWithMap, (struct redis_context *, long)) \
	X(void, ReplySetArrayLength, (struct redis_context *, long)) \
	X(void, SaveUnsigned, (struct redis_io *, uint64_t)) \
	X(uint64_t, LoadUnsigned, (struct redis_io *)) \
	X(void, SaveDouble, (struct redis_io *, double)) \
	X(double, LoadDouble, (struct redis_io *)) \
	X(void, SaveStringBuffer, (struct redis_io *, const char *, size_t)) \
	X(char *, LoadStringBuffer, (struct redis_io *, size_t *)) \
	X(int, IsIOError, (struct redis_io *)) \
	X(struct redis_string *, CreateString, (struct redis_context *, const char *, size_t)) \
	X(void, FreeString, (struct redis_context *, struct redis_string *)) \
	X(struct redis_reply *, Call, (struct redis_context *, const char *, const char *, ...)) \
	X(const char *, CallReplyProto, (struct redis_reply *, size_t *)) \
	X(void, FreeCallReply, (struct redis_reply *)) \
	X(float, GetUsedMemoryRatio, (void)) \
	X(struct redis_server_info *, GetServerInfo, (struct redis_context *, const char *)) \
	X(void, FreeServerInfo, (struct redis_context *, struct redis_server_info *)) \
	X(const char *, ServerInfoGetFieldC, (struct redis_server_info *, const char *)) \
	X(unsigned long long, ServerInfoGetFieldUnsigned, (struct redis_server_info *, \
	                                                   const char *, int *))

/* Functions that a server may lack; the pointer is NULL then. */
#define REDIS_OPTIONAL(X) \
	X(int, AddACLCategory, (struct redis_context *, const char *)) \
	X(int, SetCommandACLCategories, (struct redis_command_handle *, const char *))

struct redis_api {
#define REDIS_MEMBER(result, name, arguments) result (*name) arguments;
	REDIS_FUNCTIONS(REDIS_MEMBER)
	REDIS_OPTIONAL(REDIS_MEMBER)
#undef REDIS_MEMBER
};
extern struct redis_api redis;

/* Return: NULL, or the name of an API function that this server lacks. */
const char *redis_find(struct redis_context *context);

#endif
