/* SPDX-License-Identifier: MIT
 * A set's generations: the head's manifest, publishing, what is kept, the lease. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <weir/error.h>
#include "parts.h"

int weir__redis_open(struct weir_redis **out, const struct weir_redis_options *o)
{
	if (!weir__set_name_is(o->set, strlen(o->set)))
		return weir_fail(-EINVAL, "\"%.64s\" is not a name of a set: use 1 to %d letters, "
		                 "digits, - _ and .", o->set, WEIR_SET_NAME);
	if (!o->keep || !o->max_image_bytes)
		return weir_fail(-EINVAL, "keep is %u and max_image_bytes %" PRIu64 ": set them "
		                 "above 0", (unsigned)o->keep, o->max_image_bytes);
	if (sodium_init() < 0)
		return weir_fail(-ENOTSUP, "libsodium cannot be used: it finds no random numbers");
	struct weir_redis *r = calloc(1, sizeof *r);
	if (!r)
		return weir_fail(-ENOMEM, "set %s: no memory", o->set);
	r->store = (struct weir_store){ r, weir__redis_touch, weir__redis_read,
		weir__redis_manifest, weir__redis_image, weir__redis_upload, weir__redis_publish,
		weir__redis_lease };
	r->o = *o;
	r->renew_ms = 1000 * WEIR_CHUNK_SECONDS / 4;
	memcpy(r->set, o->set, strlen(o->set));
	weir__keys_make(&r->keys, r->set);
	r->touch = (struct weir_script){ weir__touch_lua, "3", "" };
	r->publish = (struct weir_script){ weir__publish_lua, "4", "" };
	*out = r;
	return 0;
}

void weir__redis_close(struct weir_redis *r)
{
	if (r)
		weir__job_end(r);
	free(r);
}

const struct weir_store *weir__redis_store(struct weir_redis *r)
{
	return &r->store;
}

/* ---- the head's manifest ---- */

static int read_manifest(const struct weir_redis *r, const char *text, size_t len,
                         const struct redisReply *version, struct weir_manifest *m)
{
	struct weir_version beside;
	int err = weir__manifest_read(m, text, len);
	if (err)
		return weir_fail(err, "set %s: %s", r->set, weir_error_detail());
	if (strcmp(m->set, r->set) != 0)
		return weir_fail(-EBADMSG, "set %s: the manifest is of set %s", r->set, m->set);
	return !version || (weir__reply_version(version, &beside) &&
	                    weir__version_compare(beside, m->version) == 0) ?
		0 : weir_fail(-EBADMSG, "set %s: the manifest is of another version than the head",
		              r->set);
}

static int take_manifest(const struct weir_redis *r, const struct redisReply *a,
                         struct weir_manifest *out)
{
	struct weir_manifest m;
	if (!weir__is_array(a, 3))
		return weir__redis_shape(r, "HMGET");
	const struct redisReply *text = a->element[0], *line = a->element[1];
	if (text->type == REDIS_REPLY_NIL)
		return weir_fail(-ENOENT, "set %s has no generation yet", r->set);
	if (!weir__is_string(text))
		return weir__redis_shape(r, "HMGET");
	int err = read_manifest(r, text->str, text->len, a->element[2], &m);
	if (!err && r->o.trusted)
		err = r->o.trusted(r->o.trust, &m, text->str, text->len,
		                   weir__is_string(line) ? line->str : "",
		                   weir__is_string(line) ? line->len : 0);
	if (!err)
		*out = m;
	return err;
}

int weir__redis_manifest(void *context, struct weir_manifest *out)
{
	struct weir_redis *r = context;
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("HMGET"), weir__text(r->keys.head),
		                      weir__text("manifest"), weir__text("signature"),
		                      weir__text("version") };
	int err = weir__redis_command(r, r->o.link, args, 5, &reply);
	if (err)
		return err;
	err = take_manifest(r, reply, out);
	freeReplyObject(reply);
	return err;
}

/* ---- publish ---- */

static void date(const struct weir_redis *r, struct weir_manifest *m)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	m->signed_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	m->expires_ms = r->o.expires_ms ? m->signed_ms + r->o.expires_ms : 0;
}

struct texts {
	char manifest[WEIR_MANIFEST_TEXT], signature[WEIR_SIGNATURE_ROOM];
	char mark[WEIR_HEX_TEXT], id[WEIR_HEX_TEXT], tag[WEIR_HEX_TEXT], own[WEIR_HEX_TEXT];
	char base[WEIR_ID_TEXT], version[WEIR_ID_TEXT], position[WEIR_ID_TEXT];
	char image[WEIR_KEY_TEXT], chunks[WEIR_NUMBER_TEXT], bytes[WEIR_NUMBER_TEXT];
	char chunk[WEIR_NUMBER_TEXT], keep[WEIR_NUMBER_TEXT];
};

static int send_publication(struct weir_redis *r, struct texts *t, size_t len, uint64_t tag,
                            const struct weir_publication *p)
{
	const struct weir_manifest *m = p->manifest;
	struct redisReply *reply;
	struct iovec args[] = { [3] = weir__text(r->keys.head), weir__text(r->keys.log),
		weir__text(r->keys.kept), weir__text(r->keys.nodes),
		weir__text(weir__hex_write(t->mark, p->mark)),
		weir__text(weir__version_write(t->base, p->base)),
		weir__text(weir__version_write(t->version, m->version)),
		weir__text(weir__hex_write(t->id, m->id)), weir__bytes(t->manifest, len),
		weir__text(t->signature), weir__text(weir__log_id_write(t->position, m->position)),
		weir__text(weir__hex_write(t->tag, m->tag)),
		weir__text(weir__hex_write(t->own, tag)),
		weir__text(weir__key_of_image(t->image, &r->keys, m->image)),
		weir__number(t->chunks, m->chunks), weir__number(t->bytes, m->bytes),
		weir__number(t->chunk, WEIR_CHUNK), weir__number(t->keep, r->o.keep) };
	int err = weir__redis_script(r, &r->publish, args, sizeof args / sizeof *args, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_STATUS)
		err = weir__redis_shape(r, "publish");
	freeReplyObject(reply);
	return err;
}

