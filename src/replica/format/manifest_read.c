/* SPDX-License-Identifier: MIT
 * A manifest of a server that may be anybody's. Line by line, each with one name and exactly its
 * values; then what the numbers say of each other. */
#include <errno.h>
#include <string.h>
#include <weir/error.h>
#include "manifest.h"
#include "number.h"

struct word {
	const char *at;
	size_t len;
};

struct lines {
	const char *at, *end;
	unsigned number; /* of the line that was read last */
};

static int bad(const struct lines *l, const char *what)
{
	return weir_fail(-EBADMSG, "line %u of the manifest: %s", l->number, what);
}

/* Take text up to @stop, and that too. Return: false: there is no such. */
static bool take(struct word *out, const char **at, const char *end, char stop)
{
	const char *found = memchr(*at, stop, (size_t)(end - *at));
	if (!found)
		return false;
	*out = (struct word){ *at, (size_t)(found - *at) };
	*at = found + 1;
	return true;
}

/* Does a line of this name come next? */
static bool next_is(const struct lines *l, const char *name)
{
	size_t n = strlen(name);
	return (size_t)(l->end - l->at) > n && memcmp(l->at, name, n) == 0 && l->at[n] == ' ';
}

/* Read the next line: @name, and @n values with a blank before each. */
static int read_line(struct lines *l, const char *name, struct word *values, unsigned n)
{
	struct word line, word;
	l->number++;
	if (!next_is(l, name))
		return weir_fail(-EBADMSG, "line %u of the manifest: it is not %s", l->number,
		                 name);
	if (!take(&line, &l->at, l->end, '\n'))
		return bad(l, "it has no end");
	const char *at = line.at, *end = line.at + line.len;
	(void)take(&word, &at, end, ' ');
	for (unsigned i = 0; i + 1 < n; i++)
		if (!take(&values[i], &at, end, ' '))
			return bad(l, "a value is lacking");
	values[n - 1] = (struct word){ at, (size_t)(end - at) };
	return 0;
}

static int read_number(struct lines *l, const char *name, uint64_t *out)
{
	struct word value;
	int err = read_line(l, name, &value, 1);
	if (err)
		return err;
	return weir__number_parse(out, value.at, value.len) ? 0 : bad(l, "that is no number");
}

static int read_hex(struct lines *l, const char *name, uint64_t *out)
{
	struct word value;
	int err = read_line(l, name, &value, 1);
	if (err)
		return err;
	return weir__hex_parse(out, value.at, value.len, 16) ?
		0 : bad(l, "that is not a number of 16 hexadecimal digits");
}

static int read_version(struct lines *l)
{
	struct word version;
	uint64_t number;
	int err = read_line(l, "weir-manifest", &version, 1);
	if (err)
		return err;
	if (!weir__number_parse(&number, version.at, version.len) || number == 0)
		return bad(l, "that is no version");
	return number == 1 ? 0 :
	       weir_fail(-ENOTSUP, "the manifest is of version %llu, this library reads 1: "
	                 "upgrade it first on the nodes that read", (unsigned long long)number);
}

static int read_set(struct lines *l, struct weir_manifest *m)
{
	struct word name, epoch;
	int err = read_line(l, "set", &name, 1);
	if (err)
		return err;
	if (!weir__set_name_is(name.at, name.len))
		return bad(l, "that is no name of a set");
	memcpy(m->set, name.at, name.len);
	err = read_line(l, "epoch", &epoch, 1);
	if (err)
		return err;
	if (!weir__is_hex(epoch.at, epoch.len, WEIR_REPLICA_EPOCH))
		return bad(l, "that is not a number of 56 hexadecimal digits");
	memcpy(m->epoch, epoch.at, epoch.len);
	return 0;
}

static int read_generation(struct lines *l, struct weir_manifest *m)
{
	int err = read_number(l, "generation", &m->generation);
	if (err)
		return err;
	if (m->generation == 0)
		return bad(l, "generations begin with 1");
	if (m->generation > INT64_MAX)
		return bad(l, "none could follow that generation: DEL the set's keys, and it "
		              "begins anew");
	err = read_number(l, "base", &m->base);
	if (err)
		return err;
	if (m->base >= m->generation)
		return bad(l, "it is not below the generation");
	return read_hex(l, "lineage", &m->lineage);
}

static int read_id(struct lines *l, const char *name, struct weir_stream_id *out)
{
	struct word id;
	int err = read_line(l, name, &id, 1);
	if (err)
		return err;
	return weir__stream_id_parse(out, id.at, id.len) ? 0 : bad(l, "that is no id of a stream");
}

static int read_cursor(struct lines *l, struct weir_manifest *m)
{
	struct weir_cursor *c = &m->cursor;
	int err = read_id(l, "position", &c->at);
	if (!err)
		err = read_number(l, "entries", &c->consumed);
	if (err)
		return err;
	/* the other way round is right: nothing of this stream, after many were deleted */
	if (c->consumed == 0 && (c->at.ms || c->at.number))
		return bad(l, "position and entries do not agree");
	return read_id(l, "covered", &m->covered);
}

static bool word_is(const struct word *word, const char *value)
{
	return word->len == strlen(value) && memcmp(word->at, value, word->len) == 0;
}

