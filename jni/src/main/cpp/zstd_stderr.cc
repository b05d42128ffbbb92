// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

// zstd's dictionary training can print to stderr, which this library never requests. On some
// systems the static libzstd is not built for shared libraries and accesses stderr in a way that
// only works within one library. Therefore the linker redirects all uses in this library to here
// (--wrap).
extern "C" {
extern FILE* __real_stderr;
FILE* __wrap_stderr = __real_stderr;
}
