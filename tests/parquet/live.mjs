// SPDX-License-Identifier: MIT
// live.mjs WEIR SPLICE FIXTURES, in an empty folder (live.sh).
import { DuckDBInstance } from '@duckdb/node-api'
import { execFileSync, spawnSync } from 'node:child_process'

const [weir, splice, fixtures] = process.argv.slice(2)
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const rows = async query => (await connection.runAndReadAll(query)).getRows()
let passed = 0, failed = 0
const check = (right, what) => {
	right ? passed++ : failed++
	if (!right)
		console.log('FAILED: ' + what)
}

// weir's answer: for each text the row groups that may hold it.
const ask = (column, texts) => {
	const answer = spawnSync(weir, ['query', '-v', '--json', column],
		{ input: texts.join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28 })
	const held = spawnSync(weir, ['query', column],
		{ input: texts.join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28 })
	check(answer.status !== 2 && held.status !== 2, `${column}: ${answer.stderr}`)
	const found = new Map(texts.map(text => [text, []]))
	for (const line of held.stdout.split('\n').filter(line => line)) {
		const tab = line.lastIndexOf('\t')
		found.set(line.slice(0, tab), line.slice(tab + 1).split(',').map(Number))
	}
	const absent = JSON.parse(answer.stdout).keys.map(k => k.key)
	check(absent.every(text => found.get(text).length === 0), `${column}: -v and its opposite`)
	return found
}

// DuckDB's answer to the same.
const probe = async (file, column, value) =>
	(await rows(`select * from parquet_bloom_probe('${file}', '${column}', ${value})`))
		.filter(row => !row[2]).map(row => Number(row[1])).sort((a, b) => a - b)

const GROUPS = 5, EACH = 4096, ROWS = 2 * EACH
// SQL of value n, and of a text for DuckDB's probe; null: that one is not to be asked. Of a decimal
// it denies values that are there, which its scans find; of a UUID it denies none.
const types = {
	i32: ['(n * 1009 - 2000000)::int', v => `${v}::int`],
	i64: ['(n * 1000000007 - 5)::bigint', v => `${v}::bigint`],
	u32: ['(n * 3001)::uinteger', v => `${v}::uinteger`],
	f: ['(n * 0.37)::float', v => `'${v}'::float`],
	d: ['(n * 0.37)::double', v => `'${v}'::double`],
	s: [`'name ' || n`, v => `'${v}'`],
	day: [`date '1950-01-01' + n::int`, v => `date '${v}'`],
	price: ['(n * 1.25)::decimal(9, 2)', null],
	id: [`('00000000-0000-4000-8000-' || lpad(n::varchar, 12, '0'))::uuid`, null],
}
const list = Object.entries(types).map(([name, [sql]]) => `${sql} as ${name}`).join(', ')
const made = `select ${list} from
	(select (i // 2)::bigint n from range(${GROUPS * ROWS}) r(i)) order by n`
await connection.run(`copy (${made}) to 'live.parquet' (format parquet, row_group_size ${ROWS},
	dictionary_size_limit 1000000, string_dictionary_page_size_limit 100000000)`)

for (const [name, [sql, literal]] of Object.entries(types)) {
	const texts = async (from, n) =>
		(await rows(`select (${sql})::varchar
			from (select range + ${from} n from range(${n}))`)).map(row => row[0])
	const all = await texts(0, GROUPS * EACH), absent = await texts(1000000, 20000)
	const present = ask(`live.parquet:${name}`, all)
	let missed = 0, wrong = 0
	all.forEach((text, n) => {
		const groups = present.get(text)
		missed += !groups.includes(Math.floor(n / EACH))
	})
	check(missed === 0, `${name}: ${missed} of ${all.length} values were missed`)
	const others = ask(`live.parquet:${name}`, absent)
	absent.forEach(text => wrong += others.get(text).length)
	const rate = wrong / (absent.length * GROUPS)
	check(rate < 0.02, `${name}: false positives ${rate}`)
	let differ = 0
	for (const [answers, values] of literal ? [[present, all], [others, absent]] : [])
		for (let i = 0; i < 60; i++) {
			const text = values[Math.floor(i * values.length / 60)]
			const theirs = await probe('live.parquet', name, literal(text))
			differ += theirs.join() !== answers.get(text).join()
		}
	check(differ === 0, `${name}: weir and DuckDB differ for ${differ} of 120 values`)
	const duckdb = literal ? `${differ} of 120 differ` : 'not asked'
	console.log(`${name}: ${all.length} values, ${missed} missed; of ${absent.length} absent ` +
		`ones x ${GROUPS} row groups ${(100 * rate).toFixed(3)} % maybe; DuckDB: ${duckdb}`)
}

// A filter of weir's own in row group 2: of other values than those that are there.
const at = n => BigInt(n) * 1000000007n - 5n
const inside = [...Array(EACH).keys()].map(n => at(2 * EACH + n)) // values of row group 2
const kept = inside.filter((_, n) => n % 2 === 0), dropped = inside.filter((_, n) => n % 2 === 1)
execFileSync(splice, ['live.parquet', '2', 'i64'], { input: kept.join('\n') + '\n' })
const after = ask('live.parquet:i64', [...kept, ...dropped].map(String))
const lost = kept.filter(v => !after.get(String(v)).includes(2)).length
const gone = dropped.filter(v => !after.get(String(v)).includes(2))
check(lost === 0, `spliced: ${lost} of those put in are missed by weir`)
check(gone.length > dropped.length * 0.97,
	`spliced: only ${gone.length} of ${dropped.length} are out`)
let kept_found = 0, gone_found = 0, differ = 0
const differs = async v =>
	(await probe('live.parquet', 'i64', `${v}::bigint`)).join() !== after.get(String(v)).join()
const count = async v =>
	Number((await rows(`select count(*) from 'live.parquet' where i64 = ${v}`))[0][0])
for (let i = 0; i < 100; i++) {
	const yes = kept[i * 20], no = gone[i * 19]
	differ += await differs(yes) + await differs(no)
	kept_found += await count(yes) === 2
	gone_found += await count(no) !== 0
}
check(differ === 0, `spliced: DuckDB's probe differs from weir for ${differ} of 200`)
check(kept_found === 100, `spliced: a query finds ${kept_found} of 100 that are in the filter`)
check(gone_found === 0, `spliced: a query finds ${gone_found} of 100 that the filter denies`)
console.log(`spliced: ${kept.length} kept, ${lost} missed; DuckDB finds ${kept_found} of 100 of ` +
	`them, and ${gone_found} of 100 that weir's filter leaves out; its probe differs for ` +
	`${differ} of 200`)

// The files that the ordinary tests read are still what DuckDB gives.
execFileSync('node', ['make.mjs', '.'])
for (const name of ['numbers', 'texts', 'nested', 'dated']) {
	const list = file => JSON.parse(execFileSync(weir, ['parquet', '--json', file])).filters
		.map(({ offset, ...rest }) => rest)
	const now = list(`${name}.parquet`), committed = list(`${fixtures}/${name}.parquet`)
	check(JSON.stringify(now) === JSON.stringify(committed),
		`${name}: other filters than those of the committed file`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
