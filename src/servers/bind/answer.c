/* SPDX-License-Identifier: MIT
 * The records of an answer come from the message's pools, which named frees with the message.
 *
 * A negative answer has a SOA in its authority section, so that resolvers cache the answer for at
 * most the SOA's TTL (RFC 2308). The owner of the SOA is the blocked suffix. No answer is
 * authoritative or marked as validated: named clears that mark when it writes records that it has
 * not validated. Answers have no signatures, so a blocked name of a signed zone does not resolve
 * for a client that validates. */
#include <string.h>
#include "answer.h"

/* Add a DNS record set (RRset) that has one record. */
static isc_result_t add(query_ctx_t *q, dns_section_t section, const dns_name_t *owner,
                        dns_rdatatype_t type, uint32_t ttl, const unsigned char *data,
                        unsigned bytes)
{
	dns_message_t *message = q->client->message;
	dns_name_t *name = NULL;
	dns_rdata_t *rdata = NULL;
	dns_rdatalist_t *list = NULL;
	dns_rdataset_t *rdataset = NULL;
	isc_buffer_t *buffer = NULL;
	isc_region_t region;
	isc_result_t result = dns_message_gettempname(message, &name);
	if (result == ISC_R_SUCCESS)
		result = dns_message_gettemprdata(message, &rdata);
	if (result == ISC_R_SUCCESS)
		result = dns_message_gettemprdatalist(message, &list);
	if (result == ISC_R_SUCCESS)
		result = dns_message_gettemprdataset(message, &rdataset);
	if (result != ISC_R_SUCCESS)
		goto failed;
	isc_buffer_allocate(q->client->mctx, &buffer, bytes);
	isc_buffer_putmem(buffer, data, bytes);
	isc_buffer_usedregion(buffer, &region);
	dns_rdata_fromregion(rdata, dns_rdataclass_in, type, &region);
	dns_message_takebuffer(message, &buffer);

	dns_rdatalist_init(list);
	list->rdclass = dns_rdataclass_in;
	list->type = type;
	list->ttl = ttl;
	ISC_LIST_APPEND(list->rdata, rdata, link);
	result = dns_rdatalist_tordataset(list, rdataset);
	if (result != ISC_R_SUCCESS)
		goto failed;
	dns_name_copy(owner, name);
	ISC_LIST_APPEND(name->list, rdataset, link);
	dns_message_addname(message, name, section);
	return ISC_R_SUCCESS;
failed:
	if (rdataset)
		dns_message_puttemprdataset(message, &rdataset);
	if (list)
		dns_message_puttemprdatalist(message, &list);
	if (rdata)
		dns_message_puttemprdata(message, &rdata);
	if (name)
		dns_message_puttempname(message, &name);
	return result;
}

static unsigned char *put32(unsigned char *to, uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		*to++ = (unsigned char)(value >> shift);
	return to;
}

static isc_result_t add_soa(query_ctx_t *q, unsigned label, uint32_t ttl)
{
	static const unsigned char mailbox[] = "\6nobody\7invalid"; /* its NUL is the root label */
	const dns_name_t *qname = q->client->query.qname;
	unsigned char data[DNS_NAME_MAXWIRE + sizeof mailbox + 5 * 4], *to = data;
	dns_name_t owner;
	dns_name_init(&owner, NULL);
	dns_name_getlabelsequence(qname, label, dns_name_countlabels(qname) - label, &owner);
	memcpy(to, owner.ndata, owner.length);
	to += owner.length;
	memcpy(to, mailbox, sizeof mailbox);
	to += sizeof mailbox;
	static const uint32_t serial_refresh_retry_expire[] = { 1, 3600, 600, 86400 };
	for (unsigned i = 0; i < 4; i++)
		to = put32(to, serial_refresh_retry_expire[i]);
	to = put32(to, ttl);
	return add(q, DNS_SECTION_AUTHORITY, &owner, dns_rdatatype_soa, ttl, data,
	           (unsigned)(to - data));
}

static bool wants(const query_ctx_t *q, dns_rdatatype_t type)
{
	return q->qtype == type || q->qtype == dns_rdatatype_any;
}

enum answer answer_for(const query_ctx_t *q, const struct options *o)
{
	if (o->answer != ANSWER_ADDRESS)
		return o->answer;
	bool has = (o->has_ipv4 && wants(q, dns_rdatatype_a)) ||
	           (o->has_ipv6 && wants(q, dns_rdatatype_aaaa));
	return has ? ANSWER_ADDRESS : ANSWER_NODATA;
}

static isc_result_t add_addresses(query_ctx_t *q, const struct options *o)
{
	const dns_name_t *qname = q->client->query.qname;
	isc_result_t result = ISC_R_SUCCESS;
	if (o->has_ipv4 && wants(q, dns_rdatatype_a))
		result = add(q, DNS_SECTION_ANSWER, qname, dns_rdatatype_a, o->ttl, o->ipv4,
		             sizeof o->ipv4);
	if (result == ISC_R_SUCCESS && o->has_ipv6 && wants(q, dns_rdatatype_aaaa))
		result = add(q, DNS_SECTION_ANSWER, qname, dns_rdatatype_aaaa, o->ttl, o->ipv6,
		             sizeof o->ipv6);
	return result;
}

isc_result_t answer_blocked(query_ctx_t *q, const struct options *o, unsigned label,
                            enum answer *given)
{
	dns_message_t *message = q->client->message;
	*given = answer_for(q, o);
	q->authoritative = false;
	ns_client_extendederror(q->client, DNS_EDE_BLOCKED, NULL);
	isc_result_t result = *given == ANSWER_ADDRESS ? add_addresses(q, o)
	                                               : add_soa(q, label, o->ttl);
	if (result == ISC_R_SUCCESS && *given == ANSWER_NXDOMAIN)
		message->rcode = dns_rcode_nxdomain;
	q->result = result;
	q->line = __LINE__;
	return ns_query_done(q);
}

isc_result_t answer_not_ready(query_ctx_t *q)
{
	/* named must not cache the failure, since queries succeed once an image is loaded */
	q->client->attributes |= NS_CLIENTATTR_NOSETFC;
	ns_client_extendederror(q->client, DNS_EDE_NOTREADY, NULL);
	q->result = DNS_R_SERVFAIL;
	q->line = __LINE__;
	return ns_query_done(q);
}
