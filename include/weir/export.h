/* SPDX-License-Identifier: MIT
 * Macros for declarations in the public headers. The library exports only the functions marked
 * WEIR_API. */
#ifndef WEIR_EXPORT_H
#define WEIR_EXPORT_H

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#define WEIR_MUST_CHECK __attribute__((warn_unused_result))
#define WEIR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WEIR_API
#define WEIR_MUST_CHECK
#define WEIR_PRINTF(text, first)
#endif

#ifdef __cplusplus
#define WEIR_BEGIN_DECLS extern "C" {
#define WEIR_END_DECLS }
/* Initializes a struct: struct_size is its size, and all other fields are 0. */
#define WEIR__INIT(type) weir__init<struct type>()
extern "C++" { /* for callers that include this header within extern "C" */
template <class T> constexpr T weir__init()
{
	T empty{};
	empty.struct_size = sizeof(T);
	return empty;
}
}
#else
#define WEIR_BEGIN_DECLS
#define WEIR_END_DECLS
#define WEIR__INIT(type) { .struct_size = sizeof(struct type) }
#endif

#endif
