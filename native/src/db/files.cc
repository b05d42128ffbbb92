#include "base/guarded.h"
#include "db/db_impl.h"

namespace lava {

// A file goes when no version, view or job holds its StoredFile: there is one object per name, so
// that is when nothing names it any more. Jobs look for such files at their end, and checkpoints: a
// read that was the last to hold a file leaves it to them, since it must not wait for the disk.
// Called where nothing may fail: what there is no memory for, the next call removes.
void DBImpl::RemoveObsoleteFiles() {
  FilesByName dead;
  SegmentsByName dead_segments;
  {
    MutexLock state(&state_mutex_);
    // Views from before the flush read a segment that has become a value file as such.
    std::erase_if(kept_segments_, [](const auto& segment) { return segment.second.expired(); });
    const auto take = [this](auto* from, auto* to) LAVA_REQUIRES(state_mutex_) {
      for (auto at = from->begin(); at != from->end();) {
        // Asked once: it may expire between two questions, and would be forgotten.
        const bool expired =
            at->second.expired() && !kept_segments_.contains(at->first) && !IsHeld(at->first);
        const auto candidate = at++;
        if (expired) to->insert(from->extract(candidate));
      }
    };
    take(&obsolete_, &dead);
    if (!dead.empty())
      (void)Tried([this] {
        state_mutex_.AssertHeld();
        ReportJobs();
      });
    take(&dead_segments_, &dead_segments);
  }
  const bool removed = Tried([&] {
    const auto remove = [this](auto* files) {
      for (; !files->empty(); files->erase(files->begin()))
        NoteRemoval(fs_->Remove(path_ + "/" + files->begin()->first));
    };
    remove(&dead);
    remove(&dead_segments);
  });
  if (removed) return;
  MutexLock state(&state_mutex_);
  obsolete_.merge(dead);
  dead_segments_.merge(dead_segments);
}

}  // namespace lava
