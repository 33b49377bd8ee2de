/* SPDX-License-Identifier: MIT
 * The scripts. What goes wrong is an error whose first word says what (redis/call.c).
 * Redis checks its memory before a script's first command that could need more, and not again, so
 * a script whose first write is such a command is done as a whole or not at all. */
#include "scripts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>

/* The text of a script is what stands between the parentheses, on one line. */
#define LUA(...) #__VA_ARGS__
_Static_assert(WEIR_MANIFEST_TEXT == 4194304, "as WEIR_SCRIPT_MANIFEST has it");
_Static_assert(WEIR_SCRIPT_ELEMENTS == 1000001, "as WEIR_SCRIPT_ALIVE has it");
_Static_assert(WEIR_STREAM_LEAP == 1099511627776, "as COUNTED has it");

/* L1. On a server that is no master nothing is right. A token that nobody drew is none. A lease of
 * another epoch is nobody's: what its owner would publish is refused, and that one may have died
 * with its epoch. So is one of a name that no node has. */
const char *const weir__script_prelude = LUA(
	local manifest, stream, lease, kept, nodes = unpack(KEYS);
	local info = redis.call('INFO', 'replication');
	if not string.find(info, 'role:master', 1, true) then
		return redis.error_reply('READONLY this server is not the master');
	end
	local token = redis.call('HGET', manifest, 'token') or "";
	if #token ~= 16 or string.find(token, '[^0-9a-f]') then
		token = "";
	end
	local epoch = string.match(info, 'master_replid:(%x+)') .. token;
	local function owner()
		local node, of, ms = string.match(redis.call('GET', lease) or "",
		                                  '^(%x+) (%x+) ?(%d*)$');
		return of == epoch and #node == 16 and node, tonumber(ms or "");
	end
);

/* What is said of the stream there is, or would be of one. */
#define ABOUT LUA( \
	local about = { ['entries-added'] = 0, length = 0, ['last-generated-id'] = '0-0' }; \
	if redis.call('EXISTS', stream) == 1 then \
		local flat = redis.call('XINFO', 'STREAM', stream); \
		for i = 1, #flat, 2 do \
			about[flat[i]] = flat[i + 1]; \
		end \
	end \
) " "

/* How many entries a stream is said to have had that begins anew, or whose number is nobody's: a
 * WEIR_STREAM_LEAP more each time, which every cursor finds to be lacking. A number of Lua has 53
 * bits: whatever else stands beside the manifest is not believed. Who cannot know how often that
 * was, takes a number of leaps that the stream has not had, of this second. */
#define COUNTED LUA( \
	local function counted() \
		local function beside(name, most) \
			local n = tonumber(redis.call('HGET', manifest, name) or ""); \
			return n and n >= 0 and n < most and math.floor(n); \
		end \
		local leaps = beside('streams', 4096) or 2048 + redis.call('TIME')[1] % 2047; \
		redis.call('HSET', manifest, 'streams', string.format('%.0f', leaps + 1)); \
		return string.format('%.0f', (beside('entries', 4503599627370496) or 0) + \
		                     leaps * 1099511627776); \
	end \
) " "

/* Ids as texts that compare as the ids do. */
#define SORTABLE LUA( \
	local function sortable(id) \
		local ms, number = string.match(id or "", '^(%d+)-(%d+)$'); \
		if not ms or #ms > 20 or #number > 20 then \
			ms, number = "", ""; \
		end \
		return string.rep('0', 20 - #ms) .. ms .. string.rep('0', 20 - #number) .. number; \
	end \
) " "

