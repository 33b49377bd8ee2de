# SPDX-License-Identifier: MIT
# The steps of tests/run.sh. Each step is a function step_NAME that installs packages, builds and
# tests. run.sh sources this file and has meson_test and check.

base_packages='gcc libc6-dev meson ninja-build pkg-config libxxhash-dev libcmocka-dev libzstd-dev
	liburcu-dev zlib1g-dev libjansson-dev liblzma-dev libbz2-dev libcsv-dev libhiredis-dev
	libssl-dev libsodium-dev'
bench_packages='g++ libbenchmark-dev libbloom-dev'
tool_packages='python3 zstd cmark-gfm' # called by tests of the command and of the documents
clang_packages='clang libclang-rt-14-dev'
install_packages='build-essential cmark-gfm debhelper lintian debootstrap mandoc man-db zstd'

# The longest steps first, because two run at a time; steps that share a build folder far apart.
all_steps=(bare asan gcc clang mutants msan models coverage fuzz tsan_gcc aarch64 tsan_clang
	valgrind schedule s390x install servers eva parquet absent folders)
# The steps that find most for their time. The last two take about the same time.
ci_steps=(bare asan gcc absent models servers tsan_gcc s390x schedule eva)

list_steps() {
	cat <<-END
	quick        the default build; what each verb does, on every instruction set and under
	             threads, the examples of README and guides: the same as a plain
	             "meson test"
	bare         the ways in that README shows, each as it has them, in a fresh minimal
	             Debian 12 that has nothing else; with --all in Debian 13 too
	absent       everything built with one optional package not installed, one after the
	             other, and with either library alone, without any option, with LTO
	folders      with one optional folder deleted, one after the other, the rest is set up
	             and built
	gcc          gcc -Werror, everything with the benchmarks; all tests
	clang        the library, the command and their tests with clang -Werror
	asan         AddressSanitizer and UndefinedBehaviorSanitizer, all tests
	tsan_gcc     ThreadSanitizer on the scalar kernels, the tests with threads
	tsan_clang   the same with clang's
	msan         MemorySanitizer
	valgrind     memcheck on the unit tests
	aarch64      built with Debian's cross compiler, run under qemu: NEON
	s390x        the same: big-endian
	schedule     every interleaving and every stale read of the real code
	mutants      planted bugs, each of which the schedules (of images: the power cuts, the
	             kills; of single verbs: their tests) must find
	models       Spin: reload and its like, a save and a seal under a power cut
	fuzz         the corpus replayed, then a short run of libFuzzer with new inputs
	eva          frama-c proves the image's header check free of run-time errors
	install      the Debian packages in a bare system; lintian
	servers      named with weir's plugin, nginx with its module: answers, swaps, damage,
	             reloads, kills under load; a guard before redis-server and SQLite
	             or PostgreSQL; the module for Redis, by the npm client too where npm
	             is, and on Valkey 8.0; nodes on several redis-servers; with --all bugs
	             planted in the module for Redis, and the module on Redis 8.0 and
	             Valkey 8.1
	parquet      DuckDB, got by npm, writes files for weir and reads filters of weir's own
	coverage     lines and branches of the library that the tests reach
	END
}

# packages NAME...: install missing packages. Only one step at a time installs.
packages() {
	(flock 9; need_packages "$@") 9> "$build/packages.lock"
}

# configure NAME OPTION...: make a build folder with the tests. A folder with other options is made
# again. The lock is held until the step ends, so two steps in one folder wait for each other.
configure() {
	local folder=$build/$1 with
	shift
	exec 8> "$folder.lock"
	flock 8
	# Debug only lines of C and nothing of C++: full debug information takes a quarter of the
	# time.
	set -- -Dc_args=-g1 -Dcpp_args=-g0 "$@"
	with="${CC-} ${CXX-} $*"
	if [ ! -e "$folder/build.ninja" ] ||
		[ "$with" != "$(cat "$folder/configured" 2> /dev/null)" ]; then
		rm -rf "$folder"
		meson setup "$folder" -Dtests=enabled "$@"
		echo "$with" > "$folder/configured"
	fi
}

# Configure, and compile everything, whether or not a test calls it.
build_in() {
	configure "$@"
	ninja -C "$build/$1"
}

