// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Clang's thread safety analysis checks these at compile time (-Wthread-safety); other compilers
/// skip them. A lock is a capability: a thread acquires, holds and releases it.
#if defined(__clang__)
#define LAVA_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define LAVA_THREAD_ANNOTATION(attribute)
#endif

/// The class is a lock; the name is for the compiler's messages.
#define LAVA_CAPABILITY(name) LAVA_THREAD_ANNOTATION(capability(name))
/// The class holds a lock from its construction to its destruction.
#define LAVA_SCOPED_CAPABILITY LAVA_THREAD_ANNOTATION(scoped_lockable)
/// The member is read and written by threads that hold the lock.
#define LAVA_GUARDED_BY(lock) LAVA_THREAD_ANNOTATION(guarded_by(lock))
/// The same for the object that the member points to.
#define LAVA_PT_GUARDED_BY(lock) LAVA_THREAD_ANNOTATION(pt_guarded_by(lock))
/// A thread that takes both locks takes this one before (or after) the other.
#define LAVA_ACQUIRED_BEFORE(...) LAVA_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define LAVA_ACQUIRED_AFTER(...) LAVA_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
/// The caller holds the locks, and still holds them when the function returns.
#define LAVA_REQUIRES(...) LAVA_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define LAVA_REQUIRES_SHARED(...) LAVA_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
/// The caller does not hold the locks: the function takes them itself.
#define LAVA_EXCLUDES(...) LAVA_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
/// The function takes or releases the locks.
#define LAVA_ACQUIRE(...) LAVA_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define LAVA_ACQUIRE_SHARED(...) LAVA_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define LAVA_TRY_ACQUIRE(...) LAVA_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define LAVA_RELEASE(...) LAVA_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define LAVA_RELEASE_SHARED(...) LAVA_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
/// The function checks at run time that the caller holds the lock.
#define LAVA_ASSERT_CAPABILITY(lock) LAVA_THREAD_ANNOTATION(assert_capability(lock))
#define LAVA_ASSERT_SHARED_CAPABILITY(lock) LAVA_THREAD_ANNOTATION(assert_shared_capability(lock))
/// The function returns the lock.
#define LAVA_RETURN_CAPABILITY(lock) LAVA_THREAD_ANNOTATION(lock_returned(lock))
/// The analysis skips the function. A comment beside each use says why.
#define LAVA_NO_THREAD_SAFETY_ANALYSIS LAVA_THREAD_ANNOTATION(no_thread_safety_analysis)
