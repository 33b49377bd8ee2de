/* SPDX-License-Identifier: MIT
 * The manifest there is, and the making of another. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <hiredis/hiredis.h>
#include <weir/error.h>
#include "../format/scripts.h"
#include "../node.h"
#include "redis.h"

static bool is_text(const struct redisReply *r)
{
	return r->type == REDIS_REPLY_STRING || r->type == REDIS_REPLY_NIL;
}

/* { epoch, text, signature, SHA-1 of the text } */
static bool has_shape(const struct redisReply *a)
{
	return a->type == REDIS_REPLY_ARRAY && a->elements == 4 &&
	       a->element[0]->type == REDIS_REPLY_STRING &&
	       a->element[0]->len == WEIR_REPLICA_EPOCH && is_text(a->element[1]) &&
	       is_text(a->element[2]) && a->element[3]->type == REDIS_REPLY_STRING &&
	       a->element[3]->len == WEIR_REDIS_SHA;
}

/* No version's, and nothing that this set could be: no publisher stands behind such a text, so it
 * is in nobody's way, whatever number of a generation it has. Whose it is does not matter. */
static bool is_none(const struct weir_redis *r, const struct redisReply *text)
{
	struct weir_origins origins = { 0 };
	struct weir_manifest m;
	int err = weir__manifest_read(&m, &origins, text->str, text->len);
	weir__origins_free(&origins);
	return err == -EBADMSG || (!err && strcmp(m.set, r->keys.set) != 0);
}

/* Copy a manifest's text. Before a word of it is believed, its signature is checked. */
static int take_text(struct weir_redis *r, const char *signature, size_t signature_len,
                     const char *from, size_t n, char **text, size_t *len)
{
	int err = r->trust ? weir__trust_check(r->trust, signature, signature_len, from, n,
	                                       r->image_hash) : 0;
	if (err)
		return weir_fail(err, "set %s: %s", r->keys.set, weir_error_detail());
	*text = malloc(n + 1);
	if (!*text)
		return weir_fail(-ENOMEM, "no memory for a manifest of %zu bytes", n);
	memcpy(*text, from, n);
	(*text)[n] = '\0';
	*len = n;
	return 0;
}

static int take(struct weir_redis *r, const struct redisReply *a, char epoch[], char **text,
                size_t *len)
{
	const struct redisReply *manifest = a->element[1], *signature = a->element[2];
	bool none = signature->type != REDIS_REPLY_STRING || signature->len == 0;
	r->is_signed = !none;
	r->none[0] = '\0';
	memcpy(epoch, a->element[0]->str, WEIR_REPLICA_EPOCH);
	epoch[WEIR_REPLICA_EPOCH] = '\0';
	if (manifest->type == REDIS_REPLY_NIL)
		return 0;
	if (is_none(r, manifest))
		memcpy(r->none, a->element[3]->str, sizeof r->none);
	return take_text(r, none ? "" : signature->str, none ? 0 : signature->len, manifest->str,
	                 manifest->len, text, len);
}

int weir__redis_manifest(void *context, char epoch[WEIR_REPLICA_EPOCH + 1], char **text,
                         size_t *len)
{
	struct weir_redis *r = context;
	struct redisReply *reply;
	uint64_t random;
	char token[17];
	epoch[0] = '\0';
	*text = NULL;
	*len = 0;
	int err = weir__random(&random);
	if (err)
		return err;
	snprintf(token, sizeof token, "%016" PRIx64, random);
	const struct iovec args[] = { weir__text(token) };
	err = weir__redis_call(r, WEIR_SCRIPT_MANIFEST, args, 1, &reply);
	if (err)
		return err;
	err = has_shape(reply) ? take(r, reply, epoch, text, len) :
	                         weir__redis_shape(r, "a reading of the manifest");
	freeReplyObject(reply);
	return err;
}

/* Whoever may write the key may have put another there, with its signature. */
static int check_number(const struct weir_redis *r, uint64_t generation, const char *text)
{
	char line[32 + WEIR_NUMBER_TEXT];
	snprintf(line, sizeof line, "\ngeneration %" PRIu64 "\n", generation);
	return strstr(text, line) ? 0 : weir_fail(-EBADMSG, "set %s: what is kept as generation %"
	                                          PRIu64 " is another", r->keys.set, generation);
}

/* Signature, newline, text. */
static int take_kept(struct weir_redis *r, const struct redisReply *a, uint64_t generation,
                     char **text, size_t *len)
{
	const char *end = memchr(a->str, '\n', a->len);
	if (!end)
		return weir__redis_shape(r, "HGET of a generation that is kept");
	size_t signature = (size_t)(end - a->str);
	int err = take_text(r, a->str, signature, end + 1, a->len - signature - 1, text, len);
	if (err)
		return err;
	err = check_number(r, generation, *text);
	if (err)
		free(*text);
	return err;
}

/* What is published again is signed again, and so has to be somebody's who is trusted: redis may
 * say that anything was kept. */
