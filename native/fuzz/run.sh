#!/usr/bin/env bash
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

# native/fuzz/run.sh RUNS [PARSER...]: runs the fuzzer of each parser, or of the given ones, RUNS
# times with AddressSanitizer and UndefinedBehaviorSanitizer, two at a time. Prints how often each
# one ran. If an input violates a rule, the exit code is non-zero, and the command to repeat it is
# printed. Interesting inputs are kept in native/target/fuzz/corpus-found/<parser>, where the next
# run begins. native/fuzz/run.sh --merge [PARSER...]: copies those of these inputs that add coverage
# into native/fuzz/corpus, to be committed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

all=(inspect log volume ksst vsst manifest metadata blocks vblocks entries framing list) # the slowest first
merge=false
runs=${1:-}
case $runs in
  --merge) merge=true ;;
  '' | *[!0-9]*)
    echo "usage: native/fuzz/run.sh RUNS|--merge [PARSER...]" >&2
    exit 2
    ;;
esac
shift
parsers=("$@")
if [ ${#parsers[@]} -eq 0 ]; then
  parsers=("${all[@]}")
fi
for parser in "${parsers[@]}"; do
  case " ${all[*]} " in
    *" $parser "*) ;;
    *) echo "No fuzzer of $parser; there are: ${all[*]}" >&2 && exit 2 ;;
  esac
done
seed=${LAVA_FUZZ_SEED:-2013}
build=native/target/fuzz
work=$build/work
found=$build/corpus-found
# The limit of the tests that read the committed corpora.
bytes_max=2047

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
# Optimized, because the value of a fuzzer depends on its number of runs.
if ! { cmake -S native -B "$build" -G Ninja -Wno-dev "-DCMAKE_CXX_COMPILER=$clang" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLAVA_SANITIZE=address -DLAVA_FUZZ=ON -DLAVA_TESTS=ON &&
  cmake --build "$build" -j "$(nproc)" --target "${parsers[@]/%/_fuzz}"; } >"$build/build.log" 2>&1; then
  grep -E -A 12 'FAILED|error:' "$build/build.log" | head -n 40 >&2
  echo "The fuzzers do not build; the whole output is in $build/build.log" >&2
  exit 1
fi
# Older sanitizer runtimes require fixed addresses, because they do not know the memory layout of
# newer kernels.
runner=()
if setarch -R true 2>/dev/null; then
  runner=(setarch -R)
fi

# A small quarantine and no filling, because inputs need little memory and there are many runs.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:quarantine_size_mb=8:max_malloc_fill_size=0
export UBSAN_OPTIONS=print_stacktrace=1

if $merge; then
  for parser in "${parsers[@]}"; do
    if ! [ -d "$found/$parser" ]; then
      echo "$parser: nothing found yet"
      continue
    fi
    committed=native/fuzz/corpus/$parser
    before=$(find "$committed" -type f | wc -l)
    # Different counts of loop iterations alone are not worth a file.
    if ! ${runner[@]+"${runner[@]}"} "$build/fuzz/${parser}_fuzz" -set_cover_merge=1 \
      -use_counters=0 -max_len=$bytes_max "$committed" "$found/$parser" \
      >"$build/merge-$parser.log" 2>&1; then
      echo "$parser: not merged; the whole output is in $build/merge-$parser.log" >&2
      exit 1
    fi
    echo "$parser: $(($(find "$committed" -type f | wc -l) - before)) new inputs in $committed"
  done
  exit 0
fi
echo "Seed $seed; LAVA_FUZZ_SEED chooses another."

# one PARSER: prints its COUNT line on stdout, and failures on stderr.
one() {
  local parser=$1 place=$work/$1
  local log=$place/log
  rm -rf "$place"
  mkdir -p "$place/broken" "$found/$parser"
  if ${runner[@]+"${runner[@]}"} "$build/fuzz/${parser}_fuzz" -runs="$runs" -seed="$seed" \
    -max_len=$bytes_max -timeout=10 -rss_limit_mb=512 -malloc_limit_mb=64 \
    -artifact_prefix="$place/broken/" -print_final_stats=1 \
    "$found/$parser" "native/fuzz/corpus/$parser" >"$log" 2>&1; then
    echo "COUNT $(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
      "fuzzer executions of $parser"
    return 0
  fi
  {
    grep -E -m 3 'fuzzer: |ERROR: |runtime error' "$log"
    echo "$parser: the whole output is in $log"
    find "$place/broken" -type f | while read -r input; do
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
