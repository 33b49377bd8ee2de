/* SPDX-License-Identifier: MIT
 * What the library shows to the linker: every public function is marked WEIR_API, all else is
 * hidden. */
#ifndef WEIR_EXPORT_H
#define WEIR_EXPORT_H

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#define WEIR_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WEIR_API
#define WEIR_MUST_CHECK
#endif

#ifdef __cplusplus
#define WEIR_BEGIN_DECLS extern "C" {
#define WEIR_END_DECLS }
#else
#define WEIR_BEGIN_DECLS
#define WEIR_END_DECLS
#endif

#endif
