/* SPDX-License-Identifier: MIT
 * A query plugin for named. It blocks a name if an image has the name or a parent of the name.
 *
 *     plugin query "weir-blocklist.so" { file "/var/lib/bind/blocked.weir"; };
 *
 * named calls the hook when it has found the database for a name: first for the queried name, then
 * for the target of each CNAME. A client that the view refuses never reaches the hook.
 *
 *  [INSTANCE-LIFE]  An instance lives as long as its view. Each query holds its view, so it never
 *     uses a freed instance.
 *  [QUERY-SECTION]  A query is in a read-side section of urcu-bp, the flavor of the sets' handles,
 *     only while it uses a filter. No call inside the section may block.
 *  [RELOAD-JOINS]  In a reload of the configuration, the new view's instance joins its sets, counts
 *     and statistics file before the old instance leaves them. */
#include <stdlib.h>
#include <urcu/urcu-bp.h>
#include <weir/error.h>
#include <weir/handle.h>
#include <weir/image.h>
#include "answer.h"
#include "bind.h"
#include "match.h"
#include "options.h"
#include "report.h"
#include "set.h"

/* The symbols that named looks up; all other symbols are hidden. */
#define ENTRY __attribute__((visibility("default")))
ENTRY ns_plugin_check_t plugin_check;
ENTRY ns_plugin_destroy_t plugin_destroy;
ENTRY ns_plugin_register_t plugin_register;
ENTRY ns_plugin_version_t plugin_version;

struct instance {
	struct options options;
	struct set *block, *allow; /* allow: NULL without an allow list */
	int list;                  /* number for counts_add() */
	struct report_part part;
};

static bool is_ready(const struct instance *in)
{
	return set_ready(in->block) && (!in->allow || set_ready(in->allow));
}

static void name_of(struct name *out, const dns_name_t *name)
{
	name_text(out, name->ndata, name->length);
}

/* Return: true if the allow list has the name. At the target of a CNAME, look up the queried name
 *   too, since an allowed name stays allowed wherever its CNAMEs lead. */
static bool is_allowed(const struct weir_filter *allow, const query_ctx_t *q,
                       const struct name *name)
{
	struct name on_lookup;
	if (match_suffix(allow, name) >= 0)
		return true;
	if (q->client->query.restarts == 0 || !q->client->query.origqname)
		return false;
	name_of(&on_lookup, q->client->query.origqname);
	return match_suffix(allow, &on_lookup) >= 0;
}

/* Return: the first label of the blocked suffix, or -1. */
static int find_blocked(const struct instance *in, const query_ctx_t *q)
{
	struct name name;
	bool allowed = false;
	name_of(&name, q->client->query.qname);
	urcu_bp_read_lock(); /* [QUERY-SECTION] */
	int label = match_suffix(weir_handle_get(set_handle(in->block)), &name);
	if (label >= 0 && in->allow)
		allowed = is_allowed(weir_handle_get(set_handle(in->allow)), q, &name);
	urcu_bp_read_unlock();
	if (allowed)
		counts_add(in->list, COUNT_ALLOWED);
	return allowed ? -1 : label;
}

/* Log in the category rpz, as named does for its policy zones. */
static void log_blocked(const struct instance *in, query_ctx_t *q, unsigned label)
{
	char name[DNS_NAME_FORMATSIZE], by[DNS_NAME_FORMATSIZE];
	char type[DNS_RDATATYPE_FORMATSIZE];
	const dns_name_t *qname = q->client->query.qname;
	dns_name_t suffix;
	if (!in->options.log || !isc_log_wouldlog(ns_lctx, ISC_LOG_INFO))
		return;
	dns_name_init(&suffix, NULL);
	dns_name_getlabelsequence(qname, label, dns_name_countlabels(qname) - label, &suffix);
	dns_name_format(qname, name, sizeof name);
	dns_name_format(&suffix, by, sizeof by);
	dns_rdatatype_format(q->qtype, type, sizeof type);
	ns_client_log(q->client, DNS_LOGCATEGORY_RPZ, NS_LOGMODULE_QUERY, ISC_LOG_INFO,
	              "weir-blocklist %s: %s/%s is answered with %s: it has %s", in->options.name,
	              name, type, answer_names[answer_for(q, &in->options)], by);
}

static ns_hookresult_t on_lookup(void *arg, void *data, isc_result_t *result)
{
	static const enum count count_of[ANSWERS] = { COUNT_NXDOMAIN, COUNT_NODATA, COUNT_ADDRESS };
	query_ctx_t *q = arg;
	const struct instance *in = data;
	enum answer given;
	if (q->client->message->rdclass != dns_rdataclass_in)
		return NS_HOOK_CONTINUE;
	/* this hook checked the query earlier; now named tries to answer it from stale data */
	if (q->client->query.attributes & NS_QUERYATTR_RECURSING)
		return NS_HOOK_CONTINUE;
	counts_add(in->list, COUNT_QUERIES);
	if (!is_ready(in)) {
		counts_add(in->list, COUNT_NOT_READY);
		if (in->options.on_error != ON_ERROR_SERVFAIL)
			return NS_HOOK_CONTINUE;
		*result = answer_not_ready(q);
		return NS_HOOK_RETURN;
	}
	int label = find_blocked(in, q);
	if (label < 0)
		return NS_HOOK_CONTINUE;
	log_blocked(in, q, (unsigned)label);
	*result = answer_blocked(q, &in->options, (unsigned)label, &given);
	counts_add(in->list, count_of[given]);
	return NS_HOOK_RETURN;
}

