/* SPDX-License-Identifier: MIT
 * The flavors of RCU that det has in addition to urcu_bp_flavor. */
#ifndef WEIR_TESTS_SCHEDULE_DET_URCU_H
#define WEIR_TESTS_SCHEDULE_DET_URCU_H

#include <stdbool.h>
#include <urcu/flavor.h>

extern const struct rcu_flavor_struct urcu_bp_flavor;

/* stands for urcu_memb_flavor and urcu_mb_flavor */
extern const struct rcu_flavor_struct det_memb_flavor;
extern const struct rcu_flavor_struct det_qsbr_flavor; /* stands for urcu_qsbr_flavor */

#endif
