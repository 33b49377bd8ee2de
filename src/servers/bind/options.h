/* SPDX-License-Identifier: MIT
 * The plugin's parameters, between the braces in named.conf. */
#ifndef WEIR_SERVERS_BIND_OPTIONS_H
#define WEIR_SERVERS_BIND_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/secret.h>
#include "bind.h"

enum answer { ANSWER_NXDOMAIN, ANSWER_NODATA, ANSWER_ADDRESS, ANSWERS };
/* The action on queries until each image has been loaded once. */
enum on_error { ON_ERROR_PASS, ON_ERROR_SERVFAIL, ON_ERROR_FAIL };

extern const char *const answer_names[ANSWERS + 1]; /* terminated by NULL */

enum { NAME_MOST = 64 };

/* The secret key of keyed images. */
struct secret {
	bool given;
	unsigned char bytes[WEIR_SECRET_BYTES];
};

struct options {
	char *file;            /* paths are absolute */
	char *allow_file;      /* NULL: none */
	char *statistics_file; /* NULL: none */
	struct secret key, allow_key; /* secret keys of the two images */
	char name[NAME_MOST + 1];
	enum answer answer;
	enum on_error on_error;
	bool log;
	bool has_ipv4, has_ipv6;
	unsigned char ipv4[4], ipv6[16];
	uint32_t ttl;                 /* seconds */
	uint32_t statistics_interval; /* seconds */
	uint64_t max_size;            /* limit in bytes of an image's bits */
};

/* The location of a plugin's parameters in the configuration. */
struct place {
	const char *parameters, *file;
	unsigned long line; /* first line of the parameters */
	isc_mem_t *mctx;
	isc_log_t *lctx;
};

/* Make a location from named's arguments. @line: the parameters' last line, as named passes it. */
struct place location_of(const char *parameters, const char *file, unsigned long line,
                         isc_mem_t *mctx, isc_log_t *lctx);

/* Parse and check the parameters. Logs each error with file and line. Free @out in any case. */
isc_result_t options_read(struct options *out, const struct place *place);
void options_free(struct options *o);

#endif
