/* SPDX-License-Identifier: MIT
 * Macros for declarations in the public headers. The linker sees functions marked WEIR_API, and no
 * others. */
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
/* A struct whose struct_size is set and whose other fields are 0. */
#define WEIR__INIT(type) weir__init<struct type>()
extern "C++" { /* a template needs it if the caller includes this header within extern "C" */
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
