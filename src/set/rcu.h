/* SPDX-License-Identifier: MIT
 * liburcu as the handle uses it: read-side sections and grace periods of the caller's flavor. The
 * default flavor's sections are compiled in line, since they are a dozen instructions and a call
 * would cost as much again.
 *
 * ThreadSanitizer sees no order in liburcu's barriers: it is told that what was done in a
 * section comes before what is done after a grace period that waited for it, and that call_rcu's
 * thread reads what it was handed after it was written. Nothing else is annotated. */
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
/* liburcu 0.13.2 aligns its records less than its headers say, and UndefinedBehaviorSanitizer
 * minds */
#ifndef WEIR__ASAN
#define _LGPL_SOURCE /* weir's licence allows it; sections in line */
#endif
#define WEIR__SECTION_ENDS(at) (void)(at)
#define WEIR__SECTIONS_ENDED(at) (void)(at)
#endif

#ifdef _LGPL_SOURCE
#include <urcu/tls-compat.h>
/* Where liburcu's sections find their thread's record. In a shared library each use of such a
 * variable is a call of __tls_get_addr, and a section has four. A const function is called once,
 * since compilers know that its answer stays the same. An offset found by the loader
 * (initial-exec) costs nothing, but then dlopen() of the library fails once a plugin before it
 * has used liburcu-bp: for who links it to his server, option static_tls. Said before liburcu's
 * own declaration and after it: clang goes by the first, gcc by the last. */
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
	void (*read_lock)(void); /* copied out of the flavor: one load less */
	void (*read_unlock)(void);
	const struct rcu_flavor_struct *flavor;
	bool bulletproof; /* urcu-bp */
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

/* A statement in a section. Written out for either kind of flavor, so that the default one's
 * record is looked for once, not at both ends. */
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

/* From here on no section is left that began before. */
static inline void weir__synchronize(const struct weir_rcu *rcu)
{
	rcu->flavor->update_synchronize_rcu();
	WEIR__SECTIONS_ENDED((void *)(uintptr_t)rcu->flavor);
}

/* Wait for what call_rcu was handed before; a while of it, where ThreadSanitizer would take for
 * a race how liburcu's barrier frees. */
static inline void weir__barrier(const struct weir_rcu *rcu)
{
#if defined(WEIR__TSAN) && !defined(WEIR_DET) /* tests/schedule is not that sanitizer */
	bool online = rcu->flavor->read_ongoing(); /* qsbr: or nobody's grace period would end */
	if (online)
		rcu->flavor->thread_offline();
	usleep(1000);
	if (online)
		rcu->flavor->thread_online();
#else
	rcu->flavor->barrier();
#endif
}

/* Is this thread in a section, so that a grace period would wait for ever? qsbr counts no
 * sections: a thread that is online is always "in" one, and a grace period lets it through;
 * there entering another one changes nothing, which tells the two apart. */
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

#endif
