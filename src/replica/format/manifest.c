/* SPDX-License-Identifier: MIT
 * Read and write manifests. The server is untrusted. So the reader accepts each line only in the
 * form that the writer gives it, and checks the numbers against each other. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <weir/error.h>
#include <weir/kinds.h>
#include "manifest.h"

static const char *const sources[] = { [WEIR_SOURCE_SET] = "set", [WEIR_SOURCE_RECORD] = "record",
	                               [WEIR_SOURCE_ROLLBACK] = "rollback" };

struct word {
	const char *at;
	size_t len;
};

struct lines {
	const char *at, *end;
	unsigned number; /* line number of the last line read */
};

static int bad(const struct lines *l, const char *what)
{
	return weir_fail(-EBADMSG, "line %u of the manifest: %s", l->number, what);
}

static bool equals(const struct word *word, const char *text)
{
	return word->len == strlen(text) && memcmp(word->at, text, word->len) == 0;
}

/* Parse the text before @stop, and skip @stop. Return: false if @stop is missing. */
static bool parse_until(struct word *out, const char **at, const char *end, char stop)
{
	const char *found = *at < end ? memchr(*at, stop, (size_t)(end - *at)) : NULL;
	if (!found)
		return false;
	*out = (struct word){ *at, (size_t)(found - *at) };
	*at = found + 1;
	return true;
}

/* Read the next line: @name, and @n values with a blank before each value. The last value may
 * contain blanks; no caller accepts such a value. */
static int read_values(struct lines *l, const char *name, struct word *v, unsigned n)
{
	struct word line, word;
	const char *at = l->at;
	l->number++;
	if (!parse_until(&line, &l->at, l->end, '\n'))
		return bad(l, "it is missing or has no end");
	const char *end = line.at + line.len;
	if (!parse_until(&word, &at, end, ' ') || !equals(&word, name))
		return weir_fail(-EBADMSG, "line %u of the manifest: it is not %s", l->number,
		                 name);
	for (unsigned i = 0; i + 1 < n; i++)
		if (!parse_until(&v[i], &at, end, ' '))
			return bad(l, "a value is missing");
	v[n - 1] = (struct word){ at, (size_t)(end - at) };
	return 0;
}

static int number(struct lines *l, const char *name, uint64_t *out)
{
	struct word v;
	int err = read_values(l, name, &v, 1);
	return err ? err : weir__number_read(out, v.at, v.len) ? 0 : bad(l, "it is not a number");
}

static int hex(struct lines *l, const char *name, uint64_t *out)
{
	struct word v;
	int err = read_values(l, name, &v, 1);
	return err ? err : weir__hex_read(out, v.at, v.len) ?
		0 : bad(l, "it is not 16 hexadecimal digits");
}

static int read_format(struct lines *l)
{
	uint64_t format = 0;
	int err = number(l, "weir-generation", &format);
	return err || format == 2 ? err :
	       weir_fail(-ENOTSUP, "the manifest is of format %" PRIu64 ", this library reads 2: "
	                 "upgrade the older side", format);
}

static int read_set(struct lines *l, struct weir_manifest *m)
{
	struct word name;
	int err = read_values(l, "set", &name, 1);
	if (err)
		return err;
	if (!weir__set_name_is(name.at, name.len))
		return bad(l, "it is not a name of a set");
	memcpy(m->set, name.at, name.len);
	return 0;
}

static int read_version(struct lines *l, struct weir_manifest *m)
{
	struct word v;
	int err = read_values(l, "version", &v, 1);
	if (err)
		return err;
	if (!weir__version_read(&m->version, v.at, v.len) || !m->version.era || !m->version.number)
		return bad(l, "it is not a version from 1.1 on");
	if (!weir__version_in_range(m->version))
		return bad(l, "no node counts up to such a version, another client wrote it: "
		           "UNLINK the head, and nodes publish again");
	err = hex(l, "id", &m->id);
	return err || m->id ? err : bad(l, "an id is not 0");
}

static int read_position(struct lines *l, struct weir_manifest *m)
{
	struct word v[2];
	int err = read_values(l, "position", v, 2);
	if (err)
		return err;
	if (!weir__log_id_read(&m->position, v[0].at, v[0].len) ||
	    !weir__log_id_in_range(m->position) ||
	    !weir__hex_read(&m->tag, v[1].at, v[1].len))
		return bad(l, "it is not the id and the tag of an entry");
	const bool epoch = m->position.epoch, n = m->position.n, tag = m->tag;
	return epoch == n && n == tag ? 0 :
	       bad(l, "only 0-0 has no tag, and each other id two numbers that are not 0");
}

