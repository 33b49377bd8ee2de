/* SPDX-License-Identifier: MIT
 * Checks run in this order: signature, set, version, expiry. The state file is read each time,
 * since another process may have raised its version.
 *
 * An expiry check uses the later of two times: the wall clock's, and the version's signing time
 * plus the version's age on this machine. So a clock that is set back makes no version younger. A
 * higher version has its own age, so a signing time in the future distorts the check only until the
 * next version. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/error.h>
#include "parts.h"

enum { HIGHER = 1, NOTES_PER_LIFE = 24 }; /* NOTES_PER_LIFE: writes of a version's age to the
                                             state file during the version's life */

#define VERSION "%" PRIu64 ".%" PRIu64

struct weir_trust {
	unsigned char keys[WEIR_KEYS_TRUSTED][WEIR_KEY_BYTES];
	size_t n;
	struct weir_accepted accepted;
	uint64_t at_ms;    /* weir_now.run_ms when accepted.ran_ms was set */
	uint64_t noted_ms; /* the value of accepted.ran_ms in the file */
	const char *path, *set;
	char names[];
};

static bool same(const struct weir_accepted *a, const struct weir_accepted *b)
{
	return weir__version_compare(a->version, b->version) == 0 &&
	       memcmp(a->manifest, b->manifest, sizeof a->manifest) == 0;
}

/* Read the state file. Fails if its version is older than that of @t. */
static int read_state(struct weir_trust *t, struct weir_now now)
{
	struct weir_accepted file, *accepted = &t->accepted;
	int err = weir__state_read(&file, t->path, t->set);
	if (err)
		return err;
	if (weir__version_compare(file.version, accepted->version) < 0)
		return weir_fail(-EKEYREJECTED, "%s: has version " VERSION " (0.0: it has gone), "
		                 "and " VERSION " was taken: put the newer file back", t->path,
		                 file.version.era, file.version.number, accepted->version.era,
		                 accepted->version.number);
	t->noted_ms = file.ran_ms;
	if (same(&file, accepted)) {
		uint64_t ran_ms = accepted->ran_ms + (now.run_ms - t->at_ms);
		file.ran_ms = ran_ms > file.ran_ms ? ran_ms : file.ran_ms;
	}
	*accepted = file;
	t->at_ms = now.run_ms;
	return 0;
}

/* @floor_ms: use this time if the wall clock is before it. */
static int check_expiry(const struct weir_trust *t, const struct weir_accepted *h,
                        uint64_t floor_ms, struct weir_now now)
{
	uint64_t time_ms = now.wall_ms > floor_ms ? now.wall_ms : floor_ms;
	if (!h->expires_ms || time_ms < h->expires_ms)
		return 0;
	return weir_fail(-EKEYEXPIRED, "version " VERSION " of set %s expired %" PRIu64 " s ago%s: "
	                 "see that a node with the secret key runs, and that redis gives what it "
	                 "publishes", h->version.era, h->version.number, t->set,
	                 (time_ms - h->expires_ms) / 1000, now.wall_ms < h->expires_ms ?
	                 " (this machine's clock is behind: set it)" : "");
}

/* Return: 0 if @next is the accepted version; HIGHER if it is a higher version; or a negative
 * errno. */
static int check_version(struct weir_trust *t, const struct weir_accepted *next,
                         struct weir_now now)
{
	const struct weir_accepted *accepted = &t->accepted;
	int err = read_state(t, now);
	if (err)
		return err;
	int order = weir__version_compare(next->version, accepted->version);
	if (order < 0)
		return weir_fail(-EKEYREJECTED, "version " VERSION " of set %s is older than "
		                 VERSION ", which this machine took: redis was put back, or "
		                 "withholds what is newer: publish again with the secret key",
		                 next->version.era, next->version.number, t->set,
		                 accepted->version.era, accepted->version.number);
	err = check_expiry(t, next, order ? next->signed_ms :
	                            accepted->signed_ms + accepted->ran_ms, now);
	if (!err && !order && !same(next, accepted))
		return weir_fail(-EEXIST, "version " VERSION " of set %s exists twice: this "
		                 "machine took %016" PRIx64 ", and redis has %016" PRIx64
		                 ": publish a newer one with the secret key, or give another "
		                 "state file", next->version.era, next->version.number, t->set,
		                 accepted->id, next->id);
	return err ? err : order;
}

