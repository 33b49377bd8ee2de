/* SPDX-License-Identifier: MIT
 * The options of weir replicate. */
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
	SET = 256, URL, USER, PASSWORD_FILE, CA_FILE, CERT_FILE, KEY_FILE,
	SERVER_NAME, INSECURE, TRUSTED, SECRET, IMAGE_URL, IMAGE_CA, IMAGE_HTTP, IMAGE_FOLDER, KEEP,
	READ_URL, ZSTD, STREAM, KEYED_BY, REPLACE, MAX_AGE, GENERATION, JSON, PROMETHEUS, TIMEOUT,
	FORCE,
};

static const struct option options[] = {
	{ "set", required_argument, NULL, SET },
	{ "url", required_argument, NULL, URL },
	{ "user", required_argument, NULL, USER },
	{ "password-file", required_argument, NULL, PASSWORD_FILE },
	{ "ca-file", required_argument, NULL, CA_FILE },
	{ "cert-file", required_argument, NULL, CERT_FILE },
	{ "key-file", required_argument, NULL, KEY_FILE },
	{ "server-name", required_argument, NULL, SERVER_NAME },
	{ "insecure", no_argument, NULL, INSECURE },
	{ "timeout", required_argument, NULL, TIMEOUT },
	{ "trusted", required_argument, NULL, TRUSTED },
	{ "secret", required_argument, NULL, SECRET },
	{ "image-url", required_argument, NULL, IMAGE_URL },
	{ "image-ca", required_argument, NULL, IMAGE_CA },
	{ "image-http", no_argument, NULL, IMAGE_HTTP },
	{ "image-folder", required_argument, NULL, IMAGE_FOLDER },
	{ "read-url", required_argument, NULL, READ_URL },
	{ "keep", required_argument, NULL, KEEP },
	{ "zstd", optional_argument, NULL, ZSTD },
	{ "stream", required_argument, NULL, STREAM },
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	{ "replace", no_argument, NULL, REPLACE },
	{ "force", no_argument, NULL, FORCE },
	{ "max-age", required_argument, NULL, MAX_AGE },
	{ "generation", required_argument, NULL, GENERATION },
	{ "json", no_argument, NULL, JSON },
	{ "prometheus", no_argument, NULL, PROMETHEUS },
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool take_timeout(struct weir_replica_options *o)
{
	double seconds;
	if (!parse_seconds("--timeout", optarg, 0.1, 3600, &seconds))
		return false;
	o->connect_ms = o->answer_ms = (uint32_t)(seconds * 1000);
	return true;
}

static bool take_stream(struct weir_replica_options *o)
{
	o->stream_keys = strcmp(optarg, "keys") == 0;
	if (o->stream_keys || strcmp(optarg, "hashes") == 0)
		return true;
	say("--stream=%s: it is hashes or keys", optarg);
	return false;
}

static bool take_word(struct weir_replica_options *o, int option)
{
	const struct {
		int option;
		const char **to;
	} words[] = {
		{ SET, &o->set },
		{ URL, &o->url },
		{ USER, &o->user },
		{ PASSWORD_FILE, &o->password_file },
		{ CA_FILE, &o->ca_file },
		{ CERT_FILE, &o->cert_file },
		{ KEY_FILE, &o->key_file },
		{ SERVER_NAME, &o->server_name },
		{ TRUSTED, &o->trusted_keys },
		{ SECRET, &o->secret_key },
		{ IMAGE_URL, &o->image_url },
		{ IMAGE_CA, &o->image_ca_file },
		{ IMAGE_FOLDER, &o->image_folder },
		{ READ_URL, &o->read_url },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (words[i].option != option)
			continue;
		*words[i].to = optarg;
		return true;
	}
	return false;
}

static bool take(struct replicate *r, int option)
{
	struct weir_replica_options *o = &r->options;
	switch (option) {
	case INSECURE: return o->insecure = true;
	case IMAGE_HTTP: return o->image_http = true;
	case TIMEOUT: return take_timeout(o);
	case KEEP:
		return parse_small("--keep", optarg, WEIR_REPLICA_KEEP_MOST, &o->keep);
	case ZSTD: return parse_zstd(optarg, &r->zstd_level);
	case STREAM: return take_stream(o);
	case KEYED_BY: return (o->secret = keyfile_read(optarg)) != NULL;
	case REPLACE: return r->replace = true;
	case FORCE: return r->force = true;
	case MAX_AGE: return parse_seconds("--max-age", optarg, 1, 1e9, &r->max_age);
	case GENERATION:
		return parse_number("--generation", optarg, 1, UINT64_MAX, &r->generation);
	case JSON: return r->json = true;
	case PROMETHEUS: return r->prometheus = true;
	case 'o': return (r->output = optarg) != NULL;
	case 'q': return r->quiet = true;
	default: return take_word(o, option);
	}
}

/* Which commands an option is for: what it would not change in another, it is refused there. */
static unsigned commands_of(int option)
{
	switch (option) {
	case REPLACE:
	case IMAGE_FOLDER:
	case STREAM: return REPLICATE_PUBLISH;
	case FORCE:
	case 'o': return REPLICATE_FOLLOW;
	case MAX_AGE:
	case JSON:
	case PROMETHEUS: return REPLICATE_STATUS;
	case GENERATION: return REPLICATE_ROLLBACK;
	case SECRET:
	case KEEP: return REPLICATE_PUBLISH | REPLICATE_ROLLBACK;
	case ZSTD: return REPLICATE_PUBLISH | REPLICATE_FOLLOW;
	case TRUSTED:
	case IMAGE_URL:
	case IMAGE_CA:
	case IMAGE_HTTP:
	case READ_URL:
	case KEYED_BY: return REPLICATE_PUBLISH | REPLICATE_FOLLOW | REPLICATE_ROLLBACK;
	case 'h':
	case '?': return REPLICATE_ANY;
	default: return REPLICATE_ANY & ~REPLICATE_KEY; /* of the set, and of the connection */
	}
}

static const char *name_of(int option)
{
	for (const struct option *o = options; o->name; o++)
		if (o->val == option)
			return o->name;
	return "";
}

/* Those that are for this command, and do nothing beside another, or without it. */
static int check_together(const struct replicate *r)
{
	const struct weir_replica_options *o = &r->options;
	if (!o->image_url && (o->image_ca_file || o->image_http))
		return misuse("%s is for --image-url, which is missing",
		              o->image_ca_file ? "--image-ca" : "--image-http");
	if (o->insecure && (o->ca_file || o->server_name))
		return misuse("--insecure takes any certificate: %s has no effect beside it",
		              o->ca_file ? "--ca-file" : "--server-name");
	if (r->quiet && (r->json || r->prometheus))
		return misuse("--quiet and %s exclude each other",
		              r->json ? "--json" : "--prometheus");
	return TOOL_OK;
}

int replicate_options(struct replicate *r, unsigned command, int argc, char **argv)
{
	*r = (struct replicate){ .options = WEIR_REPLICA_OPTIONS_INIT };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		if (!(commands_of(option) & command))
			return misuse("--%s has no effect here", name_of(option));
		if (option == 'h')
			return -1;
		if (!take(r, option))
			return misuse_reported();
	}
	if (!r->options.url)
		r->options.url = getenv("WEIR_REDIS_URL");
	r->options.zstd_level = r->zstd_level;
	r->arguments = argv + optind;
	r->count = argc - optind;
	return check_together(r);
}
