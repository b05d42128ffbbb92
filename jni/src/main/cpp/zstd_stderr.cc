#include <cstdio>

// zstd's training can print to stderr, which this library never asks for. Some systems' static
// libzstd is not made for shared libraries and reaches stderr in a way that only works within one
// library, so the linker leads all of this library's uses here (--wrap).
extern "C" {
extern FILE* __real_stderr;
FILE* __wrap_stderr = __real_stderr;
}