const char *const weir__script_text[WEIR_SCRIPTS] = {
	/* token, or nothing: then it is not written
	 * -> { epoch, text, signature, SHA-1 of the text }
	 * Of what is longer than any manifest (WEIR_MANIFEST_TEXT) the beginning comes, which is
	 * none. The sum names that text to WEIR_SCRIPT_PUBLISH; it proves nothing. */
	[WEIR_SCRIPT_MANIFEST] = LUA(
		if token == "" and ARGV[1] ~= "" then
			redis.call('HSET', manifest, 'token', ARGV[1]);
			epoch = epoch .. ARGV[1];
		end
		local text = redis.call('HGET', manifest, 'text');
		if text and #text > 4194304 then
			text = string.sub(text, 1, 13);
		end
		return { epoch, text, redis.call('HGET', manifest, 'signature'),
		         redis.sha1hex(text or "") };
	),

	/* epoch, bytes to leave free, then an entry -> its id.
	 * A stream that was deleted begins anew, empty, above the manifest's position if there is
	 * such. So does one to which somebody has given the last id that there is. */
	[WEIR_SCRIPT_APPEND] = COUNTED LUA(
		if epoch ~= ARGV[1] then
			return redis.error_reply('WEIRSTALE ' .. epoch);
		end
		local memory = redis.call('INFO', 'memory');
		local used = tonumber(string.match(memory, 'used_memory:(%d+)'));
		local most = tonumber(string.match(memory, 'maxmemory:(%d+)'));
		local bytes = tonumber(ARGV[2]);
		for i = 3, #ARGV do
			bytes = bytes + #ARGV[i];
		end
		if most > 0 and used + bytes > most then
			return redis.error_reply(string.format(
				'WEIRFULL %.0f of %.0f bytes are used and %.0f are kept free',
				used, most, tonumber(ARGV[2])));
		end
		local id = false;
		for try = 1, 2 do
			if redis.call('EXISTS', stream) == 0 and
			   redis.call('HSETNX', manifest, 'streams', 1) == 0 then
				local entries = counted();
				local at = try == 1 and redis.call('HGET', manifest, 'position');
				redis.call('XGROUP', 'CREATE', stream, 'weir', '$', 'MKSTREAM');
				redis.call('XGROUP', 'DESTROY', stream, 'weir');
				local begun = redis.pcall('XSETID', stream, at or '0-0',
					'ENTRIESADDED', entries, 'MAXDELETEDID', '0-0');
				if begun.err then
					redis.call('XSETID', stream, '0-0', 'ENTRIESADDED', entries,
					           'MAXDELETEDID', '0-0');
				end
			end
			id = redis.pcall('XADD', stream, '*', unpack(ARGV, 3));
			if type(id) == 'string' or
			   not string.find(id.err or "", 'exhausted', 1, true) then
				return id;
			end
			redis.call('DEL', stream);
		end
		return id;
	),

	/* epoch, id, how many -> { entries ever added, entries there, generation, entries, stored,
	 *                          last id that was given }
	 * What is larger than any batch comes without its strings, however many those are; behind
	 * the last id that there is nothing comes. Somebody may have set the number of entries:
	 * what is beyond those that can be counted is counted anew. */
	[WEIR_SCRIPT_READ] = ABOUT COUNTED LUA(
		if epoch ~= ARGV[1] then
			return redis.error_reply('WEIRSTALE ' .. epoch);
		end
		local added = about['entries-added'];
		if added >= 9007199254740992 or added < 0 then
			local anew = counted();
			local set = redis.pcall('XSETID', stream, about['last-generated-id'],
			                        'ENTRIESADDED', anew, 'MAXDELETEDID', '0-0');
			if set.err then
				return set;
			end
			added = tonumber(anew);
		end
		local entries = {};
		if ARGV[2] ~= '18446744073709551615-18446744073709551615' then
			entries = redis.call('XRANGE', stream, '(' .. ARGV[2], '+',
			                     'COUNT', ARGV[3]);
		end
		for i = 1, #entries do
			local bytes = 0;
			for j = 1, #entries[i][2] do
				bytes = bytes + #entries[i][2][j];
			end
			if #entries[i][2] > 64 or bytes > 1048576 then
				entries[i][2] = {};
			end
		end
		local generation = redis.call('HGET', manifest, 'generation') or '0';
		local stored = redis.call('HGET', manifest, 'stored') or "";
		return { added, about.length, string.sub(generation, 1, 20), entries,
		         string.sub(stored, 1, 17), about['last-generated-id'] };
	),

	/* epoch, owner or nothing (whoever it is), base, generation, text, signature, position,
	 * entries, covered, chunks' names, chunks, bytes of a chunk, bytes, generations to keep,
	 * seconds until superseded chunks go, channel, SHA-1 of a text that is no manifest, or
	 * nothing (L10)
	 * A generation that is kept can be returned to, so the stream keeps what follows it. What
	 * claims to be as new as the one that is published, or has no number, is the first to go.
	 * The number beside a manifest may be anybody's, that within it is what a publisher joined;
	 * what is no manifest is in nobody's way: it has no number, or is longer than any, or is
	 * what the publisher found to be none.
	 * If ids were set back since the position was taken, those that came since are below it,
	 * and of what follows it: nothing is trimmed.
	 * Keys of another type are refused before anything is written.
	 * A text there may be anybody's: what it says of chunks is followed as far as there are
	 * such. What is said on the channel is a hint: it may be refused. */
	[WEIR_SCRIPT_PUBLISH] = ABOUT SORTABLE LUA(
		if epoch ~= ARGV[1] then
			return redis.error_reply('WEIRSTALE ' .. epoch);
		end
		if ARGV[2] ~= "" and owner() ~= ARGV[2] then
			return redis.error_reply('WEIRLEASE ' .. (owner() or 'nobody'));
		end
		local there = redis.call('HGET', manifest, 'text');
		if there and #there > 4194304 then
			there = "";
		end
		local base = there and (string.match(there, '\ngeneration (%d+)\n') or
			ARGV[3]) or '0';
		if base ~= ARGV[3] and redis.sha1hex(there or "") ~= ARGV[17] then
			return redis.error_reply('WEIRBASE ' .. base);
		end
		local before = redis.call('HKEYS', kept);
		local names, chunks = ARGV[10], tonumber(ARGV[11]);
		for i = 0, chunks - 1 do
			local bytes = tonumber(ARGV[12]);
			if i == chunks - 1 then
				bytes = tonumber(ARGV[13]) - i * bytes;
			end
			if redis.call('STRLEN', names .. i) ~= bytes then
				return redis.error_reply('WEIRCHUNK ' .. i);
			end
		end
		redis.call('HSET', manifest, 'text', ARGV[5], 'signature', ARGV[6],
			'generation', ARGV[4], 'position', ARGV[7], 'entries', ARGV[8],
			'stored', string.match(names, ':(%x+):$') or "");
		redis.call('HSET', kept, ARGV[4], ARGV[6] .. '\n' .. ARGV[5]);
		for i = 0, chunks - 1 do
			redis.call('PERSIST', names .. i);
		end
		local all = {};
		for _, name in ipairs(before) do
			local number = string.match(name, '^%d+$') and tonumber(name) or 0;
			if name ~= ARGV[4] then
				all[#all + 1] = { name = name, number = number,
				                  beyond = number >= tonumber(ARGV[4]),
				                  text = redis.call('HGET', kept, name) };
			end
		end
		table.sort(all, function(a, b)
			if a.beyond ~= b.beyond then
				return b.beyond;
			end
			return a.number > b.number;
		end);
		table.insert(all, 1, { name = ARGV[4], text = '\n' .. ARGV[5] });
		local least = ARGV[9];
		local needed = {};
		local absent = 0;
		for i, one in ipairs(all) do
			local n, stored = string.match(one.text, '\nchunks (%d+) %d+ (%x+)\n');
			if stored and #stored ~= 16 then
				n, stored = nil, nil;
			end
			if i <= tonumber(ARGV[14]) then
				local id = string.match(one.text, '\nposition (%d+-%d+)\n');
				if sortable(id) < sortable(least) then
					least = id or '0-0';
				end
				needed[stored or ""] = true;
			else
				local own = ':' .. (stored or "") .. ':';
				local of = string.gsub(names, ':%x+:$', own);
				for c = 0, (needed[stored or ""] and 0 or tonumber(n or 0)) - 1 do
					if redis.call('EXPIRE', of .. c, ARGV[15]) == 0 then
						absent = absent + 1;
					end
					if absent > 1000 then
						break;
					end
				end
				redis.call('HDEL', kept, one.name);
			end
		end
		if sortable(about['last-generated-id']) >= sortable(ARGV[7]) then
			redis.call('XTRIM', stream, 'MINID', least);
		end
		redis.pcall('PUBLISH', ARGV[16], ARGV[4]);
		return redis.status_reply('OK');
	),

	/* owner, milliseconds, whether to take it from another ('1'); one without an end is no
	 * node's, nor is one that lasts longer than it was taken for, since the clock was set back,
	 * or than any node's (ask.c)
	 * -> { owner, milliseconds left }: whose it is now */
	[WEIR_SCRIPT_LEASE] = LUA(
		local left = redis.call('PTTL', lease);
		local who, most = owner();
		if who and who ~= ARGV[1] and ARGV[3] ~= '1' and left ~= -1 and
		   left <= math.min(most or 2147483647, 2147483647) then
			return { who, left };
		end
		redis.call('SET', lease, ARGV[1] .. ' ' .. epoch .. ' ' .. ARGV[2], 'PX', ARGV[2]);
		return { ARGV[1], tonumber(ARGV[2]) };
	),

	/* owner */
	[WEIR_SCRIPT_RELEASE] = LUA(
		if owner() == ARGV[1] then
			redis.call('DEL', lease);
		end
		return redis.status_reply('OK');
	),

	/* node, report; or nothing, milliseconds: those that reported nothing for so long are
	 * removed. The clock is the server's: those of nodes may differ. */
	[WEIR_SCRIPT_REPORT] = LUA(
		local time = redis.call('TIME');
		local now = time[1] * 1000 + math.floor(time[2] / 1000);
		if ARGV[1] ~= "" then
			redis.call('HSET', nodes, ARGV[1], string.format('%.0f ', now) .. ARGV[2]);
			return redis.status_reply('OK');
		end
		local all = redis.call('HGETALL', nodes);
		for i = 1, #all, 2 do
			local then_ = tonumber(string.match(all[i + 1], '^(%d+) ') or 0);
			if math.abs(now - then_) > tonumber(ARGV[2]) then
				redis.call('HDEL', nodes, all[i]);
			end
		end
		return redis.status_reply('OK');
	),

	/* milliseconds -> the nodes that have reported within so many. A report of a time to come,
	 * since the clock has gone back, or somebody made it up, is of now, once: who lives reports
	 * again. Somebody may make up any number: no answer has more than WEIR_SCRIPT_ELEMENTS. */
	[WEIR_SCRIPT_ALIVE] = LUA(
		local time = redis.call('TIME');
		local now = time[1] * 1000 + math.floor(time[2] / 1000);
		local alive = {};
		local all = redis.call('HGETALL', nodes);
		for i = 1, #all, 2 do
			local then_ = tonumber(string.match(all[i + 1], '^(%d+) ') or 0);
			if now - then_ <= tonumber(ARGV[1]) then
				alive[#alive + 1] = all[i];
			end
			if then_ > now then
				redis.pcall('HSET', nodes, all[i], (string.gsub(all[i + 1],
					'^%d+', string.format('%.0f', now))));
			end
		end
		if #alive > 1000000 then
			return redis.error_reply('WEIRCROWD ' .. #alive .. ' nodes report');
		end
		return alive;
	),

	/* -> { epoch, now, text, signature, owner, milliseconds left, added, length, last id,
	 *      used memory, maxmemory, policy, { node, report, ... },
	 *      { generation, text, ... }, chunks of the image that have gone,
	 *      { and those of each that is kept }, why no write is taken, or nothing }
	 * What is kept may be anybody's: chunks of no more than so many are looked for. Whether
	 * writes are taken a write says that changes nothing. */
	[WEIR_SCRIPT_STATUS] = ABOUT LUA(
		local time = redis.call('TIME');
		local memory = redis.call('INFO', 'memory');
		local most = 100000;
		local function absent(text)
			local n, stored = string.match(text, '\nchunks (%d+) %d+ (%x+)\n');
			if not n or #stored ~= 16 or string.find(text, '\npath ', 1, true) then
				return 0;
			end
			local names = string.gsub(manifest, 'manifest$', 'c:' .. stored .. ':');
			local gone = 0;
			n = math.min(tonumber(n), most);
			most = most - n;
			for i = 0, n - 1 do
				gone = gone + 1 - redis.call('EXISTS', names .. i);
			end
			return gone;
		end
		local text = redis.call('HGET', manifest, 'text');
		local gone = absent(text or "");
		local all = redis.call('HGETALL', kept);
		local of = {};
		for i = 2, #all, 2 do
			of[i / 2] = absent(all[i]);
		end
		local done = redis.pcall('HDEL', nodes, "");
		local why = type(done) == 'table' and done.err or "";
		why = string.match(why, 'NOREPLICAS.*') or string.match(why, 'MISCONF.*') or "";
		return { epoch, time[1] * 1000 + math.floor(time[2] / 1000), text,
		         redis.call('HGET', manifest, 'signature'),
		         owner(), redis.call('PTTL', lease),
		         about['entries-added'], about.length,
		         about['last-generated-id'],
		         tonumber(string.match(memory, 'used_memory:(%d+)')),
		         tonumber(string.match(memory, 'maxmemory:(%d+)')),
		         string.match(memory, 'maxmemory_policy:([%w-]+)'),
		         redis.call('HGETALL', nodes), all, gone, of,
		         string.sub(why, 1, 400) };
	),
};

int weir__script_make(char **out, enum weir_script script)
{
	size_t room = strlen(weir__script_prelude) + 1 + strlen(weir__script_text[script]) + 1;
	char *text = malloc(room);
	if (!text)
		return weir_fail(-ENOMEM, "no memory for a script of %zu bytes", room);
	snprintf(text, room, "%s %s", weir__script_prelude, weir__script_text[script]);
	*out = text;
	return 0;
}