static int read_parent(struct lines *l, struct weir_manifest *m)
{
	struct word v[2];
	const char *at = l->at;
	int err = read_values(l, "parent", v, 1);
	if (err || equals(&v[0], "none"))
		return err;
	l->at = at;
	l->number--;
	err = read_values(l, "parent", v, 2);
	if (err)
		return err;
	if (!weir__version_read(&m->parent, v[0].at, v[0].len) ||
	    !weir__hex_read(&m->parent_id, v[1].at, v[1].len))
		return bad(l, "it is not a version and an id");
	if (!m->parent.era || !m->parent.number || !weir__version_in_range(m->parent) ||
	    !m->parent_id || m->parent_id == m->id)
		return bad(l, "no such generation can be the parent");
	return weir__version_compare(m->parent, m->version) < 0 ?
		0 : bad(l, "the parent is not older");
}

static int read_seen(struct lines *l, struct weir_manifest *m)
{
	static const char name[] = "seen ";
	struct word v[2];
	if ((size_t)(l->end - l->at) < sizeof name - 1 || memcmp(l->at, name, sizeof name - 1) != 0)
		return 0;
	int err = read_values(l, "seen", v, 2);
	if (err)
		return err;
	return weir__hex_read(&m->seen.mark, v[0].at, v[0].len) && m->seen.mark &&
	       weir__log_id_read(&m->seen.id, v[1].at, v[1].len) && m->seen.id.epoch &&
	       weir__log_id_in_range(m->seen.id) ?
		0 : bad(l, "it is not a mark and the id of an entry");
}

static int read_source(struct lines *l, struct weir_manifest *m)
{
	static const char pure[] = "pure\n";
	struct word v;
	int err = read_values(l, "source", &v, 1);
	if (err)
		return err;
	m->source = equals(&v, "set")    ? WEIR_SOURCE_SET :
	            equals(&v, "record") ? WEIR_SOURCE_RECORD :
	                               WEIR_SOURCE_ROLLBACK;
	if (!equals(&v, sources[m->source]))
		return bad(l, "it is not set, record or rollback");
	if ((size_t)(l->end - l->at) < sizeof pure - 1 || memcmp(l->at, pure, sizeof pure - 1) != 0)
		return 0;
	l->at += sizeof pure - 1;
	l->number++;
	m->pure = true;
	/* A record may be pure too: it is pure after it is signed again. */
	return m->parent.era == m->version.era ?
		0 : bad(l, "it is pure and has no parent of its era");
}

static bool read_hash(unsigned char hash[WEIR_IMAGE_HASH], const struct word *text)
{
	uint64_t part;
	if (text->len != (size_t)2 * WEIR_IMAGE_HASH)
		return false;
	for (unsigned i = 0; i < WEIR_IMAGE_HASH; i += 8) {
		if (!weir__hex_read(&part, text->at + (size_t)2 * i, 16))
			return false;
		for (unsigned byte = 0; byte < 8; byte++)
			hash[i + byte] = (unsigned char)(part >> (56 - 8 * byte));
	}
	return true;
}

static int read_image(struct lines *l, struct weir_manifest *m)
{
	struct word v[3];
	int err = read_values(l, "image", v, 3);
	if (err)
		return err;
	if (!read_hash(m->image, &v[0]) || !weir__number_read(&m->bytes, v[1].at, v[1].len) ||
	    !weir__number_read(&m->chunks, v[2].at, v[2].len))
		return bad(l, "it is not 64 hexadecimal digits, bytes and chunks");
	return m->bytes && m->chunks <= WEIR_CHUNKS &&
	       m->chunks == (m->bytes - 1) / WEIR_CHUNK + 1 ?
		0 : bad(l, "so many chunks are not so many bytes");
}

static int read_kind(struct lines *l, struct weir_manifest *m)
{
	struct word v;
	int err = read_values(l, "kind", &v, 1);
	if (err)
		return err;
	while (weir_kind_name(m->kind) && !equals(&v, weir_kind_name(m->kind)))
		m->kind++;
	if (!weir_kind_name(m->kind))
		return weir_fail(-ENOTSUP, "line %u of the manifest: this library has no kind "
		                 "%.*s: upgrade it", l->number, (int)(v.len < 32 ? v.len : 32),
		                 v.at);
	return weir__replicable_check(m->kind);
}