# The sanitizers of Debian 12 fail with the address layouts of new kernels, which are more random.
# So switch the randomness off where that is allowed.
fixed_layout=()
! setarch -R true 2> /dev/null || fixed_layout=(--wrap 'setarch -R')

# The suites of tests/run.sh without a step: meson's default setup (tests/meson.build).
each_build=(--suite unit --suite conformance --suite golden --suite stress --suite headers
	--suite install --suite examples)

step_quick() {
	packages $base_packages g++
	build_in quick -Dbench=disabled
	meson_test quick
}

# Build the installed files and the benchmarks, because no test calls all of them.
build_products() {
	local products
	products=$(ninja -C "$build/$1" -t targets all |
		sed -n 's/^\(\(src\|bench\)\/[^:]*\): \(.*_LINKER\|CUSTOM_COMMAND\).*/\1/p')
	ninja -C "$build/$1" $products
}

# The shortest test that shows that the build works.
step_smoke() {
	packages $base_packages g++
	configure quick -Dbench=disabled
	build_products quick
	meson_test quick --suite headers
}

# The base system is made once. Each way of README begins with a copy of it, so that no way can use
# what another installed. Then all ways run in one copy, one after another, and one way runs within
# that copy. A short run has only the way "user".
step_bare() {
	local ways='install bench tests' in_order='bench tests user install nested' way
	[ -z "$short" ] || in_order=user
	if [ -n "${WEIR_BARE_NESTED-}" ]; then
		check tests/bare.sh --base="$build/bare" tests/install/bare-ways.sh install
		return
	fi
	for way in $ways "$in_order"; do
		check tests/bare.sh --base="$build/bare" tests/install/bare-ways.sh $way
	done
	[ -z "$short" ] || return 0
	check tests/bare.sh --release=trixie tests/install/bare-ways.sh ${in_order% nested}
}

# A short run tests without the package that most of the tree can do without, and with each library
# alone. README's ways have none of the servers' packages.
step_absent() {
	local cases=all
	[ -z "$short" ] || cases='libzstd-dev static shared'
	check tests/bare.sh --base="$build/bare" tests/install/absent.sh $cases
}

step_folders() {
	packages $base_packages $bench_packages $tool_packages bind9-dev nginx-dev libpcre2-dev
	check tests/install/folders.sh . "$build/folders"
}

everything=(-Dwerror=true -Dtool=enabled -Dbench=enabled -Dzstd=enabled -Dguides=enabled)
with_servers=(-Dbind=enabled -Dnginx=enabled -Dredis=enabled -Dreplicate=enabled)

# In a short run the step servers uses this folder too, and only what tests call is compiled.
build_gcc() {
	packages $base_packages $bench_packages $tool_packages
	[ -z "$short" ] || packages_of_servers $server_packages
	local how=build_in
	[ -z "$short" ] || how=configure
	CC=gcc CXX=g++ "$how" gcc "${everything[@]}" ${short:+"${with_servers[@]}"}
}

step_gcc() {
	packages gnuplot-nox
	build_gcc
	[ -z "$short" ] || build_products gcc
	# In a short run, asan runs the suites unit, fault, fuzz and input.
	meson_test gcc --setup all --no-suite slow --no-suite schedule --no-suite model \
		--no-suite servers \
		${short:+--no-suite unit --no-suite fault --no-suite fuzz --no-suite input}
}

step_clang() {
	packages $base_packages g++ $clang_packages
	CC=clang CXX=clang++ build_in clang -Dwerror=true -Dtool=enabled -Dzstd=enabled \
		-Dbench=disabled
	# Tests that do not depend on the compiler run only with gcc.
	meson_test clang "${each_build[@]}"
}

# Undefined behaviour traps, and the address sanitizer prints the place. Messages instead of traps
# would make the library four times as large, and each start of the command twice as slow.
step_asan() {
	local with='-fsanitize-undefined-trap-on-error -g1' commands=tool how=build_in
	packages $base_packages g++ $tool_packages
	[ -z "$short" ] || how=configure
	"$how" asan -Dbuildtype=debugoptimized -Doptimization=1 -Dwerror=true -Dbench=disabled \
		-Db_sanitize=address,undefined -Db_lundef=false "-Dc_args=$with" "-Dcpp_args=$with"
	ASAN_OPTIONS=handle_sigill=1 meson_test asan -t 4 "${fixed_layout[@]}" \
		--setup all --no-suite slow --no-suite property --no-suite model \
		--no-suite headers \
		--no-suite install --no-suite bench --no-suite tool \
		${short:+--no-suite stress --no-suite scalar} # tsan_gcc and gcc run these
	# These tests start thousands of processes. A short run has only tests that read foreign
	# input, and does not search for leaks, which takes half of a process's time.
	[ -z "$short" ] || commands=input
	ASAN_OPTIONS=handle_sigill=1${short:+:detect_leaks=0} meson_test asan -t 4 \
		"${fixed_layout[@]}" --suite $commands
}

