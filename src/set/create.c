/* SPDX-License-Identifier: MIT
 * weir_handle_create(). The options decide what the first filter is: the caller's filter, a filter
 * made from options.params, all shards of a set, or a placeholder ([PLACEHOLDER]). */
#include <weir/params.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "set/sharded/sharded.h"

enum { FLAGS = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_OWN_HASHES | WEIR_HANDLE_ANY_STEPS };

/* Copy the options over the defaults and check them. */
static int read_options(struct weir_handle_options *out, const struct weir_handle_options *options)
{
	int err = weir__options_copy(out, sizeof *out, options, "weir_handle_options");
	if (!err && out->flags & ~(uint32_t)FLAGS)
		err = weir__fail(-EINVAL, "options.flags %#x: there is no such flag", out->flags);
	if (!err && (unsigned)out->absent > WEIR_ABSENT_NO)
		err = weir__fail(-EINVAL, "options.absent %u: WEIR_ABSENT_REFUSED, _YES or _NO",
		                 (unsigned)out->absent);
	if (!err && out->drop_kept && !out->keep_inserts)
		err = weir__fail(-EINVAL, "options.drop_kept without options.keep_inserts: no key "
		                          "is kept");
	if (!err && out->can & ~(uint32_t)WEIR_CAN_ALL)
		err = weir__fail(-EINVAL, "options.can %#x: there is no such ability", out->can);
	out->can |= WEIR_CAN_PUBLISH; /* required of every filter that the handle ever has */
	return err;
}

/* Check that only one option supplies the first filter. */
static int check_params(const struct weir_filter *initial, const struct weir_handle_options *o)
{
	if (o->params && (initial || o->absent != WEIR_ABSENT_REFUSED))
		return weir__fail(-EINVAL, "options.params: they make the first filter, and %s is "
		                  "given too", initial ? "initial" : "options.absent");
	return 0;
}

/* Refuse options that do not fit a sharded set, which makes its shards itself, with one seed. */
static int check_sharded(const struct weir_filter *initial, const struct weir_handle_options *o)
{
	const char *given = initial          ? "initial" :
	                    o->absent        ? "options.absent" :
	                    o->keep_inserts  ? "options.keep_inserts" :
	                    o->flags         ? "options.flags" :
	                    o->secret      ? "options.secret" :
	                                       NULL;
	if (given)
		return weir__fail(-EINVAL, "%s: a sharded handle makes all its filters of "
		                  "options.params, with one seed, from the beginning", given);
	return o->params ? 0 : weir__fail(-EINVAL, "options.params is NULL: a sharded handle makes "
	                                  "its filters of them");
}

/* Check the caller's first filter, or make one if the caller gave none. @made: receives the new
 * filter.  @absence: receives the state before the first set, for a placeholder. */
static int first_filter(struct weir_filter **made, struct weir_absence **absence,
                        struct weir_filter *initial, const struct weir_handle_options *o)
{
	const struct weir_filter *first = initial;
	int err = check_params(initial, o);
	if (err)
		return err;
	if (!initial && !o->params)
		return weir__absence_make(absence, made, o);
	if (!initial) {
		err = weir__empty_make(made, o->params);
		first = *made;
	}
	if (!err)
		err = weir__abilities_check(weir_can(first, WEIR_CAN_ALL), o->can, first->kind,
		                            "each filter of the handle");
	return err;
}

int weir_handle_create(struct weir_handle **out, struct weir_filter *initial,
                       const struct weir_handle_options *options)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *made = NULL;
	struct weir_absence *absence = NULL;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_handle_create needs it");
	int err = read_options(&o, options);
	if (!err && o.shards) {
		err = check_sharded(initial, &o);
		return err ? err : weir__sharded_make(out, &o);
	}
	if (!err)
		err = first_filter(&made, &absence, initial, &o);
	if (!err)
		err = weir__handle_make(out, initial ? initial : made, absence, &o);
	if (err) {
		weir_destroy(made);
		weir__absence_free(absence);
	}
	return err;
}