static int read_hashing(struct lines *l, struct weir_manifest *m)
{
	uint64_t steps;
	int err = hex(l, "hashing", &m->hashing);
	if (!err)
		err = number(l, "steps", &steps);
	if (err)
		return err;
	m->steps = (uint32_t)steps;
	return steps <= UINT32_MAX ? 0 : bad(l, "there are no such steps");
}

static int read_publisher(struct lines *l, struct weir_manifest *m)
{
	int err = hex(l, "publisher", &m->publisher);
	if (!err && !m->publisher)
		err = bad(l, "a node is not 0");
	if (!err)
		err = number(l, "signed", &m->signed_ms);
	if (!err)
		err = number(l, "expires", &m->expires_ms);
	if (err)
		return err;
	return !m->expires_ms || m->expires_ms > m->signed_ms ?
		0 : bad(l, "it expired before it was signed");
}

static int read_has(struct lines *l, struct weir_manifest *m)
{
	while (l->at < l->end) {
		uint64_t id;
		int err = hex(l, "has", &id);
		if (err)
			return err;
		if (!id || weir__has(&m->has, id))
			return bad(l, "an id is not 0, and stands once");
		if (m->has.n == WEIR_HAS)
			return bad(l, "there are too many ids");
		m->has.id[m->has.n++] = id;
	}
	return 0;
}

int weir__manifest_read(struct weir_manifest *out, const char *text, size_t len)
{
	static int (*const parts[])(struct lines *l, struct weir_manifest *m) = {
		read_set, read_version, read_position, read_parent, read_seen, read_source,
		read_image, read_kind, read_hashing, read_publisher, read_has };
	struct weir_manifest m = { .set = "" };
	struct lines l = { text, text + len, 0 };
	if (len > WEIR_MANIFEST_TEXT)
		return weir_fail(-EBADMSG, "a manifest of %zu bytes: allowed are %d", len,
		                 WEIR_MANIFEST_TEXT);
	int err = read_format(&l);
	for (size_t i = 0; !err && i < sizeof parts / sizeof *parts; i++)
		err = parts[i](&l, &m);
	if (!err)
		*out = m;
	return err;
}

static size_t add(char *text, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static size_t add(char *text, size_t at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text + at, WEIR_MANIFEST_TEXT - at, format, args);
	va_end(args);
	return at + (size_t)n;
}

static size_t add_image(char *text, size_t at, const struct weir_manifest *m)
{
	at = add(text, at, "image ");
	for (unsigned i = 0; i < WEIR_IMAGE_HASH; i++)
		at = add(text, at, "%02x", m->image[i]);
	return add(text, at, " %" PRIu64 " %" PRIu64 "\n", m->bytes, m->chunks);
}

size_t weir__manifest_write(char text[WEIR_MANIFEST_TEXT], const struct weir_manifest *m)
{
	char a[WEIR_ID_TEXT];
	size_t at = add(text, 0, "weir-generation 2\nset %s\n", m->set);
	at = add(text, at, "version %s\nid %016" PRIx64 "\n",
	         weir__version_write(a, m->version), m->id);
	at = add(text, at, "position %s %016" PRIx64 "\n", weir__log_id_write(a, m->position),
	         m->tag);
	if (m->parent.era)
		at = add(text, at, "parent %s %016" PRIx64 "\n", weir__version_write(a, m->parent),
		         m->parent_id);
	else
		at = add(text, at, "parent none\n");
	if (m->seen.mark)
		at = add(text, at, "seen %016" PRIx64 " %s\n", m->seen.mark,
		         weir__log_id_write(a, m->seen.id));
	at = add(text, at, "source %s\n%s", sources[m->source], m->pure ? "pure\n" : "");
	at = add_image(text, at, m);
	at = add(text, at, "kind %s\nhashing %016" PRIx64 "\nsteps %" PRIu32 "\n",
	         weir_kind_name(m->kind), m->hashing, m->steps);
	at = add(text, at, "publisher %016" PRIx64 "\nsigned %" PRIu64 "\nexpires %" PRIu64 "\n",
	         m->publisher, m->signed_ms, m->expires_ms);
	for (uint32_t i = 0; i < m->has.n; i++)
		at = add(text, at, "has %016" PRIx64 "\n", m->has.id[i]);
	return at;
}

bool weir__set_name_is(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
		      (name[i] >= '0' && name[i] <= '9') || name[i] == '-' || name[i] == '_' ||
		      name[i] == '.'))
			return false;
	return len > 0 && len <= WEIR_SET_NAME;
}