threaded() {
	configure "$1" -Dbuildtype=debugoptimized -Dwerror=true -Dbench=disabled \
		-Db_sanitize=thread -Db_lundef=false ${short:+-Dtool=disabled}
	TSAN_OPTIONS=halt_on_error=1 meson_test "$1" -t 8 "${fixed_layout[@]}" \
		--no-suite mathematics --no-suite one_thread --suite unit --suite stress
}

step_tsan_gcc() {
	packages $base_packages g++
	CC=gcc CXX=g++ threaded tsan_gcc
}

step_tsan_clang() {
	packages $base_packages g++ $clang_packages
	CC=clang CXX=clang++ threaded tsan_clang
}

# MemorySanitizer sees only code that is compiled with it. So leave out zstd, the command's
# libraries, and the libraries by which a node calls redis. It knows fstat(), but not fstat64(),
# which is the same function here and which meson's options would choose.
step_msan() {
	packages $base_packages g++ $clang_packages
	CC=clang CXX=clang++ configure msan -Dbuildtype=debugoptimized -Dbench=disabled \
		-Dtool=disabled -Dzstd=disabled -Dreplicate=disabled \
		-Db_sanitize=memory -Db_lundef=false -Dc_args=-U_FILE_OFFSET_BITS
	meson_test msan -t 4 "${fixed_layout[@]}" --no-suite mathematics --suite unit \
		--suite conformance --suite golden
}

step_valgrind() {
	packages valgrind
	build_gcc
	meson_test gcc -t 20 --no-suite mathematics --suite unit \
		--wrap "valgrind --quiet --error-exitcode=9 --leak-check=full \
			--errors-for-leak-kinds=definite,possible \
			--suppressions=$root/tests/valgrind.supp"
}

# cross MESON_NAME DEBIAN_NAME COMPILER_NAME. The compiler only recommends its C library.
cross() {
	packages $base_packages "gcc-$3" "libc6-dev-$2-cross" qemu-user
	tests/cross/sysroot.sh "$2" "$build/sysroot-$2"
	printf "[constants]\nsysroot = '%s'\n" "$build/sysroot-$2" > "$build/$2.ini"
	configure "$1" --cross-file "$build/$2.ini" --cross-file "tests/cross/$1.ini" \
		-Dbuildtype=debugoptimized -Doptimization=2 -Dwerror=true \
		-Dtool=disabled -Dbench=disabled
	local units=unit
	[ -z "$short" ] || units=format # only the units that the byte order can affect
	meson_test "$1" -t 10 --no-suite mathematics --suite $units --suite conformance \
		--suite golden
}

step_aarch64() {
	cross aarch64 arm64 aarch64-linux-gnu
}

step_s390x() {
	cross s390x s390x s390x-linux-gnu
}

step_schedule() {
	build_gcc
	# A short run has a tenth of the random executions, and all complete searches.
	meson_test gcc --suite schedule ${short:+--test-args='--executions 3000'}
}

step_mutants() {
	packages gcc libc6-dev libcmocka-dev libxxhash-dev liburcu-dev python3
	check tests/schedule/run-mutants.py --jobs 2
	build_gcc
	ninja -C "$build/gcc"
	check tests/unit/mutants.py "$build/gcc"
}

step_models() {
	packages gcc libc6-dev spin
	check tests/model/run.sh
}

step_fuzz() {
	packages $base_packages $clang_packages
	check tests/fuzz/run-fuzz.sh 60 "$build/fuzz"
}

step_eva() {
	packages frama-c-base gcc libc6-dev
	check tests/fuzz/run-eva.sh
}

