# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

# Shared by the commands in this folder, which source it. Nothing here installs or builds.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

jobs=$(nproc 2>/dev/null || echo 2)

# Use Java 17, even if another version is the default.
if [ -z "${JAVA_HOME:-}" ] || [ ! -x "$JAVA_HOME/bin/javac" ]; then
  for home in /usr/lib/jvm/java-17-openjdk-*; do
    if [ -x "$home/bin/javac" ]; then
      export JAVA_HOME=$home
      break
    fi
  done
fi
if [ -n "${JAVA_HOME:-}" ]; then
  PATH=$JAVA_HOME/bin:$PATH
fi

# Java takes the encoding of file names from the locale, which is ASCII in a new container.
export LC_ALL=C.UTF-8

say() { printf '%s\n' "$*"; }
die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The engine is built in several places with the same flags; all but the first build use ccache. In
# depend mode ccache finds the included files without a separate run of the preprocessor.
export CCACHE_NOHASHDIR=true CCACHE_DEPEND=true

# Runs Maven without download messages, with as many native jobs as there are cores.
maven() { mvn -B -ntp "-Dnative.jobs=$jobs" "$@"; }

# Packages the bindings, the plugin and the given module, without any tests.
pack() {
  local log=$root/target/pack.log
  mkdir -p "$root/target"
  if ! maven -q package -DskipTests -Dmaven.test.skip -pl "jni,flink-statebackend-lava,$1" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "The build failed; its whole output is in $log"
  fi
}

# tool NAME DIRECTORY ARGUMENT...: builds one of the engine's tools and executes it in DIRECTORY, to
# which paths in the arguments are relative.
tool() {
  local name=$1 from=$2 build=$root/native/target/release log=$root/target/$1-build.log
  shift 2
  mkdir -p "$root/target"
  if ! { cmake -S native -B "$build" -G Ninja -Wno-dev &&
    cmake --build "$build" -j "$jobs" --target "$name"; } >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "The build failed; its whole output is in $log"
  fi
  cd "$from"
  exec "$build/$name" "$@"
}

# Options that Flink's and JMH's reflection needs on Java 17.
java_opens=()
for package in lang io net nio time util util.concurrent util.concurrent.atomic; do
  java_opens+=("--add-opens=java.base/java.$package=ALL-UNNAMED")
done
