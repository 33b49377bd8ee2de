#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests weir with DuckDB, a reader and writer of Parquet that shares no code with weir. weir reads
# DuckDB's filters, DuckDB uses weir's filters, and both give the same answers.
# Usage: live.sh path/to/weir path/to/splice    Exit: 0 passed, 1 failed, 77 no node, or no DuckDB.
# NODE_MODULES: a folder that already has @duckdb/node-api. Without it npm installs the package into
# a temporary folder.
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
# HOME: a folder for DuckDB's own files.
HOME=$work node live.mjs "$weir" "$splice" "$here"
