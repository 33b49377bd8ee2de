// SPDX-License-Identifier: MIT
// Every BF.* and CF.* command through the npm client, in RESP2 and RESP3: what it turns the
// answers into. It runs as clients.mjs SOCKET, where redis-server has the module.
import assert from 'node:assert/strict'
import { createClient, RESP_TYPES } from 'redis'

// @bytes: strings of the server's come as buffers.
async function connect(RESP, bytes) {
	const commandOptions = bytes ? { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } : {}
	const client = createClient({ socket: { path: process.argv[2] }, RESP, commandOptions })
	await client.connect()
	return client
}

function refused(promise, message) {
	return assert.rejects(promise, { name: /Error$/, message })
}

function allRefused(promises, message) {
	return Promise.all(promises.map(promise => refused(promise, message)))
}

const wrongType = 'WRONGTYPE Operation against a key holding the wrong kind of value'

const range = (n, prefix = '') => Array.from({ length: n }, (_, i) => `${prefix}${i}`)

// Numbers of a map of the server's; sizes are weir's own.
function figures(info) {
	const { Size, ...rest } = info
	assert.equal(typeof Size, 'number')
	assert.ok(Size > 64)
	return rest
}

const tests = {
	async bfDefaults({ bf }) {
		assert.equal(await bf.add('k', 'a'), true)
		assert.equal(await bf.add('k', 'a'), false)
		assert.deepEqual(await bf.mAdd('k', ['a', 'b', 'b']), [false, true, false])
		assert.equal(await bf.exists('k', 'a'), true)
		assert.equal(await bf.exists('k', 'z'), false)
		assert.deepEqual(await bf.mExists('k', ['b', 'y']), [true, false])
		assert.equal(await bf.card('k'), 2)
		assert.deepEqual(figures(await bf.info('k')), {
			'Capacity': 100, 'Number of filters': 1,
			'Number of items inserted': 2, 'Expansion rate': 2,
		})
	},

	async bfOptions({ bf }) {
		assert.equal(await bf.reserve('r', 0.001, 50, { EXPANSION: 4 }), 'OK')
		assert.equal((await bf.mAdd('r', range(60))).filter(Boolean).length, 60)
		assert.deepEqual(figures(await bf.info('r')), {
			'Capacity': 250, 'Number of filters': 2,
			'Number of items inserted': 60, 'Expansion rate': 4,
		})
		assert.deepEqual(await bf.insert('i', ['a', 'a'],
			{ CAPACITY: 7, ERROR: 0.1, EXPANSION: 3 }), [true, false])
		assert.deepEqual(figures(await bf.info('i')), {
			'Capacity': 7, 'Number of filters': 1,
			'Number of items inserted': 1, 'Expansion rate': 3,
		})
		assert.deepEqual(await bf.insert('i', 'b', { NOCREATE: true }), [true])
	},

	async bfFull({ bf, sendCommand }) {
		assert.equal(await bf.reserve('f', 0.001, 10, { NONSCALING: true }), 'OK')
		await bf.mAdd('f', range(10))
		assert.equal((await bf.info('f'))['Expansion rate'], null)
		await refused(bf.add('f', 'new'), 'ERR non scaling filter is full')
		// Within an array it is an element, with which the array ends.
		const answers = await sendCommand(['BF.MADD', 'f', '0', 'new', '1'])
		assert.equal(answers.length, 2)
		assert.equal(answers[1].message, 'ERR non scaling filter is full')
		await bf.insert('n', range(3), { CAPACITY: 3, NONSCALING: true })
		assert.equal((await bf.info('n'))['Expansion rate'], null)
	},

	async bfMissing({ bf, exists }) {
		assert.equal(await bf.exists('none', 'a'), false)
		assert.deepEqual(await bf.mExists('none', ['a', 'b']), [false, false])
		assert.equal(await bf.card('none'), 0)
		await refused(bf.info('none'), 'ERR not found')
		await refused(bf.scanDump('none', 0), 'ERR not found')
		await refused(bf.loadChunk('none', 5, 'x'), 'ERR not found')
		await refused(bf.insert('none', 'a', { NOCREATE: true }), 'ERR not found')
		assert.equal(await exists('none'), 0)
	},

	async bfRefused({ bf, set, exists }) {
		const capacity = 'ERR (capacity should be larger than 0)'
		const error = 'ERR (0 < error rate range < 1) '
		const expansion = 'ERR expansion should be greater or equal to 1'
		const argument = 'Bad argument received'
		await refused(bf.reserve('b', 'x', 1), 'ERR bad error rate')
		await refused(bf.reserve('b', 1, 1), error)
		await refused(bf.reserve('b', 0.1, 'x'), 'ERR bad capacity')
		await refused(bf.reserve('b', 0.1, 0), capacity)
		await refused(bf.reserve('b', 0.1, 1, { EXPANSION: 'x' }), 'ERR bad expansion')
		await refused(bf.reserve('b', 0.1, 1, { EXPANSION: -1 }), expansion)
		await refused(bf.reserve('b', 0.1, 1, { EXPANSION: 2, NONSCALING: true }),
			'Nonscaling filters cannot expand')
		await refused(bf.insert('b', 'a', { ERROR: 'x' }), 'Bad error rate')
		await refused(bf.insert('b', 'a', { ERROR: 2 }), argument)
		await refused(bf.insert('b', 'a', { CAPACITY: 'x' }), 'Bad capacity')
		await refused(bf.insert('b', 'a', { CAPACITY: 0 }), argument)
		await refused(bf.insert('b', 'a', { EXPANSION: 'x' }), 'Bad expansion')
		await refused(bf.insert('b', 'a', { EXPANSION: -1 }), argument)
		await refused(bf.scanDump('b', 'x'), 'Second argument must be numeric')
		await refused(bf.loadChunk('b', 'x', 'y'), 'ERR Second argument must be numeric')
		await refused(bf.loadChunk('b', 1, 'y'), 'ERR received bad data')
		assert.equal(await exists('b'), 0)
		await bf.reserve('b', 0.1, 1)
		await refused(bf.reserve('b', 0.1, 1), 'ERR item exists')
		await set('s', 'text')
		await allRefused([bf.add('s', 'a'), bf.mAdd('s', ['a']), bf.insert('s', 'a'),
			bf.exists('s', 'a'), bf.mExists('s', ['a']), bf.card('s'), bf.info('s'),
			bf.reserve('s', 0.1, 1), bf.scanDump('s', 0),
			bf.loadChunk('s', 1, 'x')], wrongType)
	},

	// The client has no way of its own to ask for one field.
	async bfField({ bf, sendCommand }, RESP) {
		await bf.reserve('k', 0.01, 100)
		const one = await sendCommand(['BF.INFO', 'k', 'capacity'])
		assert.deepEqual(RESP === 2 ? one : { ...one },
			RESP === 2 ? [100] : { Capacity: 100 })
		await refused(sendCommand(['BF.INFO', 'k', 'x']), 'Invalid information value')
	},

	async cfDefaults({ cf }) {
		assert.equal(await cf.add('k', 'a'), true)
		assert.equal(await cf.add('k', 'a'), true)
		assert.equal(await cf.addNX('k', 'a'), false)
		assert.equal(await cf.addNX('k', 'b'), true)
		assert.equal(await cf.count('k', 'a'), 2)
		assert.equal(await cf.exists('k', 'a'), true)
		assert.equal(await cf.exists('k', 'z'), false)
		assert.equal(await cf.del('k', 'a'), true)
		assert.equal(await cf.del('k', 'z'), false)
		assert.deepEqual(figures(await cf.info('k')), {
			'Number of buckets': 512, 'Number of filters': 1,
			'Number of items inserted': 2, 'Number of items deleted': 1,
			'Bucket size': 2, 'Expansion rate': 1, 'Max iterations': 20,
		})
	},

	async cfOptions({ cf, sendCommand }, RESP) {
		const options = { BUCKETSIZE: 4, MAXITERATIONS: 7, EXPANSION: 3 }
		assert.equal(await cf.reserve('r', 1000, options), 'OK')
		assert.deepEqual(figures(await cf.info('r')), {
			'Number of buckets': 256, 'Number of filters': 1,
			'Number of items inserted': 0, 'Number of items deleted': 0,
			'Bucket size': 4, 'Expansion rate': 4, 'Max iterations': 7,
		})
		assert.deepEqual(await cf.insert('i', ['a', 'a'], { CAPACITY: 100 }), [true, true])
		assert.equal((await cf.info('i'))['Number of buckets'], 64)
		// RedisBloom's INSERTNX has numbers in RESP3, too, and this client gives them on.
		assert.deepEqual(await cf.insertNX('i', ['a', 'b'], { NOCREATE: true }),
			RESP === 2 ? [false, true] : [0, 1])
		const there = await sendCommand(['CF.MEXISTS', 'i', 'a', 'z'])
		assert.deepEqual(there, RESP === 2 ? [1, 0] : [true, false])
	},

	async cfFull({ cf, sendCommand }, RESP) {
		await cf.reserve('f', 4, { EXPANSION: 0 })
		const added = await cf.insert('f', range(100)) // RedisBloom's bool of a full key
		assert.deepEqual([added.filter(answer => answer === true).length,
			added.filter(answer => answer === false).length], [4, 96])
		const rest = range(1000, 'new')
		const full = await cf.insertNX('f', rest)
		assert.ok(full.every(answer => RESP === 2 ? answer === false : answer <= 0))
		const there = await sendCommand(['CF.MEXISTS', 'f', ...rest])
		const absent = rest.filter((_, i) => !there[i])[0]
		await refused(cf.add('f', absent), 'Filter is full')
		await refused(cf.addNX('f', absent), 'Filter is full')
	},

	async debug({ bf, cf, sendCommand }) {
		await bf.add('b', 'a')
		const [size, link] = await sendCommand(['BF.DEBUG', 'b'])
		assert.equal(size, 'size:1')
		assert.match(link, /^bytes:\d+ bits:\d+ hashes:\d+ hashwidth:64 /)
		assert.match(link, / capacity:100 size:1 ratio:0.005$/)
		await cf.insert('c', ['a', 'b'])
		assert.equal(await sendCommand(['CF.DEBUG', 'c']), 'bktsize:2 buckets:512 ' +
			'items:2 deletes:0 filters:1 max_iterations:20 expansion:1')
		assert.equal(await sendCommand(['CF.COMPACT', 'c']), 'OK')
	},

	async cfMissing({ cf, exists, sendCommand }) {
		assert.equal(await cf.exists('none', 'a'), false)
		assert.equal(await cf.count('none', 'a'), 0)
		await refused(cf.info('none'), 'ERR not found')
		await refused(cf.del('none', 'a'), 'Not found')
		await refused(sendCommand(['CF.COMPACT', 'none']), 'Cuckoo filter was not found')
		await refused(cf.scanDump('none', 0), 'ERR not found')
		await refused(cf.loadChunk('none', 5, 'x'), 'ERR not found')
		await refused(cf.insert('none', 'a', { NOCREATE: true }), 'ERR not found')
		await refused(cf.insertNX('none', 'a', { NOCREATE: true }), 'ERR not found')
		assert.equal(await exists('none'), 0)
	},

	async cfRefused({ cf, set, exists }) {
		const least = 'Capacity must be at least (BucketSize * 2)'
		await refused(cf.reserve('b', 'x'), 'Bad capacity')
		await refused(cf.reserve('b', 3), least)
		await refused(cf.reserve('b', 7, { BUCKETSIZE: 4 }), least)
		await refused(cf.reserve('b', 2 ** 53),
			'ERR Insufficient memory to create filter')
		for (const [name, first, last] of [['BUCKETSIZE', 1, 255],
			['MAXITERATIONS', 1, 65535], ['EXPANSION', 0, 32768]]) {
			await refused(cf.reserve('b', 100, { [name]: 'x' }),
				`Couldn't parse ${name}`)
			for (const value of [first - 1, last + 1])
				await refused(cf.reserve('b', 1000, { [name]: value }), name +
					`: value must be an integer between ${first} and ` +
					`${last}, inclusive.`)
		}
		for (const insert of [cf.insert, cf.insertNX]) {
			const ask = CAPACITY => insert.call(cf, 'b', 'a', { CAPACITY })
			await refused(ask('x'), 'Bad capacity')
			await refused(ask(3), least)
		}
		await refused(cf.scanDump('b', 'x'), 'Invalid position')
		await refused(cf.loadChunk('b', 0, 'y'), 'Invalid position')
		await refused(cf.loadChunk('b', 1, 'y'), 'Invalid header')
		assert.equal(await exists('b'), 0)
		await cf.reserve('b', 100)
		await refused(cf.reserve('b', 100), 'ERR item exists')
		await refused(cf.loadChunk('b', 1, 'y'), 'ERR item exists')
		await refused(cf.loadChunk('b', 2, 'y'), "Couldn't load chunk!")
		await set('s', 'text')
		await allRefused([cf.add('s', 'a'), cf.addNX('s', 'a'), cf.insert('s', 'a'),
			cf.insertNX('s', 'a'), cf.exists('s', 'a'), cf.count('s', 'a'),
			cf.info('s'), cf.reserve('s', 100), cf.scanDump('s', 0),
			cf.loadChunk('s', 1, 'x')], wrongType)
		await refused(cf.del('s', 'a'), 'Not found') // as RedisBloom
	},

	// A dump with the client's own loop, which ends at iterator 0.
	async dumps({ bf, cf }, RESP) {
		const bytes = await connect(RESP, true)
		await bf.mAdd('bfrom', range(500))
		await cf.insert('cfrom', range(500), { CAPACITY: 100 })
		for (const [kind, from, to, end] of [[bytes.bf, 'bfrom', 'bto', Buffer.alloc(0)],
			[bytes.cf, 'cfrom', 'cto', null]]) {
			let chunks = 0, { iterator, chunk } = await kind.scanDump(from, 0)
			for (; iterator !== 0; chunks++) {
				assert.ok(Number.isSafeInteger(iterator) && Buffer.isBuffer(chunk))
				assert.equal(await kind.loadChunk(to, iterator, chunk), 'OK');
				({ iterator, chunk } = await kind.scanDump(from, iterator))
			}
			assert.deepEqual(chunk, end)
			assert.ok(chunks > 3)
			assert.deepEqual(await bytes.dump(to), await bytes.dump(from))
		}
		bytes.destroy()
		assert.ok((await bf.mExists('bto', range(500))).every(Boolean))
		assert.equal(await cf.count('cto', '7'), await cf.count('cfrom', '7'))
	},
}

for (const RESP of [2, 3]) {
	const client = await connect(RESP, false)
	const tools = {
		bf: client.bf, cf: client.cf,
		set: (key, value) => client.set(key, value),
		exists: (key) => client.exists(key),
		sendCommand: (words) => client.sendCommand(words),
	}
	for (const [name, test] of Object.entries(tests)) {
		await client.flushAll()
		try {
			await test(tools, RESP)
		} catch (error) {
			error.message = `${name}, RESP${RESP}: ${error.message}`
			throw error
		}
	}
	client.destroy()
}
console.log(`${Object.keys(tests).length} tests, in RESP2 and RESP3`)
