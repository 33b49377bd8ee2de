/* SPDX-License-Identifier: MIT
 * liburcu as the handle uses it: read-side sections and grace periods of the caller's flavor. The
 * default flavor's sections are compiled in line, since they are a dozen instructions and a call
 * would cost as much again.
 *
 * ThreadSanitizer sees no order in liburcu's barriers, so two orders are annotated, and no more:
 * what was done in a section comes before what is done after a grace period that waited for it, and
 * what is handed to call_rcu was written before call_rcu's thread reads it. */
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
/* liburcu 0.13.2 aligns its records less than its headers declare, which
 * UndefinedBehaviorSanitizer reports. */
#ifndef WEIR__ASAN
#define _LGPL_SOURCE /* sections in line; weir's licence allows it */
#endif
#define WEIR__SECTION_ENDS(at) (void)(at)
#define WEIR__SECTIONS_ENDED(at) (void)(at)
#endif

#ifdef _LGPL_SOURCE
#include <urcu/tls-compat.h>
/* Where liburcu's sections find their thread's record. In a shared library each use of a
 * thread-local variable is a call of __tls_get_addr, and a section has four. A const function is
 * called once, since the compiler knows that it returns the same again.
 * Option static_tls (initial-exec) costs no call at all: the loader finds the variable's offset.
 * But dlopen() of such a library fails if a plugin before it has used liburcu-bp, so the option is
 * for programs that link the library. The model is declared before liburcu's own declaration and
 * after it: clang takes the first, gcc the last. */
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
	bool bulletproof; /* urcu-bp; first, so that a handle has it on its first line */
	void (*read_lock)(void); /* copied out of the flavor: one load less */
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

/* A statement in a section. It stands here twice, so that with the default flavor the thread's
 * record is looked up once, and not at both ends of the section. */
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

/* When it returns, every section that began before has ended. */
static inline void weir__synchronize(const struct weir_rcu *rcu)
{
	rcu->flavor->update_synchronize_rcu();
	WEIR__SECTIONS_ENDED((void *)(uintptr_t)rcu->flavor);
}

/* Wait until call_rcu's thread is done with what it was handed before. ThreadSanitizer would report
 * liburcu's barrier as a race, for the way it frees; there this waits a millisecond only, and the
 * caller asks again. */
static inline void weir__barrier(const struct weir_rcu *rcu)
{
#if defined(WEIR__TSAN) && !defined(WEIR_DET) /* tests/schedule is not that sanitizer */
	/* qsbr: while an online thread sleeps no grace period ends */
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

/* Is this thread in a section, so that a grace period would wait for it for ever?
 * read_ongoing() returns how deeply sections are nested, so that entering one more changes it. Not
 * with qsbr: there it returns whether the thread is online, which is no obstacle, since a thread
 * that waits for a grace period counts as quiescent. */
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

/* Is this liburcu's own thread, which runs what call_rcu was given?
 * Return: false too for a flavor that is none of liburcu's bp, memb, mb and qsbr. */
bool weir__in_callback(const struct rcu_flavor_struct *flavor);

#endif