static int check_signer(const struct weir_redis *r)
{
	if (!r->signer || r->trust)
		return 0;
	return weir_fail(-EKEYREJECTED, "set %s: who signs a generation that redis has kept must "
	                 "know whose it is: trusted keys (trusted_keys, --trusted) beside the "
	                 "secret one", r->keys.set);
}

int weir__redis_kept(struct weir_redis *r, uint64_t generation, char **text, size_t *len)
{
	char number[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("HGET"), weir__text(r->keys.of[WEIR_KEY_KEPT]),
		                      weir__number(number, generation) };
	int err = check_signer(r);
	if (!err)
		err = weir__redis_command(r, args, 3, &reply);
	if (err)
		return err;
	err = reply->type == REDIS_REPLY_STRING ? take_kept(r, reply, generation, text, len) :
	      reply->type == REDIS_REPLY_NIL    ?
		weir_fail(-ENOENT, "set %s: generation %" PRIu64 " is not kept", r->keys.set,
		          generation) :
		weir__redis_shape(r, "HGET of a generation that is kept");
	freeReplyObject(reply);
	return err;
}

static int sign(struct weir_redis *r, const char *text, size_t len,
                char signature[WEIR_SIGNATURE_TEXT])
{
	signature[0] = '\0';
	if (r->trust && !r->signer)
		return weir_fail(-EKEYREJECTED, "set %s: trusted keys (trusted_keys, --trusted) "
		                 "and no secret one (secret_key, --secret): nodes would refuse "
		                 "what this one publishes", r->keys.set);
	if (r->is_signed && !r->signer)
		return weir_fail(-EKEYREJECTED, "set %s: the generation there is is signed, and "
		                 "this one would not be: publish with a secret key (secret_key, "
		                 "--secret), or DEL the set's keys", r->keys.set);
	return r->signer ? weir__signer_sign(r->signer, text, len, r->image_hash, signature) : 0;
}

/* The path in a generation that is kept: { generation, signature newline text }. */
static char *path_of(const struct redisReply *r)
{
	const char *at = r->type == REDIS_REPLY_STRING ? strstr(r->str, "\npath ") : NULL;
	return at ? strndup(at + 6, strcspn(at + 6, "\n")) : NULL;
}

/* Files that no generation has any more. What fails here is for the next time. */
static void prune_folder(struct weir_redis *r)
{
	struct redisReply *reply;
	char *names[64];
	size_t n = 0;
	const struct iovec args[] = { weir__text("HGETALL"),
		                      weir__text(r->keys.of[WEIR_KEY_KEPT]) };
	if (weir__redis_command(r, args, 2, &reply) != 0)
		return;
	bool all = reply->type == REDIS_REPLY_ARRAY && reply->elements / 2 <= 64;
	for (size_t i = 1; all && i < reply->elements; i += 2)
		if ((names[n] = path_of(reply->element[i])))
			n++;
	if (all)
		(void)weir__folder_prune(r->image_folder, r->keys.set, names, n, r->superseded_s);
	while (n)
		free(names[--n]);
	freeReplyObject(reply);
}

/* Is it the image of this generation alone? One that is returned to has that of a kept one, and
 * redis may say that any path was kept. */
static bool is_new(const struct weir_redis *r, const struct weir_manifest *m)
{
	char name[sizeof m->path];
	weir__redis_image_name(name, r, m);
	return strcmp(m->path, name) == 0;
}

/* It is certain that nobody will ask for it: it was refused. */
static void drop_image(struct weir_redis *r, const struct weir_manifest *m, int err)
{
	bool refused = err == -ENOSPC || err == -EEXIST || err == -EPERM || err == -ESTALE;
	char why[512], path[4096];
	if (!refused)
		return;
	snprintf(why, sizeof why, "%s", weir_error_detail());
	if (!r->image_folder)
		weir__redis_unstore(r, m);
	else if (is_new(r, m) && (size_t)snprintf(path, sizeof path, "%s/%s", r->image_folder,
	                                          m->path) < sizeof path)
		(void)unlink(path);
	(void)weir_fail(err, "%s", why);
}

int weir__redis_publish(void *context, const struct weir_manifest *m, const char *text, size_t len)
{
	struct weir_redis *r = context;
	char signature[WEIR_SIGNATURE_TEXT];
	struct weir_publish_texts room;
	struct iovec args[WEIR_PUBLISH_ARGUMENTS];
	struct redisReply *reply;
	int err = sign(r, text, len, signature);
	if (err)
		return err;
	const struct weir_publishing p = { &r->keys, weir__text(r->owner), signature,
		                           r->none, r->keep, r->superseded_s };
	weir__publish_arguments(args, &room, &p, m, text, len);
	err = weir__redis_call(r, WEIR_SCRIPT_PUBLISH, args, WEIR_PUBLISH_ARGUMENTS, &reply);
	if (err) {
		drop_image(r, m, err);
		return err;
	}
	freeReplyObject(reply);
	if (r->image_folder)
		prune_folder(r);
	return 0;
}
