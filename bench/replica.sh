#!/bin/sh
# SPDX-License-Identifier: MIT
# One set on many machines: starts a redis of its own and runs bench_replica and bench_replica_cpu.
# replica.sh BUILD_FOLDER [KEYS [NODES [SECONDS]]]
set -eu
build=$(realpath "$1") keys=${2:-1000000} nodes=${3:-32} seconds=${4:-5}
work=$(mktemp -d)
module=$build/src/servers/redis/weir-redis.so
[ -e "$module" ] && set -- --loadmodule "$module" || set --
redis-server --port 0 --unixsocket "$work/s" --save '' --dir "$work" --logfile "$work/log" "$@" &
trap 'kill $!; wait; rm -rf "$work"' EXIT
until [ -S "$work/s" ]; do sleep 0.1; done
"$build/bench/bench_replica" "$work/s" "$keys"
redis-cli -s "$work/s" flushall > "$work/flushed"
"$build/bench/bench_replica_cpu" "$work/s" "$nodes" "$seconds"
