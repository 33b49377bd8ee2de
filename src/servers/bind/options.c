/* SPDX-License-Identifier: MIT
 * named's own parser reads the parameters, so an unknown word, a missing semicolon or a word
 * instead of a number gets the usual error message. This file checks the rest. */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "options.h"

const char *const answer_names[ANSWERS + 1] = { "nxdomain", "nodata", "address", NULL };
static const char *const on_error_names[] = { "pass", "servfail", "fail", NULL };

static cfg_type_t type_answer = { "answer", cfg_parse_enum, cfg_print_ustring, cfg_doc_enum,
	                          &cfg_rep_string, answer_names };
static cfg_type_t type_on_error = { "on-error", cfg_parse_enum, cfg_print_ustring, cfg_doc_enum,
	                            &cfg_rep_string, on_error_names };

static cfg_clausedef_t clauses[] = {
	{ "file", &cfg_type_qstring, 0 },
	{ "keyed-by", &cfg_type_qstring, 0 },
	{ "allow-file", &cfg_type_qstring, 0 },
	{ "allow-keyed-by", &cfg_type_qstring, 0 },
	{ "name", &cfg_type_qstring, 0 },
	{ "answer", &type_answer, 0 },
	{ "ipv4-address", &cfg_type_netaddr4, 0 },
	{ "ipv6-address", &cfg_type_netaddr6, 0 },
	{ "ttl", &cfg_type_duration, 0 },
	{ "on-error", &type_on_error, 0 },
	{ "log", &cfg_type_boolean, 0 },
	{ "max-size", &cfg_type_astring, 0 },
	{ "statistics-file", &cfg_type_qstring, 0 },
	{ "statistics-interval", &cfg_type_duration, 0 },
	{ NULL, NULL, 0 },
};
static cfg_clausedef_t *clause_sets[] = { clauses, NULL };
static cfg_type_t type_parameters = { "weir-blocklist-parameters", cfg_parse_mapbody,
	                              cfg_print_mapbody, cfg_doc_mapbody, &cfg_rep_map,
	                              clause_sets };

/* The state of one read. */
struct reading {
	struct options *o;
	const cfg_obj_t *map;
	const struct place *place;
	isc_result_t result; /* a failure if any check failed; all checks run */
};

/* Log an error. The parser reads a string, so @object knows its line but not its file.
 * @object: the parameter; NULL: it is missing */
