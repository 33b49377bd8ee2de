/* SPDX-License-Identifier: MIT
 * Replaces liburcu. This file defines three flavors of RCU, each a struct rcu_flavor_struct, and
 * the functions urcu_bp_read_lock() and urcu_bp_read_unlock() under their own names. Outside of
 * det_run() there is one thread, so no call waits. */
#include <stddef.h>
#include <urcu/urcu-bp.h>
#include "det.h"
#include "det_urcu.h"

/* Only the linker knows these names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static void call_back(void *head)
{
	((struct rcu_head *)head)->func(head);
}

static void call(enum det_flavor flavor, struct rcu_head *head, void (*function)(struct rcu_head *))
{
	head->func = function;
	if (det_running())
		det_rcu_call(flavor, call_back, head);
	else
		function(head);
}

static void nothing(void)
{
}

/* The functions that every flavor has. */
#define FLAVOR(name, flavor) \
	static void name##_synchronize(void) \
	{ \
		if (det_running()) \
			det_rcu_synchronize(flavor); \
	} \
	static void name##_call(struct rcu_head *head, void (*function)(struct rcu_head *)) \
	{ \
		call(flavor, head, function); \
	} \
	static void name##_barrier(void) \
	{ \
		if (det_running()) \
			det_rcu_barrier(flavor); \
	} \
	static int name##_ongoing(void) { return det_running() ? det_rcu_nesting(flavor) : 0; }

/* The functions of flavors whose threads enter and leave sections. */
#define SECTIONS(name, flavor) \
	static void name##_lock(void) \
	{ \
		if (det_running()) \
			det_rcu_read_lock(flavor); \
	} \
	static void name##_unlock(void) \
	{ \
		if (det_running()) \
			det_rcu_read_unlock(flavor); \
	}

FLAVOR(bp, DET_BP)
SECTIONS(bp, DET_BP)

void urcu_bp_read_lock(void)
{
	bp_lock();
}

void urcu_bp_read_unlock(void)
{
	bp_unlock();
}

const struct rcu_flavor_struct urcu_bp_flavor = {
	.read_lock = bp_lock, .read_unlock = bp_unlock, .read_ongoing = bp_ongoing,
	.read_quiescent_state = nothing, .update_call_rcu = bp_call,
	.update_synchronize_rcu = bp_synchronize, .thread_offline = nothing,
	.thread_online = nothing, .register_thread = nothing, .unregister_thread = nothing,
	.barrier = bp_barrier,
};

/* The flavor for memb and mb. Registering is a no-op, because only real threads need it. */
FLAVOR(memb, DET_MEMB)
SECTIONS(memb, DET_MEMB)

const struct rcu_flavor_struct det_memb_flavor = {
	.read_lock = memb_lock, .read_unlock = memb_unlock, .read_ongoing = memb_ongoing,
	.read_quiescent_state = nothing, .update_call_rcu = memb_call,
	.update_synchronize_rcu = memb_synchronize, .thread_offline = nothing,
	.thread_online = nothing, .register_thread = nothing, .unregister_thread = nothing,
	.barrier = memb_barrier,
};

/* qsbr: a section is everything between two quiescent states of an online thread. */
FLAVOR(qsbr_offline, DET_QSBR)

static void qsbr_online(void)
{
	if (det_running())
		det_rcu_read_lock(DET_QSBR);
}

static void qsbr_offline(void)
{
	if (det_running())
		det_rcu_read_unlock(DET_QSBR);
}

static void qsbr_quiescent_state(void)
{
	qsbr_offline();
	qsbr_online();
}

/* Waits outside of any section, as qsbr does for a thread that waits. */
static void while_offline(void (*wait)(void))
{
	bool online = qsbr_offline_ongoing();
	if (online)
		qsbr_offline();
	wait();
	if (online)
		qsbr_online();
}

static void qsbr_synchronize(void)
{
	while_offline(qsbr_offline_synchronize);
}

static void qsbr_barrier(void)
{
	while_offline(qsbr_offline_barrier);
}

const struct rcu_flavor_struct det_qsbr_flavor = {
	.read_lock = nothing, .read_unlock = nothing, .read_ongoing = qsbr_offline_ongoing,
	.read_quiescent_state = qsbr_quiescent_state, .update_call_rcu = qsbr_offline_call,
	.update_synchronize_rcu = qsbr_synchronize, .thread_offline = qsbr_offline,
	.thread_online = qsbr_online, .register_thread = qsbr_online,
	.unregister_thread = qsbr_offline, .barrier = qsbr_barrier,
};
