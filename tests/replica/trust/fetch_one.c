/* SPDX-License-Identifier: MIT
 * Fetch one image as weir__fetch() does, for test_fetch.py. Options are NAME=VALUE, as in
 * struct weir_fetch_options; stop: a file's name, and the answer is whether it exists. Prints the
 * error's name and sentence in a line each, then the bytes if there was none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "trust/fetch.h"

static bool exists(void *name)
{
	return access(name, F_OK) == 0;
}

static const char *value_of(const char *text, const char *name)
{
	size_t len = strlen(name);
	return strncmp(text, name, len) == 0 && text[len] == '=' ? text + len + 1 : NULL;
}

static bool take(struct weir_fetch_options *o, char *text)
{
	const struct { const char *name; unsigned *number; } numbers[] = {
		{ "connect_ms", &o->connect_ms }, { "stall_s", &o->stall_s },
		{ "tries", &o->tries }, { "pause_ms", &o->pause_ms },
	};
	const char *value;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if ((value = value_of(text, numbers[i].name)) != NULL) {
			*numbers[i].number = (unsigned)strtoul(value, NULL, 10);
			return true;
		}
	}
	if ((value = value_of(text, "ca_file")) != NULL)
		o->ca_file = value;
	else if (strcmp(text, "allow_http=1") == 0)
		o->allow_http = true;
	else if ((value = value_of(text, "stop")) != NULL)
		o->stop = exists, o->context = text + strlen("stop=");
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct weir_fetch_options o = { .base_url = argc > 3 ? argv[1] : NULL };
	for (int i = 4; i < argc; i++)
		if (!take(&o, argv[i]))
			return 2;
	uint64_t bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	char *image = malloc(bytes ? bytes : 1); /* exactly, for AddressSanitizer */
	if (argc < 4 || !image)
		return 2;
	int checked = weir__fetch_check(&o);
	int err = weir__fetch(&o, argv[2], image, bytes);
	if (checked && checked != err) /* what it refuses, a fetch refuses too */
		return 3;
	printf("%s\n%s\n", err ? weir_error_name(err) : "0", err ? weir_error_detail() : "");
	if (!err)
		fwrite(image, 1, bytes, stdout);
	free(image);
	return 0;
}