int weir__redis_publish(void *context, const struct weir_publication *p)
{
	struct weir_redis *r = context;
	struct weir_manifest checked;
	struct texts t = { .signature = "" };
	uint64_t tag;
	if (weir__version_compare(p->manifest->version, p->base) <= 0)
		return weir_fail(-EINVAL, "set %s: a generation is to be above the head's version",
		                 r->set);
	date(r, p->manifest);
	size_t len = weir__manifest_write(t.manifest, p->manifest);
	int err = read_manifest(r, t.manifest, len, NULL, &checked); /* others will refuse it */
	if (!err && r->o.sign)
		err = r->o.sign(r->o.signer, t.manifest, len, t.signature);
	if (!err)
		err = weir__draw(&tag);
	return err ? err : send_publication(r, &t, len, tag, p);
}

/* ---- what is kept ---- */

static int newest_first(const void *a, const void *b)
{
	const struct weir_version *x = a, *y = b;
	return weir__version_compare(*y, *x);
}

static int take_versions(const struct weir_redis *r, const struct redisReply *a,
                         struct weir_version *out, size_t *n)
{
	size_t found = 0;
	if (a->type != REDIS_REPLY_ARRAY)
		return weir__redis_shape(r, "HKEYS");
	struct weir_version *all = malloc((a->elements + 1) * sizeof *all);
	if (!all)
		return weir_fail(-ENOMEM, "set %s: no memory for %zu versions", r->set,
		                 (size_t)a->elements);
	for (size_t i = 0; i < a->elements; i++)
		found += weir__reply_version(a->element[i], &all[found]);
	qsort(all, found, sizeof *all, newest_first);
	memcpy(out, all, (found < *n ? found : *n) * sizeof *all);
	free(all);
	*n = found;
	return 0;
}

int weir__redis_kept(struct weir_redis *r, struct weir_version *out, size_t *n)
{
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("HKEYS"), weir__text(r->keys.kept) };
	int err = weir__redis_command(r, r->o.link, args, 2, &reply);
	if (err)
		return err;
	err = take_versions(r, reply, out, n);
	freeReplyObject(reply);
	return err;
}

/* SIGNATURE, a newline, the manifest. */
static int take_kept(const struct weir_redis *r, const struct redisReply *a,
                     struct weir_version version, struct weir_kept *out)
{
	if (a->type == REDIS_REPLY_NIL)
		return weir_fail(-ENOENT, "set %s keeps no generation %" PRIu64 ".%" PRIu64,
		                 r->set, version.era, version.number);
	const char *end = weir__is_string(a) ? memchr(a->str, '\n', a->len) : NULL;
	if (!end || end - a->str >= WEIR_SIGNATURE_ROOM)
		return weir_fail(-EBADMSG, "set %s: what is kept is not a generation", r->set);
	out->signature_len = (size_t)(end - a->str);
	out->len = a->len - out->signature_len - 1;
	int err = read_manifest(r, end + 1, out->len, NULL, &out->manifest);
	if (!err && weir__version_compare(out->manifest.version, version) != 0)
		err = weir_fail(-EBADMSG, "set %s: what is kept is another generation", r->set);
	if (err)
		return err;
	memcpy(out->signature, a->str, out->signature_len);
	memcpy(out->text, end + 1, out->len);
	return 0;
}

int weir__redis_kept_one(struct weir_redis *r, struct weir_version version, struct weir_kept *out)
{
	char field[WEIR_ID_TEXT];
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("HGET"), weir__text(r->keys.kept),
		                      weir__text(weir__version_write(field, version)) };
	int err = weir__redis_command(r, r->o.link, args, 3, &reply);
	if (err)
		return err;
	err = take_kept(r, reply, version, out);
	freeReplyObject(reply);
	return err;
}

/* ---- the lease: it saves double uploads, and nothing depends on it ---- */

static int ask_lease(const struct weir_redis *r, const struct iovec *args, size_t n,
                     const char *node, bool *mine)
{
	struct redisReply *reply;
	int err = weir__redis_command(r, r->o.link, args, n, &reply);
	if (err)
		return err;
	*mine = reply->type == REDIS_REPLY_STATUS || reply->type == REDIS_REPLY_INTEGER ||
	        (weir__is_string(reply) && strcmp(reply->str, node) == 0);
	freeReplyObject(reply);
	return 0;
}

int weir__redis_lease(void *context, uint64_t node, uint32_t milliseconds)
{
	struct weir_redis *r = context;
	char name[WEIR_HEX_TEXT], ms[WEIR_NUMBER_TEXT];
	bool mine = false;
	weir__hex_write(name, node);
	const struct iovec key = weir__text(r->keys.lease), time = weir__number(ms, milliseconds);
	const struct iovec take[] = { weir__text("SET"), key, weir__text(name), weir__text("NX"),
		                      weir__text("PX"), time };
	const struct iovec look[] = { weir__text("GET"), key };
	const struct iovec renew[] = { weir__text("PEXPIRE"), key, time };
	int err = ask_lease(r, take, 6, name, &mine);
	if (err || mine)
		return err;
	err = ask_lease(r, look, 2, name, &mine);
	if (err)
		return err;
	return mine ? ask_lease(r, renew, 3, name, &mine) :
	              weir_fail(-EPERM, "set %s: another node is about to publish", r->set);
}
