#!/bin/bash
# SPDX-License-Identifier: MIT
# DuckDB, a reader and writer of Parquet that shares no code with weir: what it writes weir reads,
# what weir writes it honours, and both give the same answers.
# Usage: live.sh path/to/weir path/to/splice    Exit: 0 passed, 1 failed, 77 no node, or no DuckDB.
# NODE_MODULES: a folder that has @duckdb/node-api already; else npm gets it into a folder that goes
# away at the end.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
weir=$(realpath "$1") splice=$(realpath "$2")
command -v node > /dev/null || { echo 'skipped: no node'; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/weir-parquet.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$here"/*.mjs "$work"
cd "$work"
echo '{ "private": true }' > package.json
if [ -n "${NODE_MODULES-}" ]; then
	ln -s "$(realpath "$NODE_MODULES")" node_modules
elif ! timeout 300 npm install --no-audit --no-fund --cache="$work/cache" \
	@duckdb/node-api > npm 2>&1; then
	echo 'skipped: npm got no @duckdb/node-api'
	tail -n 2 npm
	exit 77
fi
# HOME: where DuckDB would keep what is its own.
HOME=$work node live.mjs "$weir" "$splice" "$here"
