#!/usr/bin/env bash
# native/fuzz/run.sh RUNS [PARSER...]: runs each parser's fuzzer, or those named, that often under
# AddressSanitizer and UndefinedBehaviorSanitizer, two at a time. Prints how often each one ran;
# non-zero, and how to see it again, when an input breaks a rule.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

runs=${1:-}
case $runs in
  '' | *[!0-9]*)
    echo "usage: native/fuzz/run.sh RUNS [PARSER...]" >&2
    exit 2
    ;;
esac
shift
parsers=("$@")
if [ ${#parsers[@]} -eq 0 ]; then
  parsers=(ksst vsst manifest metadata blocks framing list) # the slowest first
fi
seed=${LAVA_FUZZ_SEED:-2013}
build=native/target/fuzz
work=$build/work

clang=$(command -v clang++ || command -v clang++-14)
probe=$(mktemp -d)
echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' >"$probe/a.cc"
if [ -z "$clang" ] || ! "$clang" -fsanitize=fuzzer,address "$probe/a.cc" -o "$probe/a" 2>/dev/null; then
  rm -rf "$probe"
  echo "The fuzzers need clang++ with libFuzzer: apt-get install clang-14 libclang-rt-14-dev" >&2
  exit 1
fi
rm -rf "$probe"

mkdir -p "$build"
# Optimised: a fuzzer's worth is how often it runs.
if ! { cmake -S native -B "$build" -G Ninja -Wno-dev "-DCMAKE_CXX_COMPILER=$clang" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLAVA_SANITIZE=address -DLAVA_FUZZ=ON -DLAVA_TESTS=ON &&
  cmake --build "$build" -j "$(nproc)" --target fuzzers; } >"$build/build.log" 2>&1; then
  grep -E -A 12 'FAILED|error:' "$build/build.log" | head -n 40 >&2
  echo "The fuzzers do not build; the whole output is in $build/build.log" >&2
  exit 1
fi
echo "Seed $seed; LAVA_FUZZ_SEED chooses another."

# Older sanitizer runtimes do not know where newer kernels put things unless addresses are fixed.
runner=()
if setarch -R true 2>/dev/null; then
  runner=(setarch -R)
fi

# one PARSER: its COUNT line on stdout, what went wrong on stderr.
one() {
  local parser=$1 place=$work/$1
  local log=$place/log
  rm -rf "$place"
  mkdir -p "$place/corpus" "$place/found"
  # A small quarantine and no filling: an input's memory is little, and its runs are many.
  if ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:quarantine_size_mb=8:max_malloc_fill_size=0 \
    UBSAN_OPTIONS=print_stacktrace=1 \
    ${runner[@]+"${runner[@]}"} "$build/fuzz/${parser}_fuzz" -runs="$runs" -seed="$seed" \
    -max_len=2048 -timeout=10 -rss_limit_mb=512 -malloc_limit_mb=64 \
    -artifact_prefix="$place/found/" -print_final_stats=1 \
    "$place/corpus" "native/fuzz/corpus/$parser" >"$log" 2>&1; then
    echo "COUNT $(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
      "fuzzer executions of $parser"
    return 0
  fi
  {
    grep -E -m 3 'fuzzer: |ERROR: |runtime error' "$log"
    echo "$parser: the whole output is in $log"
    find "$place/found" -type f | while read -r input; do
      echo "$parser: input $input; to see it again: $build/fuzz/${parser}_fuzz $input"
    done
  } >&2
  return 1
}

status=0
running=0
for parser in "${parsers[@]}"; do
  if [ $running -eq 2 ]; then
    wait -n || status=1
    running=$((running - 1))
  fi
  one "$parser" &
  running=$((running + 1))
done
while [ $running -gt 0 ]; do
  wait -n || status=1
  running=$((running - 1))
done
exit $status
