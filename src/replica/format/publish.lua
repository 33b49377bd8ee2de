-- SPDX-License-Identifier: MIT
-- Make a generation the head ([PUBLISH-ATOMIC]). All comparisons run before the first write.
--
-- KEYS head log kept nodes
-- ARGV mark base version id manifest signature position tag tag-of-g image chunks bytes
--      bytes-of-a-chunk keep
--   base: the head's version when the publisher began; image: the prefix of its chunks' keys
-- Answer OK, or an error: WEIRSTALE, WEIRBASE or WEIRCHUNK. An error changes nothing, but WEIRBASE
-- drops an image that no kept manifest names.
--
-- A first HDEL without effect lets the script run on a full server (touch.lua has the reason). The
-- script must run there, since only this script trims the log.
local head, log, kept, nodes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local mark, base, version, id, text, signature = unpack(ARGV, 1, 6)
local position, tag, tag_of_g, image = unpack(ARGV, 7, 10)
local chunks, bytes, chunk, keep = unpack(ARGV, 11, 14)
local seconds = 120 -- that a chunk stays which no kept manifest names

local function stale(why)
	return redis.error_reply('WEIRSTALE ' .. why)
end
-- Compare two ids or versions. Their numbers have 64 bits, and Lua's numbers only 53.
local function less(a, b)
	local a1, a2 = string.match(a, '^(%d+)%D(%d+)$')
	local b1, b2 = string.match(b, '^(%d+)%D(%d+)$')
	if a1 == b1 then
		a1, b1 = a2, b2
	end
	return #a1 < #b1 or #a1 == #b1 and a1 < b1
end
-- Redis would refuse to trim the log to a larger id, after this script has written everything else.
local function fits(number)
	return #number < 20 or #number == 20 and number <= '18446744073709551615'
end
local function read(of)
	local hash, n = string.match(of, '\nimage (%x+) %d+ (%d+)\n')
	local epoch, at = string.match(of, '\nposition (%d+)%-(%d+) %x+\n')
	return hash, tonumber(n), at and fits(epoch) and fits(at) and epoch .. '-' .. at
end
-- The number of manifests that name each image.
local named = {}
local function name(of, times)
	local hash = read(of) or ''
	named[hash] = (named[hash] or 0) + times
end
-- A forged manifest may claim any number of chunks, so stop after 1000 missing ones.
local function drop(hash, n, how, with)
	local prefix = string.gsub(image, '%x+:$', hash .. ':')
	local absent = 0
	for i = 0, n - 1 do
		local key = prefix .. i
		absent = absent + 1 - (with and redis.call(how, key, with) or redis.call(how, key))
		if absent > 1000 then
			break
		end
	end
end

local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true) then
	return redis.error_reply('READONLY this server is not the master')
end
local h = redis.call('HMGET', head, 'run', 'mark', 'version', 'last', 'tag', 'manifest')
for i = 1, 6 do
	h[i] = h[i] or ''
end
if redis.call('EXISTS', log) == 0 then
	return stale('the log is gone')
end
if h[1] ~= string.match(info, 'master_replid:(%x+)') or h[2] ~= mark then
	return stale('another epoch')
end
local all = {}
local there = redis.call('HGETALL', kept)
if redis.call('HEXISTS', kept, h[3]) == 0 then
	there[#there + 1], there[#there + 2] = h[3], '\n' .. h[6]
end
for i = 1, #there, 2 do
	local hash, n, at = read(there[i + 1])
	local whole = hash and at and string.find(there[i], '^%d+%.%d+$')
	all[#all + 1] = { version = whole and there[i] or '0.0', field = there[i], hash = hash,
		chunks = n, position = at, text = there[i + 1] }
	name(there[i + 1], 1)
end
local hash = string.match(image, '(%x+):$')
if h[3] ~= '' and h[3] ~= base or h[3] == '' and base ~= '0.0' then
	if not named[hash] then
		drop(hash, tonumber(chunks), 'UNLINK')
	end
	return redis.error_reply('WEIRBASE ' .. h[3])
end
-- If the entry was deleted, the next entry still has its tag.
local function at_position()
	if position == h[4] or position == '0-0' then
		return position == '0-0' or tag == h[5]
	end
	local entry = redis.call('XRANGE', log, position, '+', 'COUNT', 1)[1]
	return entry and entry[2][entry[1] == position and 2 or 4] == tag
end
local epoch, n = string.match(h[4], '^(%d+)-(%d+)$')
if not epoch then
	return stale('the head is damaged')
end
if not at_position() then
	return stale('another entry is at the position')
end
for i = 0, chunks - 1 do
	local size = i < chunks - 1 and chunk or bytes - i * chunk
	if redis.call('STRLEN', image .. i) ~= tonumber(size) then
		return redis.error_reply('WEIRCHUNK ' .. i)
	end
end

redis.call('HLEN', nodes) -- of another type: nothing is done
redis.call('HDEL', head, '')
local last = string.format('%s-%.0f', epoch, n + 1)
local done = redis.pcall('XADD', log, last, 't', tag_of_g, 'a', h[5], 'g', version)
if type(done) == 'table' and done.err then
	if not string.find(done.err, 'equal or smaller', 1, true) and
			not string.find(done.err, 'last possible ID', 1, true) then
		return done
	end
	redis.call('HDEL', head, 'run') -- the next heartbeat begins an epoch behind this log
	return stale('the head is not the one of this log')
end
redis.call('HSET', head, 'version', version, 'generation', id, 'manifest', text,
	'signature', signature, 'bytes', bytes, 'last', last, 'tag', tag_of_g)
redis.call('HSET', kept, version, signature .. '\n' .. text)
for i = 0, chunks - 1 do
	redis.call('PERSIST', image .. i)
end

-- Drop entries that claim to be as new as this version first. If this version only signs its base
-- again, with the same image and position, it replaces the base and uses no slot of its own.
name('\n' .. text, 1)
table.sort(all, function(a, b)
	local a_older, b_older = less(a.version, version), less(b.version, version)
	if a_older ~= b_older then
		return a_older
	end
	return less(b.version, a.version)
end)
local oldest = position
local left = keep - 1
for _, one in ipairs(all) do
	local same = one.version == base and one.hash == hash and one.position == position
	if left > 0 and one.version ~= '0.0' and less(one.version, version) and not same then
		left = left - 1
		oldest = less(one.position, oldest) and one.position or oldest
	else
		if one.field ~= version then
			redis.call('HDEL', kept, one.field)
		end
		name(one.text, -1)
		if one.hash and named[one.hash] <= 0 then
			drop(one.hash, one.chunks, 'EXPIRE', seconds)
		end
	end
end
redis.call('XTRIM', log, 'MINID', oldest)

-- Remove reports of nodes that have ended.
local now = tonumber(redis.call('TIME')[1])
local reports = redis.call('HGETALL', nodes)
for i = 1, #reports, 2 do
	local ms = tonumber(string.match(reports[i + 1], '^(%d+) ') or 0)
	if math.abs(now - ms / 1000) > 600 then
		redis.call('HDEL', nodes, reports[i])
	end
end
return redis.status_reply('OK')