/* Return: false if an image is missing and the parameter on-error is fail. */
static bool may_start(const struct instance *in, const struct place *place)
{
	if (is_ready(in))
		return true;
	if (in->options.on_error != ON_ERROR_FAIL) {
		LOG(ISC_LOG_WARNING, "%s: until its images are there, %s", in->options.name,
		    in->options.on_error == ON_ERROR_PASS ? "nothing is blocked"
		                                          : "every query is answered SERVFAIL");
		return true;
	}
	isc_log_write(place->lctx, NS_LOGCATEGORY_GENERAL, NS_LOGMODULE_HOOKS, ISC_LOG_ERROR,
	              "%s:%lu: weir-blocklist: %s cannot be used, and 'on-error' is 'fail'",
	              place->file, place->line,
	              set_path(set_ready(in->block) ? in->allow : in->block));
	return false;
}

static isc_result_t begin(struct instance *in, const struct place *place)
{
	struct options *o = &in->options;
	isc_result_t result = options_read(o, place);
	if (result != ISC_R_SUCCESS)
		return result;
	in->list = counts_list(o->name);
	if (in->list < 0) {
		LOG(ISC_LOG_ERROR, "%s: named has had %d names of lists, more it counts not",
		    o->name, COUNT_LISTS);
		return ISC_R_FAILURE;
	}
	in->block = set_get(o->file, o->max_size, &o->key);
	if (in->block && o->allow_file)
		in->allow = set_get(o->allow_file, o->max_size, &o->allow_key);
	if (!in->block || (o->allow_file && !in->allow)) {
		LOG(ISC_LOG_ERROR, "%s: %s", o->name, weir_error_detail());
		return ISC_R_NOMEMORY;
	}
	if (!may_start(in, place))
		return ISC_R_FAILURE;
	in->part.name = o->name;
	in->part.list = in->list;
	in->part.block = set_handle(in->block);
	in->part.allow = in->allow ? set_handle(in->allow) : NULL;
	if (!o->statistics_file ||
	    report_join(&in->part, o->statistics_file, o->statistics_interval) == 0)
		return ISC_R_SUCCESS;
	LOG(ISC_LOG_ERROR, "%s: no thread to write %s", o->name, o->statistics_file);
	return ISC_R_NOMEMORY;
}

void plugin_destroy(void **instp)
{
	struct instance *in = *instp;
	*instp = NULL;
	if (!in)
		return;
	report_leave(&in->part);
	set_put(in->allow);
	set_put(in->block);
	options_free(&in->options);
	free(in);
}

isc_result_t plugin_register(const char *parameters, const void *cfg, const char *file,
                             unsigned long line, isc_mem_t *mctx, isc_log_t *lctx, void *actx,
                             ns_hooktable_t *hooktable, void **instp)
{
	struct place place = location_of(parameters, file, line, mctx, lctx);
	void *in = version_fits() ? calloc(1, sizeof(struct instance)) : NULL;
	(void)cfg;
	(void)actx;
	if (!in)
		return ISC_R_FAILURE;
	isc_result_t result = begin(in, &place);
	if (result != ISC_R_SUCCESS) {
		plugin_destroy(&in);
		return result;
	}
	ns_hook_t hook = { .action = on_lookup, .action_data = in };
	ns_hook_add(hooktable, mctx, NS_QUERY_LOOKUP_BEGIN, &hook);
	*instp = in;
	return ISC_R_SUCCESS;
}

/* Check only the header of the image: set_get() reads the whole image when named starts. */
static isc_result_t check_image(const char *path, bool fails, const struct place *place)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (!path || weir_image_inspect(weir_location_path(path), &info) == 0)
		return ISC_R_SUCCESS;
	isc_log_write(place->lctx, NS_LOGCATEGORY_GENERAL, NS_LOGMODULE_HOOKS,
	              fails ? ISC_LOG_ERROR : ISC_LOG_WARNING, "%s:%lu: weir-blocklist: %s",
	              place->file, place->line, weir_error_detail());
	return fails ? ISC_R_FAILURE : ISC_R_SUCCESS;
}

isc_result_t plugin_check(const char *parameters, const void *cfg, const char *file,
                          unsigned long line, isc_mem_t *mctx, isc_log_t *lctx, void *actx)
{
	struct place place = location_of(parameters, file, line, mctx, lctx);
	struct options o;
	(void)cfg;
	(void)actx;
	isc_result_t result = options_read(&o, &place);
	bool fails = o.on_error == ON_ERROR_FAIL;
	if (result == ISC_R_SUCCESS)
		result = check_image(o.file, fails, &place);
	if (result == ISC_R_SUCCESS)
		result = check_image(o.allow_file, fails, &place);
	options_free(&o);
	return result;
}

int plugin_version(void)
{
	return NS_PLUGIN_VERSION;
}
