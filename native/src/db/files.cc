#include "db/db_impl.h"

namespace lava {

// A file goes when no version, view or job holds its StoredFile: there is one object per name, so
// that is when nothing names it any more. Jobs look for such files at their end, and checkpoints: a
// read that was the last to hold a file leaves it to them, since it must not wait for the disk.
void DBImpl::RemoveObsoleteFiles() {
  std::vector<std::string> dead;
  {
    std::lock_guard<std::mutex> state(state_mutex_);
    // Views from before the flush read a segment that has become a value file as such.
    std::erase_if(kept_segments_, [](const auto& segment) { return segment.second.expired(); });
    const auto take = [this, &dead](const auto& candidate) {
      // Asked once: it may expire between two questions, and would be forgotten.
      const bool expired = candidate.second.expired() &&
                           !kept_segments_.contains(candidate.first) && !IsHeld(candidate.first);
      if (expired) dead.push_back(candidate.first);
      return expired;
    };
    std::erase_if(obsolete_, take);
    if (!dead.empty()) ReportJobs();
    std::erase_if(dead_segments_, take);
  }
  for (const std::string& name : dead) NoteRemoval(fs_->Remove(path_ + "/" + name));
}

}  // namespace lava
