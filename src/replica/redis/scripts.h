/* SPDX-License-Identifier: MIT
 * What must be atomic at the server: Lua that runs there. Each is given all keys of the set
 * (keys.h), and begins by finding the epoch (L1), which INFO tells it in there. */
#ifndef WEIR_REPLICA_SCRIPTS_H
#define WEIR_REPLICA_SCRIPTS_H

enum weir_script {
	WEIR_SCRIPT_MANIFEST,
	WEIR_SCRIPT_APPEND,
	WEIR_SCRIPT_READ,
	WEIR_SCRIPT_PUBLISH,
	WEIR_SCRIPT_LEASE,
	WEIR_SCRIPT_RELEASE,
	WEIR_SCRIPT_REPORT,
	WEIR_SCRIPT_ALIVE,
	WEIR_SCRIPT_STATUS,
	WEIR_SCRIPTS,
};

extern const char *const weir__script_prelude;
extern const char *const weir__script_text[WEIR_SCRIPTS];

#endif
