/* SPDX-License-Identifier: MIT
 * The build includes this file before a cuckoo source. A lookup loads a version before and after it
 * reads the buckets, and retries if the version changed. This file leaves the load before the read
 * as it is. It makes the load after the read return a changed version, changes_left times. */
#ifndef WEIR_TESTS_UNIT_CHANGED_AGAIN_H
#define WEIR_TESTS_UNIT_CHANGED_AGAIN_H

#include "ground/atomic.h"

extern unsigned changes_left, loaded_again;

static inline unsigned version_changed_again(const atomic_uint *version)
{
	unsigned now = weir__version_load_again(version);
	loaded_again++;
	return changes_left && changes_left-- ? now + 1 : now;
}
#define weir__version_load_again(version) version_changed_again(version)

#endif
