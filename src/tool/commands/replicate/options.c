/* SPDX-License-Identifier: MIT
 * The options of weir replicate. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands/commands.h"
#include "images/saving.h"
#include "input/file.h"
#include "output/say.h"
#include "output/units.h"
#include "replicate.h"

enum {
	ALL = REPLICATE_ANY & ~REPLICATE_KEY,
	JOIN = ALL & ~REPLICATE_STATUS,
	PUBLISHES = REPLICATE_PUBLISH | REPLICATE_ROLLBACK,
	FIRST = 256, /* value of getopt_long() for known[0], above all letters */
};

enum code { WORD, INSECURE, TIMEOUT, EXPIRES, KEEP, ZSTD, KEYED_BY, REPLACE, FORCE, MAX_AGE,
            GENERATION, JSON, PROMETHEUS, QUIET, HELP };

/* The options, each with the commands that accept it. Other commands refuse the option, since it
 * would have no effect. */
static const struct known {
	const char *name;
	int argument, letter;
	enum code code;
	unsigned commands;
	size_t at; /* for code WORD, the offset of the member in struct replicate */
} known[] = {
#define TEXT(name, commands, member) \
	{ name, required_argument, 0, WORD, commands, offsetof(struct replicate, member) }
	TEXT("set", ALL, options.set),
	TEXT("url", ALL, options.url),
	TEXT("user", ALL, options.user),
	TEXT("password-file", ALL, options.password_file),
	TEXT("ca-file", ALL, options.ca_file),
	TEXT("cert-file", ALL, options.cert_file),
	TEXT("key-file", ALL, options.key_file),
	TEXT("server-name", ALL, options.server_name),
	TEXT("trusted", ALL, options.trusted_keys),
	TEXT("state", ALL, options.state_file),
	TEXT("secret", PUBLISHES, options.secret_key),
	{ "output", required_argument, 'o', WORD, REPLICATE_FOLLOW,
	  offsetof(struct replicate, output) },
#undef TEXT
	{ "insecure", no_argument, 0, INSECURE, ALL, 0 },
	{ "timeout", required_argument, 0, TIMEOUT, ALL, 0 },
	{ "expires", required_argument, 0, EXPIRES, PUBLISHES, 0 },
	{ "keep", required_argument, 0, KEEP, PUBLISHES, 0 },
	{ "zstd", optional_argument, 0, ZSTD, REPLICATE_PUBLISH | REPLICATE_FOLLOW, 0 },
	{ "keyed-by", required_argument, 0, KEYED_BY, JOIN, 0 },
	{ "replace", no_argument, 0, REPLACE, REPLICATE_PUBLISH, 0 },
	{ "force", no_argument, 0, FORCE, JOIN, 0 },
	{ "max-age", required_argument, 0, MAX_AGE, REPLICATE_STATUS, 0 },
	{ "generation", required_argument, 0, GENERATION, REPLICATE_ROLLBACK, 0 },
	{ "json", no_argument, 0, JSON, REPLICATE_STATUS, 0 },
	{ "prometheus", no_argument, 0, PROMETHEUS, REPLICATE_STATUS, 0 },
	{ "quiet", no_argument, 'q', QUIET, ALL, 0 },
	{ "help", no_argument, 'h', HELP, REPLICATE_ANY, 0 },
};

enum { KNOWN = sizeof known / sizeof *known };

static bool take_timeout(struct weir_replica_options *o)
{
	double seconds;
	if (!parse_seconds("--timeout", optarg, 0.1, 3600, &seconds))
		return false;
	o->connect_ms = o->answer_ms = (uint32_t)(seconds * 1000);
	return true;
}

static bool take_generation(struct weir_replica_version *v)
{
	char more;
	const bool digits = strspn(optarg, "0123456789.") == strlen(optarg);
	if (digits && sscanf(optarg, "%19" SCNu64 ".%19" SCNu64 "%c", &v->era, &v->number,
	                     &more) == 2 && v->era && v->number)
		return true;
	say("--generation '%s': allowed: ERA.NUMBER, such as 3.14: weir replicate status shows "
	    "what is kept", optarg);
	return false;
}

static bool take(struct replicate *r, const struct known *k)
{
	struct weir_replica_options *o = &r->options;
	switch (k->code) {
	case WORD:
		*(const char **)(void *)((char *)r + k->at) = optarg;
		return true;
	case INSECURE: return o->insecure = true;
	case TIMEOUT: return take_timeout(o);
	case EXPIRES: return parse_small("--expires", optarg, UINT32_MAX, &o->expires_seconds);
	case KEEP: return parse_small("--keep", optarg, WEIR_REPLICA_KEEP_MOST, &o->keep);
	case ZSTD: return parse_zstd(optarg, &o->zstd_level);
	case KEYED_BY: return (o->secret = keyfile_read(optarg)) != NULL;
	case REPLACE: return r->replace = true;
	case FORCE: return r->force = true;
	case MAX_AGE: return parse_seconds("--max-age", optarg, 1, 1e9, &r->max_age);
	case GENERATION: return take_generation(&r->generation);
	case JSON: return r->json = true;
	case PROMETHEUS: return r->prometheus = true;
	default: return r->quiet = true;
	}
}

/* Refuses options that exclude each other, and options that need another option that is missing. */
static int check_together(const struct replicate *r, unsigned command)
{
	const struct weir_replica_options *o = &r->options;
	if (o->insecure && (o->ca_file || o->server_name))
		return misuse("--insecure takes any certificate: %s has no effect beside it",
		              o->ca_file ? "--ca-file" : "--server-name");
	if (o->trusted_keys && !o->state_file)
		return misuse("--trusted needs --state=FILE, which has the newest version that was "
		              "taken: without it redis could give an old one that was signed");
	if (o->state_file && !o->trusted_keys)
		return misuse("--state is for --trusted, which is missing");
	if (o->secret_key && !o->trusted_keys)
		return misuse("--secret needs --trusted=FILE, the public key, and --state=FILE: "
		              "without them whatever redis has would be signed");
	if (o->expires_seconds && !o->secret_key)
		return misuse("--expires is for --secret, which is missing");
	if (command == REPLICATE_PUBLISH && r->force && !r->replace)
		return misuse("--force is for --replace, which is missing");
	if (r->quiet && (r->json || r->prometheus))
		return misuse("--quiet and %s exclude each other",
		              r->json ? "--json" : "--prometheus");
	return TOOL_OK;
}

int replicate_options(struct replicate *r, unsigned command, int argc, char **argv)
{
	struct option options[KNOWN + 1] = { { 0 } };
	for (int i = 0; i < KNOWN; i++)
		options[i] = (struct option){ known[i].name, known[i].argument, NULL, FIRST + i };
	*r = (struct replicate){ .options = WEIR_REPLICA_OPTIONS_INIT };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		const struct known *k = option < FIRST ? known : known + (option - FIRST);
		while (option < FIRST && k < known + KNOWN && k->letter != option)
			k++;
		if (k == known + KNOWN) /* '?': option_next() has printed a message */
			return misuse_reported();
		if (!(k->commands & command))
			return misuse("--%s has no effect here", k->name);
		if (k->code == HELP)
			return -1;
		if (!take(r, k))
			return misuse_reported();
	}
	if (!r->options.url)
		r->options.url = getenv("WEIR_REDIS_URL");
	r->arguments = argv + optind;
	r->count = argc - optind;
	return check_together(r, command);
}
