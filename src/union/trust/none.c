/* SPDX-License-Identifier: MIT
 * A build without libsodium: nothing is signed, and no signature is taken for good. */
#include <errno.h>
#include <weir/error.h>
#include "trust.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NONE(call) \
	int call \
	{ \
		return weir_fail(-ENOTSUP, "this build has no signatures: install " \
		                 "libsodium-dev, and build weir again"); \
	}

NONE(weir__key_make(const char *secret_file, const char *public_file))
NONE(weir__signer_open(struct weir_signer **out, const char *secret_file))
NONE(weir__signer_sign(const struct weir_signer *signer, const char *text, size_t len,
                       char line[WEIR_SIGNATURE_TEXT]))
NONE(weir__signer_clock(uint64_t now_ms, uint64_t server_ms))
NONE(weir__trust_open(struct weir_trust **out, const char *public_file, const char *state_file,
                      const char *set, struct weir_now now))
NONE(weir__trust_signed(const struct weir_trust *trust, const struct weir_manifest *m,
                        const char *text, size_t len, const char *signature,
                        size_t signature_len))
NONE(weir__trust_take(struct weir_trust *trust, const struct weir_manifest *m, const char *text,
                      size_t len, const char *signature, size_t signature_len,
                      struct weir_now now))
NONE(weir__trust_fresh(struct weir_trust *trust, struct weir_now now))

/* Nothing was opened: these have nothing to do, and replace no sentence. */
#define NOTHING(type, call, answer) type call { return answer; }
NOTHING(void, weir__signer_close(struct weir_signer *signer), )
NOTHING(void, weir__trust_close(struct weir_trust *trust), )
NOTHING(const struct weir_held *, weir__trust_held(const struct weir_trust *trust), NULL)
NOTHING(bool, weir__signer_due(const struct weir_manifest *m, uint64_t now_ms, uint64_t life_ms),
        false)
