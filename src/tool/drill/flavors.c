/* SPDX-License-Identifier: MIT
 * The flavors of liburcu. The build defines WEIR_HAVE_MEMB, WEIR_HAVE_QSBR and WEIR_HAVE_MB for the
 * flavors that it found in addition to bp. */
#include <stdbool.h> /* flavor.h of liburcu 0.15 uses bool without this include */
#include <string.h>
#include <urcu/flavor.h>
#include "drill.h"
#include "output/say.h"

extern const struct rcu_flavor_struct urcu_memb_flavor, urcu_mb_flavor, urcu_qsbr_flavor;

static const struct flavor flavors[] = {
	{ "bp", NULL },
#ifdef WEIR_HAVE_MEMB
	{ "memb", &urcu_memb_flavor },
#endif
#ifdef WEIR_HAVE_QSBR
	{ "qsbr", &urcu_qsbr_flavor },
#endif
#ifdef WEIR_HAVE_MB
	{ "mb", &urcu_mb_flavor },
#endif
};

bool flavor_find(const char *name, struct flavor *out)
{
	char known[64] = "";
	for (size_t i = 0; i < sizeof flavors / sizeof *flavors; i++) {
		if (strcmp(name, flavors[i].name) == 0) {
			*out = flavors[i];
			return true;
		}
		strcat(strcat(known, i ? ", " : ""), flavors[i].name);
	}
	say("--flavor '%s': this build has %s", name, known);
	return false;
}

void flavor_enter(const struct flavor *flavor)
{
	if (flavor->rcu)
		flavor->rcu->register_thread();
}

void flavor_leave(const struct flavor *flavor)
{
	if (flavor->rcu)
		flavor->rcu->unregister_thread();
}

void flavor_quiet(const struct flavor *flavor)
{
	if (flavor->rcu)
		flavor->rcu->read_quiescent_state();
}

void flavor_sleep(const struct flavor *flavor)
{
	if (flavor->rcu)
		flavor->rcu->thread_offline();
}

void flavor_wake(const struct flavor *flavor)
{
	if (flavor->rcu)
		flavor->rcu->thread_online();
}
