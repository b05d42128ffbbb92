#pragma once

#include <functional>

namespace lava {

/// Queues a job for a background thread.
/// Threads:    any.
/// Errors:     throws std::bad_alloc; the job is then not queued.
using RunInBackground = std::function<void(std::function<void()>)>;

}  // namespace lava