# packages_of_servers NAME...: install packages without starting their daemons.
packages_of_servers() {
	local policy=/usr/sbin/policy-rc.d made= status=0
	if [ "$(id -u)" -eq 0 ] && [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' > $policy
		chmod 755 $policy
		made=yes
	fi
	packages "$@" || status=$?
	[ -z "$made" ] || rm -f $policy
	return $status
}

server_packages='bind9 bind9-dev bind9-utils dnsperf nginx nginx-dev libpcre2-dev libssl-dev wrk
	curl procps openssl redis-server redis-tools python3-redis libsqlite3-dev postgresql
	libpq-dev'

# module_on SUITE NAME FOLDER TESTS: run the module's tests on the server NAME of Debian's SUITE.
# Skipped if the mirror lacks it.
module_on() {
	local at=$build/$1-$2 status=0
	tests/servers/redis/other-server.sh "$1" "$2" "$at" || status=$?
	if [ "$status" = 77 ]; then
		echo "the module on $2 of $1" >> "$skips"
		echo "0 0 1" >> "$tally"
		return
	fi
	[ "$status" = 0 ] || return
	WEIR_REDIS_SERVER=$at/$2 meson_test "$3" --num-processes "$at_once" --suite "$4"
}

# Most of these tests wait for a server and use a sixth of a core. Twice as many at a time take half
# as long, and none takes longer.
step_servers() {
	local at_once=$((2 * $(nproc)))
	if [ -n "$short" ]; then
		build_gcc
		meson_test gcc --num-processes "$at_once" --suite servers
		module_on bookworm-backports valkey-server gcc on_valkey
		return
	fi
	packages_of_servers $base_packages $tool_packages $server_packages
	configure servers -Dwerror=true -Dbench=disabled -Dtool=enabled -Dzstd=enabled \
		"${with_servers[@]}"
	meson_test servers --num-processes "$at_once" --suite servers
	module_on bookworm-backports valkey-server servers module
	module_on trixie redis-server servers module
	module_on trixie valkey-server servers module
	check tests/servers/redis/mutants.py "$build/servers/src"
}

# Skipped without node or DuckDB.
step_parquet() {
	build_gcc
	local status=0
	tests/parquet/live.sh "$build/gcc/src/tool/weir" "$build/gcc/tests/parquet/splice" ||
		status=$?
	[ "$status" = 77 ] && echo 'parquet with DuckDB' >> "$skips" || check [ "$status" = 0 ]
}

# Atomic counters, so that threads lose no count. Without always_inline, so that the branches of a
# function are counted once, not in each caller. Without code that only servers' tests reach. The
# question is what is reached, not how often, so most tests are short. The fault tests are not,
# because short ones leave out pairs of a verb and an error, and so branches.
step_coverage() {
	packages $base_packages g++ python3
	local with='-fprofile-update=atomic -Dalways_inline='
	CC=gcc CXX=g++ build_in coverage -Dbuildtype=debug -Dbench=disabled -Dreplicate=disabled \
		-Db_coverage=true "-Dc_args=$with" "-Dcpp_args=$with"
	find "$build/coverage" -name '*.gcda' -delete
	WEIR_TEST_SHORT=1 meson_test coverage -t 12 --suite unit --suite conformance \
		--suite golden --suite examples --suite input --suite tool --no-suite fault
	meson_test coverage -t 12 --suite fault
	WEIR_TEST_SHORT=1 meson_test coverage -t 12 'stress load' # two loaders at a time
	check tests/coverage/check.py "$build/coverage" "$logs/coverage.report"
}

# packages_in_bare FOLDER: install the packages with dpkg and apt in the bare system.
packages_in_bare() {
	tar -C "$1" -c . | tests/bare.sh --base="$build/bare" tests/install/bare-packages.sh
}

step_install() {
	local what
	packages $base_packages $install_packages
	rm -rf "$build/deb"
	DEB_BUILD_OPTIONS=nocheck check src/packaging/build-deb.sh "$build/deb"
	check lintian -I --fail-on error,warning,info --tag-display-limit 0 \
		"$build"/deb/weir_*.changes
	check packages_in_bare "$build/deb"
	for what in man html; do
		python3 -B src/packaging/reference/reference.py "$what" include/weir \
			"$build/reference/$what" src/packaging/debian/changelog
	done
	check python3 -B tests/install/reference.py . "$build"/reference/{man,html}
}
