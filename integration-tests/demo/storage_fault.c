// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Preloaded into a process, this library makes storage slow or full for the process, in chosen
// directories and while it runs. Without a fault a call costs a reading of the clock.
//
//   LAVA_FAULT_TARGETS  up to MAX_TARGETS of "name=directory", separated by colons; the
//                       directories are absolute and free of links
//   LAVA_FAULT_CONTROL  a directory; while it contains a file "<name>", the file's content is the
//                       fault of that target:
//     full       writes and creations fail with ENOSPC
//     short      half of each write succeeds, then ENOSPC, as if space ran out during the write
//     slow <ms>  each write, creation and sync takes this much longer
//                       Its file "counts" has the numbers of calls that met a fault: 64-bit
//                       numbers, [target][kind][call] in the order of the enums below.
//
// Affects only files whose path, as seen by the kernel, is under a target. Real calls are made as
// system calls, which need no symbol lookup. Therefore the first call may come from a signal
// handler, or before main.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TARGETS = 4, LOOK_EVERY_MS = 20, SLOW_MS_MAX = 50 };
enum kind { FULL, SLOW, SHORT, KINDS, NONE = KINDS };
enum call { WRITE, CREATE, SYNC, CALLS };

struct target {
  char directory[PATH_MAX];
  size_t length;
  char control[PATH_MAX];
  atomic_uint fault;  // kind, and milliseconds above KIND_BITS
};
enum { KIND_BITS = 2, KIND_MASK = (1 << KIND_BITS) - 1 };

static struct target targets[MAX_TARGETS];
static int target_count;  // 0 until the setup is complete, and always if no faults are configured
static _Atomic(uint64_t)* counts;
static atomic_llong next_look_ms;
// The descriptor that received half of this thread's last write.
static __thread int halved = -1;

