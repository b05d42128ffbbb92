#include "base/guarded.h"
#include "db/db_impl.h"

namespace lava {

// Jobs and checkpoints look for such files at their end. A read that was the last to hold a file
// leaves the file to them, because a read must not wait for the disk. Called where nothing may
// fail: the next call removes what there is no memory for now.
void DBImpl::RemoveObsoleteFiles() {
  ObsoleteFiles::Unused unused = tree_->versions.obsolete_files().TakeUnused(), held;
  if (unused.files.empty() && unused.segments.empty()) return;
  const auto keep = [this](auto* from, auto* to) {
    for (auto at = from->begin(); at != from->end();) {
      const auto candidate = at++;
      if (changelog_.Holds(candidate->first)) to->insert(from->extract(candidate));
    }
  };
  keep(&unused.files, &held.files);
  keep(&unused.segments, &held.segments);
  if (!unused.files.empty()) {
    MutexLock state(tree_->mutex());
    (void)Tried([this] {
      tree_->mutex()->AssertHeld();
      tree_->ReportJobs();
    });
  }
  tree_->versions.obsolete_files().GiveBack(std::move(held));
  const bool removed = Tried([&] {
    const auto remove = [this](auto* files) {
      for (; !files->empty(); files->erase(files->begin())) RemoveFile(files->begin()->first);
    };
    remove(&unused.files);
    remove(&unused.segments);
  });
  if (!removed) tree_->versions.obsolete_files().GiveBack(std::move(unused));
}

void DBImpl::TellDeleted(const std::string& name, const Status& status) {
  instance_->notifier->Queue(&EventListener::OnFileDeleted, [&] {
    FileDeletedInfo info;
    info.file = name;
    info.status = status;
    return info;
  });
}

// The next open removes the file if this fails.
void DBImpl::RemoveFile(const std::string& name) {
  const Status status = instance_->files->Remove(instance_->path + "/" + name);
  TellDeleted(name, status);
  const bool failed = !status.ok() && !status.IsNotFound();
  if (failed) Counters::Add(&instance_->counters.background_errors, 1);
  faults_.Note(BackgroundFaults::Work::kRemoval, failed ? status : Status::OK());
}

}  // namespace lava
