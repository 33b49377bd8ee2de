/* SPDX-License-Identifier: MIT
 * liburcu as a handle uses it: read-side sections and grace periods of the caller's flavor. The
 * default flavor's sections are compiled inline. A section is only a few instructions, so a call
 * would be a large part of its cost.
 *
 * ThreadSanitizer sees no order in liburcu's barriers, so this file annotates two orders. First,
 * accesses in a section come before the accesses after a grace period that waited for the section.
 * Second, writes before call_rcu() come before the reads of call_rcu's thread. */
#ifndef WEIR_SRC_RCU_H
#define WEIR_SRC_RCU_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define WEIR__TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define WEIR__ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR__TSAN 1
#elif __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define WEIR__ASAN 1
#endif
#endif

#ifdef WEIR__TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define WEIR__SECTION_ENDS(at) __tsan_release(at)
#define WEIR__SECTIONS_ENDED(at) __tsan_acquire(at)
#else
/* liburcu 0.13.2 aligns its records less than its headers declare. UndefinedBehaviorSanitizer
 * reports that in inlined sections, so builds with that sanitizer or AddressSanitizer call liburcu
 * instead. gcc has no macro for UndefinedBehaviorSanitizer alone. */
#ifndef WEIR__ASAN
#define _LGPL_SOURCE /* makes sections inline; weir's licence allows that */
#endif
#define WEIR__SECTION_ENDS(at) (void)(at)
#define WEIR__SECTIONS_ENDED(at) (void)(at)
#endif

#ifdef _LGPL_SOURCE
#include <urcu/tls-compat.h>
/* How liburcu's sections find the record of their thread. In a shared library each use of a
 * thread-local variable calls __tls_get_addr, and a section has four uses. So a const function
 * returns the variable's address, and the compiler calls the function once for all uses. With the
 * option static_tls the variable has the initial-exec model: the code needs no call, since the
 * loader finds the variable's offset. But dlopen() of such a library fails if an earlier plugin has
 * used liburcu-bp, so the option is for programs that link the library. The declaration with the
 * model stands before and after liburcu's own declaration, because clang takes the model of the
 * first declaration and gcc that of the last. */
struct urcu_bp_reader;
#ifdef WEIR_STATIC_TLS
#define WEIR__BP_READER \
	extern DECLARE_URCU_TLS(struct urcu_bp_reader *, urcu_bp_reader) \
		__attribute__((tls_model("initial-exec")))
WEIR__BP_READER;
#else
extern DECLARE_URCU_TLS(struct urcu_bp_reader *, urcu_bp_reader);
static __attribute__((const, noinline, unused)) struct urcu_bp_reader **
weir__place_of_urcu_bp_reader(void)
{
	return &URCU_TLS(urcu_bp_reader);
}
#undef URCU_TLS
#define URCU_TLS(name) (*weir__place_of_##name())
#endif
#endif
#include <urcu/urcu-bp.h>
#include <urcu/flavor.h>
#ifdef WEIR__BP_READER
WEIR__BP_READER;
#endif

struct weir_rcu {
	bool bulletproof; /* the flavor is urcu-bp. This member is the first, so that it is in the
	                     first cache line of a handle */
	/* read_lock and read_unlock are copies of the flavor's functions, which saves a load. */
	void (*read_lock)(void);
	void (*read_unlock)(void);
	const struct rcu_flavor_struct *flavor;
};

static inline struct weir_rcu weir__rcu(const struct rcu_flavor_struct *flavor)
{
	if (!flavor)
		flavor = &urcu_bp_flavor;
	return (struct weir_rcu){ .read_lock = flavor->read_lock,
	                          .read_unlock = flavor->read_unlock,
	                          .flavor = flavor,
	                          .bulletproof = flavor == &urcu_bp_flavor };
}

static inline void weir__read_lock(const struct weir_rcu *rcu)
{
	if (__builtin_expect(rcu->bulletproof, 1))
		urcu_bp_read_lock();
	else
		rcu->read_lock();
}

static inline void weir__read_unlock(const struct weir_rcu *rcu)
{
	WEIR__SECTION_ENDS((void *)(uintptr_t)rcu->flavor);
	if (__builtin_expect(rcu->bulletproof, 1))
		urcu_bp_read_unlock();
	else
		rcu->read_unlock();
}

/* Run a statement in a section. The macro writes the statement into both branches. So with the
 * default flavor the inlined lock and unlock are in one branch, and the compiler looks up the
 * thread's record once for both. */
#define WEIR__IN_SECTION(rcu, statement) \
	do { \
		if (__builtin_expect((rcu)->bulletproof, 1)) { \
			urcu_bp_read_lock(); \
			statement; \
			WEIR__SECTION_ENDS((void *)(uintptr_t)(rcu)->flavor); \
			urcu_bp_read_unlock(); \
		} else { \
			(rcu)->read_lock(); \
			statement; \
			WEIR__SECTION_ENDS((void *)(uintptr_t)(rcu)->flavor); \
			(rcu)->read_unlock(); \
		} \
	} while (0)

/* Wait until every section that began before the call has ended. */
static inline void weir__synchronize(const struct weir_rcu *rcu)
{
	rcu->flavor->update_synchronize_rcu();
	WEIR__SECTIONS_ENDED((void *)(uintptr_t)rcu->flavor);
}

/* Wait until call_rcu's thread has run the callbacks queued before this call. ThreadSanitizer
 * reports a race in how liburcu's barrier frees memory. So builds with ThreadSanitizer only wait a
 * millisecond, and the caller must check whether its callbacks have run. */
static inline void weir__barrier(const struct weir_rcu *rcu)
{
#if defined(WEIR__TSAN) && !defined(WEIR_DET) /* tests/schedule runs without the sanitizer */
	/* With qsbr, a grace period cannot end while an online thread sleeps. */
	bool online = rcu->flavor->read_ongoing();
	if (online)
		rcu->flavor->thread_offline();
	usleep(1000);
	if (online)
		rcu->flavor->thread_online();
#else
	rcu->flavor->barrier();
#endif
}

/* Return: true if this thread is in a section, so that a grace period it waits for would never end.
 * read_ongoing() returns the nesting depth, which one more section changes. With qsbr it returns
 * only whether the thread is online, so this function returns false. That is harmless, because a
 * thread that waits for a grace period counts as quiescent. */
static inline bool weir__in_section(const struct weir_rcu *rcu)
{
	int before = rcu->flavor->read_ongoing();
	if (!before)
		return false;
	rcu->flavor->read_lock();
	int inside = rcu->flavor->read_ongoing();
	rcu->flavor->read_unlock();
	return inside != before;
}

/* Return: true if this thread runs liburcu's call_rcu callbacks. Only liburcu's flavors bp, memb,
 * mb and qsbr are recognised. */
bool weir__in_callback(const struct rcu_flavor_struct *flavor);

#endif
