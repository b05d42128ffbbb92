#!/usr/bin/env bash
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

# Runs the bindings' tests in a JVM with the library built with AddressSanitizer and
# UndefinedBehaviorSanitizer. Exit code 0: all tests passed, no sanitizer found anything, and both
# reported the planted errors. Usage:
#
#   asan_test.sh [--build | -Dtest=... or other options for Maven]
#
# The bindings' classes and test classes must be compiled (by mvn test-compile). They are copied, so
# the ordinary build does not change. --build: builds only the library, which needs no classes.
set -euo pipefail

jni=$(cd "$(dirname "$0")/.." && pwd)
work=$jni/target/asan
jobs=${NATIVE_JOBS:-$(nproc)}

cmake -S "$jni/src/main/cpp" -B "$work/cmake" -G Ninja -Wno-dev \
    -DCMAKE_BUILD_TYPE=Debug -DLAVA_SANITIZE=address >"$work.log" ||
    { cat "$work.log" >&2; exit 1; }
cmake --build "$work/cmake" -j "$jobs" --target lavakvjni >"$work.log" ||
    { grep -E -A 12 'FAILED|error:' "$work.log" >&2; exit 1; }

[ "${1:-}" != --build ] || exit 0

rm -rf "$work/classes"
cp -r "$jni/target/classes" "$work/classes"
cp "$work/cmake/liblavakvjni.so" "$work/classes/org/lavakv/native/linux-x86_64/liblavakvjni.so"

# The sanitizers' libraries must be loaded before all others. HotSpot uses SIGSEGV itself, and its
# own memory is no leak of ours.
compiler=${CXX:-c++}
export LAVA_ASAN_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)"
export LAVA_ASAN_LOG="$work/reports/sanitizer"
cd "$jni/.."

# run ARGUMENT...: runs tests with the library; fails when a test failed or a sanitizer found
# anything.
run() {
    local status=0
    rm -rf "$work/reports"
    mkdir -p "$work/reports"
    mvn -B -ntp -q -o -pl jni -Pasan surefire:test "$@" || status=1
    if compgen -G "$LAVA_ASAN_LOG.*" >/dev/null; then
        echo "The sanitizers found:"
        cat "$LAVA_ASAN_LOG".* | head -n 200
        status=1
    fi
    return "$status"
}

# The first runs must fail, with these words. canary TEST WORDS
canary() {
    local log=$work/canary-$1.log status=0
    run "-Dtest=SanitizerCanary#$1" >"$log" 2>&1 || status=$?
    if [ "$status" -eq 0 ] || ! grep -q "$2" "$log"; then
        tail -n 40 "$log" >&2
        echo "The sanitizers did not report $1, which SanitizerCanary does" >&2
        exit 1
    fi
    echo "The sanitizers report $1."
}
canary heapOverflow 'AddressSanitizer: heap-buffer-overflow'
canary undefined 'runtime error: signed integer overflow'

status=0
run "$@" || status=$?
tests=$({ cat "$work"/reports/TEST-*.xml 2>/dev/null || true; } |
    sed -n 's/^<testsuite .* tests="\([0-9]*\)".*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
# On a separate line: Maven's output ends with colour codes.
printf '\nCOUNT %s tests of the bindings under both sanitizers\n' "$tests"
if [ "$tests" -eq 0 ]; then
    echo "No test ran" >&2
    status=1
fi
exit "$status"
