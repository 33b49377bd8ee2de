/* SPDX-License-Identifier: MIT
 * Threads that liburcu has or knows: which one is call_rcu's, and what becomes of them all in a
 * child of fork(). */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <weir/version.h>
#include "rcu/rcu.h"

/* ---- call_rcu's thread ---- */

/* Each flavor's library reports it, by functions that are no members of rcu_flavor_struct. The
 * references are weak, since weir needs liburcu-bp alone. A program that gives weir another flavor
 * has that one's library too, and then they are found. */
struct call_rcu_data;

#define WEIR__WEAK(name) \
	extern const struct rcu_flavor_struct name##_flavor __attribute__((weak)); \
	extern struct call_rcu_data *name##_get_thread_call_rcu_data(void) __attribute__((weak)); \
	extern pthread_t name##_get_call_rcu_thread(struct call_rcu_data *data) \
		__attribute__((weak));
WEIR__WEAK(urcu_bp)
WEIR__WEAK(urcu_memb)
WEIR__WEAK(urcu_mb)
WEIR__WEAK(urcu_qsbr)

#define WEIR__CALLER(name) \
	{ &name##_flavor, name##_get_thread_call_rcu_data, name##_get_call_rcu_thread }
static const struct caller {
	const struct rcu_flavor_struct *flavor;
	struct call_rcu_data *(*data)(void); /* of this thread; NULL: none of its own */
	pthread_t (*thread)(struct call_rcu_data *data);
} callers[] = { WEIR__CALLER(urcu_bp), WEIR__CALLER(urcu_memb), WEIR__CALLER(urcu_mb),
	        WEIR__CALLER(urcu_qsbr) };

bool weir__in_callback(const struct rcu_flavor_struct *flavor)
{
	for (unsigned i = 0; i < sizeof callers / sizeof callers[0]; i++) {
		const struct caller *c = &callers[i];
		if (c->flavor != flavor || !c->data || !c->thread)
			continue;
		struct call_rcu_data *data = c->data();
		return data && pthread_equal(c->thread(data), pthread_self());
	}
	return false;
}

/* ---- fork() ----
 *
 * A child has one thread. What others did at that moment stays undone there: liburcu's locks stay
 * taken, and a section that they were in never ends. liburcu-bp leaves it to its users to call it
 * before and after. weir does so for the flavor that it brings, where nobody else did.
 *
 * To call it twice is a deadlock. A program may have registered the calls itself, as liburcu tells
 * it. Handlers that run before a fork run in the reverse order, so those of a program come before
 * weir's, which are registered when the library is loaded; and liburcu has blocked all signals by
 * then. Only a program that loads weir as a plugin may have registered its own before. */

#ifndef WEIR_DET /* tests/schedule: nobody forks there */

static _Thread_local bool prepared;

static bool all_signals_blocked(void)
{
	sigset_t blocked;
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP && !sigismember(&blocked, i))
			return false;
	return true;
}

/* Who forks in a section would wait for a grace period that waits for him. */
static void before_fork(void)
{
	prepared = !all_signals_blocked() && !urcu_bp_read_ongoing() &&
	           !weir__in_callback(&urcu_bp_flavor);
	if (!prepared)
		return;
	urcu_bp_call_rcu_before_fork();
	urcu_bp_before_fork();
}

/* MemorySanitizer takes the stack of a library that was not compiled for it for memory that nobody
 * wrote. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
void __msan_scoped_disable_interceptor_checks(void);
void __msan_scoped_enable_interceptor_checks(void);
#define WEIR__MSAN(check) __msan_scoped_##check##_interceptor_checks()
#endif
#endif
#ifndef WEIR__MSAN
#define WEIR__MSAN(check) (void)0
#endif

static void in_parent(void)
{
	if (!prepared)
		return;
	WEIR__MSAN(disable);
	urcu_bp_after_fork_parent();
	WEIR__MSAN(enable);
	urcu_bp_call_rcu_after_fork_parent();
}

static void in_child(void)
{
	if (!prepared)
		return;
	WEIR__MSAN(disable);
	urcu_bp_after_fork_child();
	WEIR__MSAN(enable);
	urcu_bp_call_rcu_after_fork_child();
}

/* Do the program and the libraries that it was started with have that function? RTLD_DEFAULT would
 * find what came with a plugin too. */
static bool in_program(const char *name)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	const bool found = program && dlsym(program, name);
	if (program)
		dlclose(program);
	return found;
}

/* Is this the program itself, or a library that it was started with? */
static bool loaded_at_start(void)
{
	Dl_info program, own;
	const void *head = (const void *)(uintptr_t)getauxval(AT_PHDR);
	if (dladdr(head, &program) && dladdr((const void *)(uintptr_t)before_fork, &own) &&
	    program.dli_fbase == own.dli_fbase)
		return true;
	return in_program("weir_version");
}

/* Of a plugin: has the program a liburcu-bp of its own? */
static bool may_be_registered(void)
{
	return !loaded_at_start() && in_program("urcu_bp_before_fork");
}

__attribute__((constructor)) static void watch_forks(void)
{
	if (!may_be_registered()) /* no memory for it: as if nobody had called it */
		(void)pthread_atfork(before_fork, in_parent, in_child);
}

#endif