__attribute__((constructor)) static void set_up(void) {
  const char* control = getenv("LAVA_FAULT_CONTROL");
  const char* wished = getenv("LAVA_FAULT_TARGETS");
  if (control == NULL || wished == NULL) return;
  int count = 0;
  while (*wished != '\0' && count < MAX_TARGETS) {
    struct target* t = &targets[count++];
    const char* equals = strchr(wished, '=');
    if (equals == NULL) abort();
    const char* directory = equals + 1;
    t->length = strcspn(directory, ":");
    snprintf(t->directory, sizeof t->directory, "%.*s", (int)t->length, directory);
    snprintf(t->control, sizeof t->control, "%s/%.*s", control, (int)(equals - wished), wished);
    t->fault = NONE;
    wished = directory + t->length;
    if (*wished == ':') ++wished;
  }
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/counts", control);
  const size_t bytes = sizeof(uint64_t) * MAX_TARGETS * KINDS * CALLS;
  const int descriptor =
      (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // Shared, so that the counts of a killed process are kept.
  void* map = MAP_FAILED;
  if (descriptor >= 0 && ftruncate(descriptor, (off_t)bytes) == 0) {
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (descriptor >= 0) close(descriptor);
  if (map == MAP_FAILED) {
    perror(path);
    abort();  // A test must not pass without its faults.
  }
  counts = map;
  target_count = count;
}

static unsigned read_control(const struct target* t) {
  char text[16] = "";
  const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, t->control, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return NONE;
  const ssize_t n = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (n <= 0) return NONE;
  if (strncmp(text, "full", 4) == 0) return FULL;
  if (strncmp(text, "short", 5) == 0) return SHORT;
  if (strncmp(text, "slow ", 5) == 0) {
    const int ms = atoi(text + 5);
    return SLOW | (unsigned)(ms < 1 ? 1 : ms > SLOW_MS_MAX ? SLOW_MS_MAX : ms) << KIND_BITS;
  }
  return NONE;
}

// Whether any fault is on, according to control files read at most LOOK_EVERY_MS ago.
static bool any_fault(void) {
  if (target_count == 0) return false;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const long long now_ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
  long long due = atomic_load_explicit(&next_look_ms, memory_order_relaxed);
  const bool looks =
      now_ms >= due && atomic_compare_exchange_strong(&next_look_ms, &due, now_ms + LOOK_EVERY_MS);
  bool any = false;
  for (int i = 0; i < target_count; ++i) {
    if (looks) atomic_store(&targets[i].fault, read_control(&targets[i]));
    any = any || atomic_load_explicit(&targets[i].fault, memory_order_relaxed) != NONE;
  }
  return any;
}

// Returns the fault that a call meets at this path, and counts it. Delays slow calls.
static enum kind meet(const char* path, enum call call) {
  for (int i = 0; i < target_count; ++i) {
    const struct target* t = &targets[i];
    if (strncmp(path, t->directory, t->length) != 0 ||
        (path[t->length] != '/' && path[t->length] != '\0')) {
      continue;
    }
    const unsigned fault = atomic_load(&targets[i].fault);
    const enum kind kind = fault & KIND_MASK;
    // A sync needs no more space, and an empty file almost none.
    if (kind == NONE || (kind == FULL && call == SYNC) || (kind == SHORT && call != WRITE)) {
      return NONE;
    }
    atomic_fetch_add(&counts[(i * KINDS + kind) * CALLS + call], 1);
    if (kind == SLOW) {
      const struct timespec pause = {0, (long)(fault >> KIND_BITS) * 1000000};
      nanosleep(&pause, NULL);
    }
    return kind;
  }
  return NONE;
}

// The fault at this descriptor's path according to the kernel.
static enum kind meet_path_of(int descriptor, enum call call) {
  char link[32];
  char path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return NONE;
  path[n] = '\0';
  return meet(path, call);
}

static enum kind meet_descriptor(int descriptor, enum call call) {
  const int before = errno;
  const enum kind kind = any_fault() ? meet_path_of(descriptor, call) : NONE;
  errno = before;
  return kind;
}

// Whether there is no space for this many bytes; may reduce the write to a half.
static bool no_space(int descriptor, size_t* size) {
  const enum kind kind = meet_descriptor(descriptor, WRITE);
  if (kind != FULL && kind != SHORT) return false;
  const bool half = kind == SHORT && halved != descriptor && *size > 1;
  halved = half ? descriptor : -1;
  *size /= 2;
  if (!half) errno = ENOSPC;
  return !half;
}

static enum kind meet_parent(int directory, const char* path, enum call call) {
  char parent[PATH_MAX];
  snprintf(parent, sizeof parent, "%s", path);
  char* slash = strrchr(parent, '/');
  if (slash == NULL) {
    strcpy(parent, ".");
  } else {
    slash[slash == parent] = '\0';
  }
  const int descriptor =
      (int)syscall(SYS_openat, directory, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return NONE;
  const enum kind kind = meet_path_of(descriptor, call);
  close(descriptor);
  return kind;
}

// Whether there is no space to create a file at this path. Existing files need none.
static bool no_space_at(int directory, const char* path) {
  const int before = errno;
  struct stat st;
  const bool refused = any_fault() && path != NULL &&
                       fstatat(directory, path, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT &&
                       meet_parent(directory, path, CREATE) == FULL;
  errno = refused ? ENOSPC : before;
  return refused;
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (no_space(descriptor, &size)) return -1;
  return syscall(SYS_write, descriptor, bytes, size);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  if (no_space(descriptor, &size)) return -1;
  return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return pwrite64(descriptor, bytes, size, offset);
}

ssize_t writev(int descriptor, const struct iovec* pieces, int count) {
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += pieces[i].iov_len;
  const size_t whole = size;
  if (no_space(descriptor, &size)) return -1;
  if (size == whole) return syscall(SYS_writev, descriptor, pieces, count);
  // The part of the half that is in the first non-empty piece.
  while (pieces->iov_len == 0) ++pieces;
  if (size > pieces->iov_len) size = pieces->iov_len;
  return syscall(SYS_write, descriptor, pieces->iov_base, size);
}

int fsync(int descriptor) {
  meet_descriptor(descriptor, SYNC);
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  meet_descriptor(descriptor, SYNC);
  return (int)syscall(SYS_fdatasync, descriptor);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
  size_t all = 1;  // do not write a half
  if (no_space(descriptor, &all)) return -1;
  return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  return fallocate64(descriptor, mode, offset, length);
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
  const int before = errno;
  const int error = fallocate64(descriptor, 0, offset, length) == 0 ? 0 : errno;
  errno = before;
  return error;
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
  return posix_fallocate64(descriptor, offset, length);
}

static int open_at(int directory, const char* path, int flags, va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = makes ? va_arg(arguments, mode_t) : 0;
  if ((flags & O_CREAT) != 0 && no_space_at(directory, path)) return -1;
  return (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define DEFINE_OPEN(name)                                     \
  int name(const char* path, int flags, ...) {                \
    va_list arguments;                                        \
    va_start(arguments, flags);                               \
    const int rc = open_at(AT_FDCWD, path, flags, arguments); \
    va_end(arguments);                                        \
    return rc;                                                \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name)                                    \
  int name(int directory, const char* path, int flags, ...) {  \
    va_list arguments;                                         \
    va_start(arguments, flags);                                \
    const int rc = open_at(directory, path, flags, arguments); \
    va_end(arguments);                                         \
    return rc;                                                 \
  }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

int creat(const char* path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) { return creat(path, mode); }

int mkdir(const char* path, mode_t mode) {
  if (no_space_at(AT_FDCWD, path)) return -1;
  return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int link(const char* from, const char* to) {
  if (no_space_at(AT_FDCWD, to)) return -1;
  return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
