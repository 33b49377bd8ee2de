/* SPDX-License-Identifier: MIT
 * Generations of a set: the head's manifest, publishing, the lease. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "parts.h"

int weir__redis_open(struct weir_redis **out, const struct weir_redis_options *o)
{
	if (!weir__set_name_is(o->set, strlen(o->set)))
		return weir_fail(-EINVAL, "\"%.64s\" is not a set's name: use 1 to %d letters, "
		                 "digits, dots, - and _", o->set, WEIR_SET_NAME);
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
	r->renew_ms = 30000;
	weir__keys_make(&r->keys, o->set);
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

void weir__redis_reserve(struct weir_redis *r, uint64_t bytes)
{
	r->o.reserve = bytes;
}

/* ---- the head's manifest ---- */

static int read_manifest(const struct weir_redis *r, const char *text, size_t len,
                         struct weir_manifest *m)
{
	int err = weir__manifest_read(m, text, len);
	if (err)
		return weir_fail(err, "set %s: %s", r->o.set, weir_error_detail());
	return strcmp(m->set, r->o.set) == 0 ? 0 :
	       weir_fail(-EBADMSG, "set %s: the manifest is of set %s", r->o.set, m->set);
}

static int check_manifest(const struct weir_redis *r, const struct redisReply *a,
                          struct weir_manifest *out)
{
	struct weir_manifest m;
	struct weir_version version;
	if (!weir__is_array(a, 3))
		return weir__redis_bad_answer(r, "HMGET");
	const struct redisReply *text = a->element[0], *line = a->element[1];
	if (text->type == REDIS_REPLY_NIL)
		return weir_fail(-ENOENT, "set %s has no generation yet", r->o.set);
	if (!weir__is_string(text))
		return weir__redis_bad_answer(r, "HMGET");
	const bool has_version = weir__reply_version(a->element[2], &version);
	if (has_version && !weir__version_in_range(version))
		return weir_fail(-EBADMSG, "set %s: the head is of version %s, which no node "
		                 "counts up to, so another client wrote it: UNLINK %s, and nodes "
		                 "publish again", r->o.set, a->element[2]->str, r->keys.head);
	int err = read_manifest(r, text->str, text->len, &m);
	if (!err && (!has_version || weir__version_compare(version, m.version) != 0))
		err = weir_fail(-EBADMSG, "set %s: the manifest is of another version than the "
		                "head", r->o.set);
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
	int err = weir__redis_ask(r, &reply, "HMGET", r->keys.head, "manifest", "signature",
	                          "version", NULL);
	if (err)
		return err;
	err = check_manifest(r, reply, out);
	freeReplyObject(reply);
	return err;
}

/* ---- publish ---- */

static void set_dates(const struct weir_redis *r, struct weir_manifest *m)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	m->signed_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	m->expires_ms = r->o.expires_ms ? m->signed_ms + r->o.expires_ms : 0;
}

/* @tag: the tag of the log entry that announces the generation. */
static int send_publication(struct weir_redis *r, const struct weir_publication *p,
                            const char *text, const char *signature, uint64_t tag)
{
	const struct weir_manifest *m = p->manifest;
	const struct weir_key_names *k = &r->keys;
	char mark[WEIR_HEX_TEXT], id[WEIR_HEX_TEXT], at[WEIR_HEX_TEXT], own[WEIR_HEX_TEXT];
	char base[WEIR_ID_TEXT], version[WEIR_ID_TEXT], position[WEIR_ID_TEXT];
	char image[WEIR_KEY_TEXT], chunks[WEIR_NUMBER_TEXT], bytes[WEIR_NUMBER_TEXT];
	char chunk[WEIR_NUMBER_TEXT], keep[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	int err = weir__redis_script(r, &r->publish, NULL, 0, &reply, k->head, k->log, k->kept,
		k->nodes, weir__hex_write(mark, p->mark), weir__version_write(base, p->base),
		weir__version_write(version, m->version), weir__hex_write(id, m->id), text,
		signature, weir__log_id_write(position, m->position), weir__hex_write(at, m->tag),
		weir__hex_write(own, tag), weir__key_of_image(image, k, m->image),
		weir__number(chunks, m->chunks), weir__number(bytes, m->bytes),
		weir__number(chunk, WEIR_CHUNK), weir__number(keep, r->o.keep), NULL);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_STATUS)
		err = weir__redis_bad_answer(r, "publish");
	freeReplyObject(reply);
	return err;
}

int weir__redis_publish(void *context, const struct weir_publication *p)
{
	struct weir_redis *r = context;
	struct weir_manifest checked;
	char text[WEIR_MANIFEST_TEXT], signature[WEIR_SIGNATURE_ROOM] = "";
	uint64_t tag;
	if (weir__version_compare(p->manifest->version, p->base) <= 0)
		return weir_fail(-EINVAL, "set %s: a generation must be above the head's version",
		                 r->o.set);
	set_dates(r, p->manifest);
	size_t len = weir__manifest_write(text, p->manifest);
	int err = read_manifest(r, text, len, &checked); /* the check that other nodes will make */
	if (!err && r->o.sign)
		err = r->o.sign(r->o.signer, text, len, signature);
	if (!err)
		err = weir__draw(&tag);
	return err ? err : send_publication(r, p, text, signature, tag);
}

/* ---- the lease: avoids double uploads, and delays nodes that would begin a set ---- */

/* SET the lease if it is free (NX), or renew this node's lease (XX). */
static int set_lease(const struct weir_redis *r, const char *node, const char *ms, const char *how)
{
	struct redisReply *before;
	int err = weir__redis_ask(r, &before, "SET", r->keys.lease, node, "PX", ms, how, "GET",
	                          NULL);
	if (err)
		return err;
	const bool had = before->type != REDIS_REPLY_NIL;
	if (had && !(weir__is_string(before) && strcmp(before->str, node) == 0))
		err = weir_fail(-EPERM, "set %s: another node is about to publish", r->o.set);
	freeReplyObject(before);
	return !err && had && strcmp(how, "NX") == 0 ? set_lease(r, node, ms, "XX") : err;
}

int weir__redis_lease(void *context, uint64_t node, uint32_t milliseconds)
{
	char name[WEIR_HEX_TEXT], ms[WEIR_NUMBER_TEXT];
	return set_lease(context, weir__hex_write(name, node), weir__number(ms, milliseconds),
	                 "NX");
}
