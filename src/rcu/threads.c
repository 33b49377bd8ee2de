/* SPDX-License-Identifier: MIT
 * liburcu's threads: which thread runs call_rcu's callbacks, and how the default flavor survives
 * fork(). */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <weir/version.h>
#include "rcu/rcu.h"

/* ---- call_rcu's thread ---- */

/* Each flavor's library reports its call_rcu thread by functions outside rcu_flavor_struct. The
 * references are weak, since weir needs only liburcu-bp. A program that gives weir another flavor
 * has linked that flavor's library, so the references resolve. */
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
	/* Returns the data of the call_rcu thread assigned to the calling thread, or NULL. A
	 * call_rcu thread is assigned to itself. */
	struct call_rcu_data *(*data)(void);
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
 * A child of fork() has one thread. In the child, liburcu's locks stay locked and the sections of
 * other threads never end. A user of liburcu-bp must call its functions before and after fork().
 * weir does so for its default flavor, unless the program does.
 *
 * Two calls of one such function before one fork() deadlock, and a program may have registered
 * these functions itself, as liburcu's manual says. Handlers before a fork run in reverse order of
 * registration. weir registers when the library is loaded, so a program's handlers run before
 * weir's. liburcu has then blocked all signals, which weir detects. If a program loads weir as a
 * plugin, the program may have registered earlier. Its handlers then run after weir's, which cannot
 * detect them. So weir does not register if such a program has its own liburcu-bp. */

#ifndef WEIR_DET /* tests/schedule does not fork */

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

/* Call liburcu's functions for the start of a fork(), unless the program has called them. Skip the
 * calls in a section or a callback too, since the thread would wait for a grace period that waits
 * for the same thread. */
static void before_fork(void)
{
	prepared = !all_signals_blocked() && !urcu_bp_read_ongoing() &&
	           !weir__in_callback(&urcu_bp_flavor);
	if (!prepared)
		return;
	urcu_bp_call_rcu_before_fork();
	urcu_bp_before_fork();
}

/* MemorySanitizer regards the stack of an uninstrumented library as uninitialised. */
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

/* Return: true if the program, or a library loaded at its start, has a function @name. RTLD_DEFAULT
 * would also search plugins. */
static bool in_program(const char *name)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	const bool found = program && dlsym(program, name);
	if (program)
		dlclose(program);
	return found;
}

/* Return: true if weir is part of the program, or a library loaded at its start. */
static bool loaded_at_start(void)
{
	Dl_info program, own;
	const void *head = (const void *)(uintptr_t)getauxval(AT_PHDR);
	if (dladdr(head, &program) && dladdr((const void *)(uintptr_t)before_fork, &own) &&
	    program.dli_fbase == own.dli_fbase)
		return true;
	return in_program("weir_version");
}

/* Return: true if weir is a plugin of a program that has its own liburcu-bp. */
static bool may_be_registered(void)
{
	return !loaded_at_start() && in_program("urcu_bp_before_fork");
}

__attribute__((constructor)) static void register_fork_handlers(void)
{
	if (!may_be_registered()) /* if this fails, fork() works as if weir did nothing */
		(void)pthread_atfork(before_fork, in_parent, in_child);
}

#endif
