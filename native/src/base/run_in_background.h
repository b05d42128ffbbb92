// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

namespace lava {

/// Queues a job for a background thread. Runs the job in the caller's thread if the process has
/// none. Threads:    any. The caller holds no mutex that the job takes. Errors:     throws
/// std::bad_alloc; the job is then not queued.
using RunInBackground = std::function<void(std::function<void()>)>;

}  // namespace lava
