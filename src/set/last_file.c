/* SPDX-License-Identifier: MIT
 * Whether a file is looked at again. */
#include <errno.h>
#include "set/last_file.h"

static const double settled = 2.5; /* seconds: longer than a tick of any clock of files */

bool weir__last_file_is(const struct weir_last_file *last, const struct weir_file_identity *file,
                        uint64_t generation)
{
	return weir__same_file(&last->identity, file) && last->damaged_since == 0 &&
	       (!last->refused_with || last->refused_with == generation);
}

bool weir__last_file_judge(struct weir_last_file *last, const struct weir_file_identity *file,
                           int err, uint64_t with, double began)
{
	bool damaged = err == -EBADMSG;
	bool again = damaged && last->damaged_since > 0 && weir__same_file(&last->identity, file);
	double since = again ? last->damaged_since : began;
	*last = (struct weir_last_file){
		.identity = *file,
		.refused = err != 0,
		.refused_with = with,
		.damaged_since = damaged && began - since < settled ? since : 0
	};
	return again;
}