static int read_stream(struct lines *l, struct weir_manifest *m)
{
	struct word word;
	if (!next_is(l, "stream"))
		return 0;
	int err = read_line(l, "stream", &word, 1);
	if (err)
		return err;
	m->of_keys = word_is(&word, "keys");
	return m->of_keys ? 0 : bad(l, "that is no content of batches");
}

static int read_source(struct lines *l, struct weir_manifest *m)
{
	struct word word;
	if (!next_is(l, "source"))
		return 0;
	int err = read_line(l, "source", &word, 1);
	if (err)
		return err;
	m->source = word_is(&word, "set")    ? WEIR_SOURCE_SET :
	            word_is(&word, "record") ? WEIR_SOURCE_RECORD :
	                                       WEIR_SOURCE_AGAIN;
	return m->source != WEIR_SOURCE_AGAIN ? 0 : bad(l, "that is no source of an image");
}

static bool parse_checksum(uint64_t out[2], const struct word *word)
{
	return word->len == 32 && weir__hex_parse(&out[0], word->at, 16, 16) &&
	       weir__hex_parse(&out[1], word->at + 16, 16, 16);
}

static int read_follows(struct lines *l, struct weir_manifest *m)
{
	struct word word;
	if (!next_is(l, "follows"))
		return 0;
	int err = read_line(l, "follows", &word, 1);
	if (err)
		return err;
	m->follows = true;
	return parse_checksum(m->followed, &word) ? 0 :
	                                            bad(l, "that is not 32 hexadecimal digits");
}

static int read_kind(struct lines *l, struct weir_manifest *m)
{
	struct word name;
	int err = read_line(l, "kind", &name, 1);
	if (!err)
		err = weir__replicable_named(&m->kind, name.at, name.len);
	if (!err)
		err = read_hex(l, "hashing", &m->hashing);
	if (!err)
		err = read_stream(l, m);
	if (!err)
		err = read_source(l, m);
	return err ? err : read_follows(l, m);
}

static int read_image(struct lines *l, struct weir_manifest *m)
{
	struct word v[3];
	int err = read_line(l, "image", v, 2);
	if (err)
		return err;
	if (!weir__number_parse(&m->bytes, v[0].at, v[0].len) || m->bytes == 0 ||
	    !parse_checksum(m->checksum, &v[1]))
		return bad(l, "that is not a number of bytes and 32 hexadecimal digits");
	err = read_line(l, "chunks", v, 3);
	if (err)
		return err;
	if (!weir__number_parse(&m->chunks, v[0].at, v[0].len) ||
	    !weir__number_parse(&m->chunk_bytes, v[1].at, v[1].len) ||
	    !weir__hex_parse(&m->stored, v[2].at, v[2].len, 16))
		return bad(l, "those are not two numbers and 16 hexadecimal digits");
	if (m->chunk_bytes == 0 || m->chunk_bytes > WEIR_MANIFEST_CHUNK ||
	    m->chunks > WEIR_MANIFEST_CHUNKS ||
	    m->chunks != (m->bytes - 1) / m->chunk_bytes + 1)
		return bad(l, "so many chunks do not make the image");
	return 0;
}

static int read_publisher(struct lines *l, struct weir_manifest *m)
{
	int err = read_hex(l, "publisher", &m->publisher);
	return err ? err : read_number(l, "published", &m->published_ms);
}

static int read_path(struct lines *l, struct weir_manifest *m)
{
	struct word path;
	if (!next_is(l, "path"))
		return 0;
	int err = read_line(l, "path", &path, 1);
	if (err)
		return err;
	if (!weir__manifest_path_is(path.at, path.len))
		return bad(l, "that is no path below a base URL");
	memcpy(m->path, path.at, path.len);
	return 0;
}

static int read_origins(struct lines *l, struct weir_origins *origins)
{
	struct word v[2];
	uint64_t node, sequence;
	while (l->at < l->end) {
		int err = read_line(l, "origin", v, 2);
		if (err)
			return err;
		if (!weir__hex_parse(&node, v[0].at, v[0].len, WEIR_REPLICA_NODE) ||
		    !weir__number_parse(&sequence, v[1].at, v[1].len) || sequence == 0)
			return bad(l, "that is not a node and the number of a batch");
		if (origins->n && origins->of[origins->n - 1].node >= node)
			return bad(l, "nodes are not in order");
		if (origins->n == WEIR_ORIGINS)
			return bad(l, "there are too many nodes");
		err = weir__origins_cover(origins, node, sequence);
		if (err)
			return err;
	}
	return 0;
}

int weir__manifest_read(struct weir_manifest *out, struct weir_origins *origins, const char *text,
                        size_t len)
{
	struct weir_manifest m = { .set = "" };
	struct lines l = { text, text + len, 0 };
	if (len > WEIR_MANIFEST_TEXT)
		return weir_fail(-EBADMSG, "a manifest of %zu bytes: allowed are %d", len,
		                 WEIR_MANIFEST_TEXT);
	int err = read_version(&l);
	if (!err)
		err = read_set(&l, &m);
	if (!err)
		err = read_generation(&l, &m);
	if (!err)
		err = read_cursor(&l, &m);
	if (!err)
		err = read_kind(&l, &m);
	if (!err)
		err = read_image(&l, &m);
	if (!err)
		err = read_publisher(&l, &m);
	if (!err)
		err = read_path(&l, &m);
	if (!err)
		err = read_origins(&l, origins);
	if (!err)
		*out = m;
	return err;
}