/* Write @higher to the file. If @higher is NULL, write the age of the accepted version. */
static int write_state(struct weir_trust *t, const struct weir_accepted *higher,
                       struct weir_now now)
{
	int lock = weir__file_lock(t->path);
	if (lock < 0)
		return lock;
	int err = higher ? check_version(t, higher, now) : read_state(t, now);
	if (err == HIGHER || (!err && !higher)) {
		err = weir__state_write(higher ? higher : &t->accepted, t->path, t->set);
		if (!err)
			err = read_state(t, now);
	}
	close(lock);
	return err;
}

int weir__trust_signed(const struct weir_trust *t, const struct weir_manifest *m, const char *text,
                       size_t len, const char *signature, size_t signature_len)
{
	int err = weir__signature_check(t->keys[0], t->n, text, len, signature, signature_len);
	if (!err && strcmp(m->set, t->set) != 0)
		err = weir_fail(-EKEYREJECTED, "the manifest is of set %s, and not of %s: see who "
		                "copied it, and publish again", m->set, t->set);
	return err;
}

int weir__trust_accept(struct weir_trust *t, const struct weir_manifest *m, const char *text,
                       size_t len, const char *signature, size_t signature_len, struct weir_now now)
{
	struct weir_accepted next = { .version = m->version, .id = m->id, .signed_ms = m->signed_ms,
	                          .expires_ms = m->expires_ms };
	int err = weir__trust_signed(t, m, text, len, signature, signature_len);
	if (err)
		return err;
	memcpy(next.image, m->image, sizeof next.image);
	crypto_generichash(next.manifest, sizeof next.manifest, (const unsigned char *)text, len,
	                   NULL, 0);
	err = check_version(t, &next, now);
	return err == HIGHER ? write_state(t, &next, now) : err;
}

int weir__trust_recheck(struct weir_trust *t, struct weir_now now)
{
	const struct weir_accepted *h = &t->accepted;
	int err = read_state(t, now);
	if (!err && h->expires_ms &&
	    h->ran_ms - t->noted_ms >= (h->expires_ms - h->signed_ms) / NOTES_PER_LIFE)
		err = write_state(t, NULL, now);
	int expired = check_expiry(t, h, h->signed_ms + h->ran_ms, now);
	return expired ? expired : err;
}

const struct weir_accepted *weir__trust_accepted(const struct weir_trust *trust)
{
	return &trust->accepted;
}

int weir__trust_open(struct weir_trust **out, const char *public_file, const char *state_file,
                     const char *set, struct weir_now now)
{
	if (!state_file || !*state_file)
		return weir_fail(-EINVAL, "trusted_keys needs state_file: name the file where this "
		                 "machine notes the newest version of set %s", set);
	const size_t bytes = strlen(state_file) + 1;
	struct weir_trust *t = calloc(1, sizeof *t + bytes + strlen(set) + 1);
	if (!t)
		return weir_fail(-ENOMEM, "%s: no memory for public keys", public_file);
	t->path = strcpy(t->names, state_file);
	t->set = strcpy(t->names + bytes, set);
	int n = weir__keys_read(t->keys, public_file);
	int err = n < 0 ? n : read_state(t, now);
	t->n = n < 0 ? 0 : (size_t)n;
	if (!err)
		*out = t;
	else
		free(t);
	return err;
}

void weir__trust_close(struct weir_trust *trust)
{
	free(trust);
}
