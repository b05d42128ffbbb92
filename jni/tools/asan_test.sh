#!/usr/bin/env bash
# Runs the bindings' tests in a JVM with the library built under AddressSanitizer and
# UndefinedBehaviorSanitizer. Exit code 0: all passed and neither found anything. Usage:
# asan_test.sh [-Dtest=... or other options for Maven]. The bindings' classes and test classes must be
# compiled (mvn test-compile does); they are copied, so the ordinary build stays as it is.
set -euo pipefail

jni=$(cd "$(dirname "$0")/.." && pwd)
work=$jni/target/asan
jobs=${NATIVE_JOBS:-$(nproc)}

cmake -S "$jni/src/main/cpp" -B "$work/cmake" -G Ninja -Wno-dev \
    -DCMAKE_BUILD_TYPE=Debug -DLAVA_SANITIZE=address >"$work.log" ||
    { cat "$work.log" >&2; exit 1; }
cmake --build "$work/cmake" -j "$jobs" --target lavakvjni >"$work.log" ||
    { grep -E -A 12 'FAILED|error:' "$work.log" >&2; exit 1; }

rm -rf "$work/classes" "$work/reports"
mkdir -p "$work/reports"
cp -r "$jni/target/classes" "$work/classes"
cp "$work/cmake/liblavakvjni.so" "$work/classes/org/lavakv/native/linux-x86_64/liblavakvjni.so"

# The sanitizers' libraries must come before everything else in the process. HotSpot uses SIGSEGV
# itself, and its own memory is no leak of ours.
compiler=${CXX:-c++}
export LAVA_ASAN_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)"
export LAVA_ASAN_LOG="$work/reports/sanitizer"
cd "$jni/.."
status=0
mvn -B -ntp -q -o -pl jni -Pasan surefire:test "$@" || status=$?

if compgen -G "$LAVA_ASAN_LOG.*" >/dev/null; then
    echo "The sanitizers found:" >&2
    cat "$LAVA_ASAN_LOG".* | head -n 200 >&2
    status=1
fi
exit "$status"
