// SPDX-License-Identifier: MIT
// The files of this folder, made by DuckDB: make.mjs FOLDER. Three row groups of 2048 rows with 32
// values each; value n of row group g is number 32 * g + n.
import { DuckDBInstance } from '@duckdb/node-api'

const folder = process.argv[2]
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const columns = {
	numbers: `(n * 1009 - 20000)::int i32, (n * 1000000007)::bigint i64, (n * 0.1)::float f,
		(n * 0.3)::double d, (n * 44739242)::uinteger u32`,
	texts: `'name ' || n s, ('raw ' || n)::blob b,
		('00000000-0000-4000-8000-' || lpad(n::varchar, 12, '0'))::uuid id`,
	nested: `{'a': n::int, 'b': {'c': 'deep ' || n}} top, ['item ' || n] list`,
	dated: `date '2000-02-28' + n::int as day, (n * 1.25)::decimal(9, 2) price,
		(n * 12345678.75)::decimal(18, 2) total,
		timestamp '2024-01-01' + interval (n) second as at, n % 2 = 0 flag`,
}
for (const [name, list] of Object.entries(columns))
	await connection.run(`copy (select ${list} from (select (i // 64)::bigint n
		from range(6144) r(i)) order by n) to '${folder}/${name}.parquet'
		(format parquet, row_group_size 2048, compression zstd)`)
await connection.run(`copy (select range::double d from range(4096)) to
	'${folder}/without.parquet' (format parquet, row_group_size 2048, compression zstd,
	parquet_version v1, dictionary_size_limit 1)`)
