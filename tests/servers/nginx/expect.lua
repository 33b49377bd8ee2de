-- SPDX-License-Identifier: MIT
-- Requests from the addresses of a file, each of which must be answered with one status.
-- wrk -s expect.lua URL -- FILE STATUS
local threads = {}
function setup(thread) table.insert(threads, thread) end

function init(args)
	requests, wanted, wrong, seen, at = {}, tonumber(args[2]), 0, 0, 0
	for address in io.lines(args[1]) do
		requests[#requests + 1] = wrk.format("GET", nil, { ["X-Real-IP"] = address })
	end
	at = math.random(#requests)
end

function request()
	at = at % #requests + 1
	return requests[at]
end

function response(status)
	seen = seen + 1
	if status ~= wanted then wrong = wrong + 1 end
end

function done(summary)
	local n, bad, e = 0, 0, summary.errors
	for _, thread in ipairs(threads) do
		n, bad = n + thread:get("seen"), bad + thread:get("wrong")
	end
	print(string.format("asked %d wrong %d failed %d rate %.0f", n, bad,
		e.connect + e.read + e.write + e.timeout, n / (summary.duration / 1e6)))
end
