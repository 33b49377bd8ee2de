-- SPDX-License-Identifier: MIT
-- A heartbeat, and the entries that are appended with it ([NEW-EPOCH], [LOG-READING], [GIVE-UP]).
--
-- KEYS head log nodes
-- ARGV node report give-up mark reserve grace-ms epoch, then for each entry: tag kind value
--   give-up: the mark of the epoch to end without a successor, or nothing
--   mark: for an epoch that this call begins; its first entry has the mark as its tag
--   reserve: bytes that batches must leave free
--   epoch: the last epoch that the node saw. If redis has neither log nor head, the new epoch is
--     above it, so nodes whose cursors are in that epoch read the new epoch's first entry.
-- Answer { mark, prev, base, lost, last, tag, version, generation, replicas, now, full, connected }
--
-- The script makes the ids itself, since ids that redis makes for EPOCH-* may have gaps. If an old
-- head was restored, redis refuses the next id of that head, so no entry names a wrong previous
-- entry. Redis checks its memory only before a script's first write, and allows HDEL on a full
-- server. So the script first writes an HDEL without effect. Then an epoch can begin on a full
-- server, and redis accepts a call. (flags=allow-oom would do that too, but then redis refuses the
-- heartbeats of a server that cannot save or has too few replicas.)
local head, log, nodes = KEYS[1], KEYS[2], KEYS[3]
local none = '0000000000000000'
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true) then
	return redis.error_reply('READONLY this server is not the master')
end
local run = string.match(info, 'master_replid:(%x+)')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local there = redis.call('EXISTS', log) == 1

local names = { 'run', 'mark', 'prev', 'base', 'lost', 'last', 'tag', 'version', 'generation',
	'replicas', 'seen', 'bytes' }
local h, changed = {}, false
for i, value in ipairs(redis.call('HMGET', head, unpack(names))) do
	h[names[i]] = value or ''
end
local function set(name, value)
	h[name] = value
	changed = true
end
local function is_hex(text)
	return #text == 16 and not string.find(text, '[^0-9a-f]')
end
-- Lua counts exactly up to 2^53. Only another client makes larger ids: weir__log_id_in_range().
local beyond = 9007199254740000
local function epoch_of(id)
	local epoch, n = string.match(id, '^(%d+)%-(%d+)$')
	epoch, n = tonumber(epoch or ''), tonumber(n or '')
	return epoch and epoch < beyond and n < beyond and epoch
end
local whole = is_hex(h.mark) and is_hex(h.prev) and is_hex(h.tag) and epoch_of(h.last) and
	epoch_of(h.base) and epoch_of(h.lost)

local function append(tag, kind, value)
	local epoch, n = string.match(h.last, '^(%d+)-(%d+)$')
	local id = string.format('%s-%.0f', epoch, n + 1)
	redis.call('HDEL', head, '')
	local done = redis.pcall('XADD', log, id, 't', tag, 'a', h.tag, kind, value)
	if type(done) == 'table' and done.err then
		return done
	end
	set('last', id)
	set('tag', tag)
end

-- The log's last entry may have been deleted. Its tag is then unknown, and a node whose cursor is
-- at that entry lacks something.
local function begin(give_up)
	local base, tag = '0-0', none
	if there then
		local about = redis.call('XINFO', 'STREAM', log)
		local entry
		for i = 1, #about, 2 do
			if about[i] == 'last-generated-id' then
				base = about[i + 1]
			elseif about[i] == 'last-entry' then
				entry = about[i + 1]
			end
		end
		if whole and base == h.last then
			tag = h.tag
		elseif entry and entry[1] == base and entry[2][1] == 't' then
			tag = is_hex(entry[2][2]) and entry[2][2] or none
		end
	end
	local seen = not there and epoch_of(ARGV[7] .. '-0') or 0
	if seen + 1 >= beyond then
		seen = 0 -- else a log that was deleted for its ids could never begin again
	end
	local epoch = math.max(epoch_of(base) or beyond, whole and epoch_of(h.last) or seen)
	if epoch + 1 >= beyond then
		return redis.error_reply('WEIRIDS ' .. base)
	end
	set('prev', whole and not give_up and h.mark or none)
	set('lost', give_up and base or there and whole and h.lost or '0-0')
	set('base', base)
	set('run', run)
	set('mark', ARGV[4])
	set('seen', string.format('%.0f', now))
	h.last = string.format('%.0f-0', epoch + 1)
	h.tag = tag
	return append(ARGV[4], 'p', base)
end

redis.call('HLEN', nodes) -- of another type: nothing is done
local full, err = 0
local give_up = ARGV[3] ~= '' and ARGV[3] == h.mark
if give_up or not whole or not there or h.run ~= run then
	err = begin(give_up)
end
if #ARGV > 7 then
	local memory = redis.call('INFO', 'memory')
	local most = tonumber(string.match(memory, 'maxmemory:(%d+)'))
	local free = most - tonumber(string.match(memory, 'used_memory:(%d+)')) +
		tonumber(string.match(memory, 'mem_not_counted_for_evict:(%d+)'))
	local batches, bytes = false, 0
	for i = 8, #ARGV, 3 do
		batches = batches or ARGV[i + 1] == 'b'
		bytes = bytes + #ARGV[i + 2] + 128
	end
	-- A call alone is accepted, since the generation that answers it frees memory.
	local reserve = math.max(tonumber(ARGV[5]), tonumber(h.bytes) or 0)
	full = most > 0 and batches and free < bytes + reserve and 1 or 0
end
for i = 8, full == 1 and 0 or #ARGV, 3 do
	err = err or append(ARGV[i], ARGV[i + 1], ARGV[i + 2])
	if i == 8 and err and (string.find(err.err, 'equal or smaller', 1, true) or
			string.find(err.err, 'last possible ID', 1, true)) then
		err = begin() or append(ARGV[i], ARGV[i + 1], ARGV[i + 2])
	end
end
if err then
	return err
end

-- Count the most replicas that were connected lately. A replica may be away for a moment when the
-- master restarts, so it has the grace period to come back. At most one node a second writes this.
local n = tonumber(string.match(info, 'connected_slaves:(%d+)'))
local function count(text) -- no inf and nan, which tonumber() takes
	return string.match(text, '^%d+$') and tonumber(text) or 0
end
local most, age = count(h.replicas), now - count(h.seen)
if n > most or age > tonumber(ARGV[6]) + 1000 or age < 0 or (n == most and age > 1000) then
	if n > most or age > tonumber(ARGV[6]) + 1000 then
		set('replicas', string.format('%.0f', n))
	end
	set('seen', string.format('%.0f', now))
end
if changed then
	local put = {}
	for i = 1, #names do
		put[2 * i - 1], put[2 * i] = names[i], h[names[i]]
	end
	redis.pcall('HSET', head, unpack(put))
end
if ARGV[2] ~= '' then -- a full server refuses it
	redis.pcall('HSET', nodes, ARGV[1], string.format('%.0f ', now) .. ARGV[2])
end
return { h.mark, h.prev, h.base, h.lost, h.last, h.tag, h.version, h.generation,
	count(h.replicas), string.format('%.0f', now), full, n }
