/* SPDX-License-Identifier: MIT
 * A manifest's one form, and the names that may stand in it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/kinds.h>
#include "manifest.h"

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

bool weir__set_name_is(const char *name, size_t len)
{
	if (len == 0 || len > WEIR_MANIFEST_NAME)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_of_name(name[i]))
			return false;
	return true;
}

/* A part between slashes. */
static bool part_is(const char *part, size_t len)
{
	if (len == 0 || (len <= 2 && memcmp(part, "..", len) == 0))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_of_name(part[i]))
			return false;
	return true;
}

bool weir__manifest_path_is(const char *path, size_t len)
{
	if (len > WEIR_MANIFEST_PATH)
		return false;
	for (size_t from = 0, to; from <= len; from = to + 1) {
		for (to = from; to < len && path[to] != '/';)
			to++;
		if (!part_is(path + from, to - from))
			return false;
	}
	return true;
}

static void write_lines(FILE *to, const struct weir_manifest *m)
{
	char position[WEIR_STREAM_ID_TEXT], covered[WEIR_STREAM_ID_TEXT];
	fprintf(to, "weir-manifest 1\nset %s\nepoch %s\n", m->set, m->epoch);
	fprintf(to, "generation %" PRIu64 "\nbase %" PRIu64 "\n", m->generation, m->base);
	fprintf(to, "lineage %016" PRIx64 "\n", m->lineage);
	fprintf(to, "position %s\nentries %" PRIu64 "\n",
	        weir__stream_id_print(position, m->cursor.at), m->cursor.consumed);
	fprintf(to, "covered %s\n", weir__stream_id_print(covered, m->covered));
	fprintf(to, "kind %s\nhashing %016" PRIx64 "\n", weir_kind_name(m->kind), m->hashing);
	if (m->of_keys)
		fprintf(to, "stream keys\n");
	if (m->source != WEIR_SOURCE_AGAIN)
		fprintf(to, "source %s\n", m->source == WEIR_SOURCE_SET ? "set" : "record");
	if (m->follows)
		fprintf(to, "follows %016" PRIx64 "%016" PRIx64 "\n", m->followed[0],
		        m->followed[1]);
	fprintf(to, "image %" PRIu64 " %016" PRIx64 "%016" PRIx64 "\n", m->bytes, m->checksum[0],
	        m->checksum[1]);
	fprintf(to, "chunks %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n", m->chunks, m->chunk_bytes,
	        m->stored);
	fprintf(to, "publisher %016" PRIx64 "\npublished %" PRIu64 "\n", m->publisher,
	        m->published_ms);
	if (m->path[0])
		fprintf(to, "path %s\n", m->path);
}

static void write_origin(FILE *to, const struct weir_origin *o)
{
	if (o->sequence)
		fprintf(to, "origin %016" PRIx64 " %" PRIu64 "\n", o->node, o->sequence);
}

int weir__manifest_write(char **text, size_t *len, const struct weir_manifest *m,
                         const struct weir_origins *origins)
{
	char *written = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&written, &bytes);
	if (to) {
		write_lines(to, m);
		for (size_t i = 0; i < origins->n; i++)
			write_origin(to, &origins->of[i]);
	}
	bool failed = !to || ferror(to);
	if (to && fclose(to) != 0)
		failed = true;
	if (failed) {
		free(written);
		return weir_fail(-ENOMEM, "set %s: no memory for the manifest of %zu nodes", m->set,
		                 origins->n);
	}
	*text = written;
	*len = bytes;
	return 0;
}

int weir__manifest_check(const char *text, size_t len)
{
	struct weir_manifest m;
	struct weir_origins origins = { 0 };
	int err = weir__manifest_read(&m, &origins, text, len);
	weir__origins_free(&origins);
	return err;
}
