/* SPDX-License-Identifier: MIT
 * Includes all public headers except inline.h, which needs xxhash.h, and replica.h, which belongs
 * to the library weir-redis. */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <weir/version.h>
#include <weir/error.h>
#include <weir/kinds.h>
#include <weir/params.h>
#include <weir/keys.h>
#include <weir/filter.h>
#include <weir/text.h>
#include <weir/build.h>
#include <weir/secret.h>
#include <weir/image.h>
#include <weir/delta.h>
#include <weir/handle.h>
#include <weir/reload.h>
#include <weir/refresh.h>
#include <weir/follow.h>
#include <weir/window.h>
#include <weir/router.h>
#include <weir/small.h>
#include <weir/guard.h>
#include <weir/parquet.h>
#include <weir/metrics.h>

#endif