static void ISC_FORMAT_PRINTF(3, 4) log_error(struct reading *r, const cfg_obj_t *object,
                                              const char *format, ...)
{
	char sentence[2 * PATH_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	isc_log_write(r->place->lctx, NS_LOGCATEGORY_GENERAL, NS_LOGMODULE_HOOKS, ISC_LOG_ERROR,
	              "%s:%lu: weir-blocklist: %s", r->place->file,
	              object ? cfg_obj_line(object) : r->place->line, sentence);
	r->result = ISC_R_FAILURE;
}

static const cfg_obj_t *get(const struct reading *r, const char *name)
{
	const cfg_obj_t *found = NULL;
	return cfg_map_get(r->map, name, &found) == ISC_R_SUCCESS ? found : NULL;
}

/* Return an absolute path, since named later changes its folder ("directory"). */
static char *path_of(struct reading *r, const char *name)
{
	const cfg_obj_t *object = get(r, name);
	char here[PATH_MAX] = "", *path = NULL;
	if (!object)
		return NULL;
	const char *text = cfg_obj_asstring(object);
	size_t len = strlen(text);
	if (len == 0) {
		log_error(r, object, "'%s' is empty", name);
		return NULL;
	}
	if (text[0] != '/' && !getcwd(here, sizeof here)) {
		log_error(r, object, "'%s' is relative, and the current folder has no name", name);
		return NULL;
	}
	size_t bytes = strlen(here) + len + 2;
	if (bytes > PATH_MAX) {
		log_error(r, object, "'%s' has %zu bytes, at most %d are allowed", name, bytes - 1,
		          PATH_MAX - 1);
		return NULL;
	}
	path = malloc(bytes);
	if (!path) {
		r->result = ISC_R_NOMEMORY;
		return NULL;
	}
	strcpy(stpcpy(stpcpy(path, here), text[0] == '/' ? "" : "/"), text);
	return path;
}

static void secret_of(struct reading *r, const char *name, struct secret *out)
{
	char *path = path_of(r, name);
	if (!path)
		return;
	out->given = weir_secret_read(out->bytes, path) == 0;
	if (!out->given)
		log_error(r, get(r, name), "'%s': %s", name, weir_error_detail());
	free(path);
}

static int chosen(const struct reading *r, const char *name, const char *const *names)
{
	const cfg_obj_t *object = get(r, name);
	int at = 0;
	/* the parser accepts only these names, in upper or lower case */
	while (object && names[at + 1] && strcasecmp(cfg_obj_asstring(object), names[at]) != 0)
		at++;
	return at;
}

static uint32_t seconds(struct reading *r, const char *name, uint32_t least, uint32_t otherwise)
{
	const cfg_obj_t *object = get(r, name);
	if (!object)
		return otherwise;
	uint32_t value = cfg_obj_asduration(object);
	if (value < least || value > 86400)
		log_error(r, object, "'%s' is %u seconds, not %u to 86400", name, value, least);
	return value;
}

static bool address(const struct reading *r, const char *name, void *out, size_t bytes)
{
	const cfg_obj_t *object = get(r, name);
	if (!object)
		return false;
	isc_netaddr_t net;
	isc_netaddr_fromsockaddr(&net, cfg_obj_assockaddr(object));
	memcpy(out, &net.type, bytes); /* a union: both in and in6 begin with the address */
	return true;
}

/* Parse a number of bytes, or of KiB, MiB or GiB with k, m or g after the number. */
static uint64_t size(struct reading *r, const char *name, uint64_t otherwise)
{
	const cfg_obj_t *object = get(r, name);
	if (!object)
		return otherwise;
	const char *text = cfg_obj_asstring(object);
	char *end;
	unsigned long long value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
	unsigned shift = 0;
	if (value > 0 && *end) {
		const char *units = "kmg", *unit = strchr(units, tolower((unsigned char)*end));
		shift = unit && !end[1] ? 10 * (unsigned)(unit - units + 1) : 64;
	}
	if (value == 0 || shift == 64 || value > UINT64_MAX >> 16 >> shift) {
		log_error(r, object, "'%s' is '%s', not a number of bytes such as 1048576, 512m or "
		          "2g", name, text);
		return otherwise;
	}
	return (uint64_t)value << shift;
}

/* Set the list's name, which is a label in the statistics. Without the parameter, use the last part
 * of the file's path. */
static void name_of(struct reading *r)
{
	const cfg_obj_t *object = get(r, "name");
	const char *text = object ? cfg_obj_asstring(object) : r->o->file;
	char *to = r->o->name;
	if (!text)
		return;
	const char *last = strrchr(text, '/');
	if (!object && last)
		text = last + 1;
	size_t len = strlen(text);
	bool bad = len == 0 || len > NAME_MOST;
	for (size_t i = 0; i < len && i < NAME_MOST; i++) {
		bool fine = isalnum((unsigned char)text[i]) || strchr("._-", text[i]);
		bad |= !fine;
		*to++ = fine ? text[i] : '_';
	}
	*to = '\0';
	if (object && bad)
		log_error(r, object, "'name' is '%s', not 1 to %d letters, digits, '.', '_' or '-'",
		          text, NAME_MOST);
}

static void check_address(struct reading *r)
{
	struct options *o = r->o;
	const cfg_obj_t *at = o->has_ipv4 ? get(r, "ipv4-address") : get(r, "ipv6-address");
	if (o->answer == ANSWER_ADDRESS && !at)
		log_error(r, get(r, "answer"), "'answer address' needs 'ipv4-address', "
		          "'ipv6-address' or both");
	else if (o->answer != ANSWER_ADDRESS && at)
		log_error(r, at, "an address needs 'answer address', the answer is '%s'",
		          answer_names[o->answer]);
}

static void read_all(struct reading *r)
{
	struct options *o = r->o;
	o->file = path_of(r, "file");
	o->allow_file = path_of(r, "allow-file");
	secret_of(r, "keyed-by", &o->key);
	secret_of(r, "allow-keyed-by", &o->allow_key);
	if (!get(r, "allow-file") && get(r, "allow-keyed-by"))
		log_error(r, get(r, "allow-keyed-by"), "'allow-keyed-by' needs 'allow-file'");
	o->statistics_file = path_of(r, "statistics-file");
	if (!get(r, "file"))
		log_error(r, NULL, "'file' is missing: the image of the domains to block");
	if (o->statistics_file && o->file &&
	    (strcmp(o->statistics_file, o->file) == 0 ||
	     (o->allow_file && strcmp(o->statistics_file, o->allow_file) == 0)))
		log_error(r, get(r, "statistics-file"), "'statistics-file' is an image");
	if (!o->statistics_file && get(r, "statistics-interval"))
		log_error(r, get(r, "statistics-interval"),
		          "'statistics-interval' needs 'statistics-file'");
	name_of(r);
	o->answer = (enum answer)chosen(r, "answer", answer_names);
	o->on_error = (enum on_error)chosen(r, "on-error", on_error_names);
	o->has_ipv4 = address(r, "ipv4-address", o->ipv4, sizeof o->ipv4);
	o->has_ipv6 = address(r, "ipv6-address", o->ipv6, sizeof o->ipv6);
	check_address(r);
	o->ttl = seconds(r, "ttl", 0, 60);
	o->statistics_interval = seconds(r, "statistics-interval", 1, 10);
	o->log = !get(r, "log") || cfg_obj_asboolean(get(r, "log"));
	o->max_size = size(r, "max-size", (uint64_t)1 << 30);
}

struct place location_of(const char *parameters, const char *file, unsigned long line,
                         isc_mem_t *mctx, isc_log_t *lctx)
{
	unsigned long lines = 0;
	for (const char *at = parameters; at && (at = strchr(at, '\n')); at++)
		lines++;
	return (struct place){ parameters ? parameters : "", file,
		               lines < line ? line - lines : line, mctx, lctx };
}

isc_result_t options_read(struct options *out, const struct place *place)
{
	const char *text = place->parameters;
	cfg_parser_t *parser = NULL;
	cfg_obj_t *map = NULL;
	isc_buffer_t buffer;
	char where[PATH_MAX + 24]; /* the parser logs this text without a line number */
	snprintf(where, sizeof where, "%s:%lu", place->file, place->line);
	memset(out, 0, sizeof *out);
	isc_result_t result = cfg_parser_create(place->mctx, place->lctx, &parser);
	if (result != ISC_R_SUCCESS)
		return result;
	isc_buffer_constinit(&buffer, text, strlen(text));
	isc_buffer_add(&buffer, (unsigned)strlen(text));
	result = cfg_parse_buffer(parser, &buffer, where, (unsigned)place->line,
	                          &type_parameters, 0, &map);
	if (result == ISC_R_SUCCESS) {
		struct reading r = { out, map, place, ISC_R_SUCCESS };
		read_all(&r);
		result = r.result;
		cfg_obj_destroy(parser, &map);
	}
	cfg_parser_destroy(&parser);
	return result;
}

void options_free(struct options *o)
{
	free(o->file);
	free(o->allow_file);
	free(o->statistics_file);
	explicit_bzero(&o->key, sizeof o->key);
	explicit_bzero(&o->allow_key, sizeof o->allow_key);
}
