#include "base/guarded.h"
#include "db/db_impl.h"

// What an instance tells BackgroundFaults, and answers from it.
namespace lava {

// Called without a mutex, because FindDamaged() looks at every file.
DamageSearch DBImpl::SearchDamage(const Status& status) const noexcept {
  DamageSearch search;
  if (!status.IsCorruption()) return search;
  search.finished = Tried([&] {
    std::shared_ptr<const Version> version;
    {
      MutexLock state(tree_->mutex());
      version = tree_->version();
    }
    search.found = FindDamaged(*version, tables_, status.message());
  });
  return search;
}

Status DBImpl::DamageIn(const Version& version) const {
  return faults_.DamageOf(version).WithContext("checkpoint of " + instance_->path);
}

std::vector<BackgroundEvent> DBImpl::TakeBackgroundEvents() { return faults_.TakeEvents(); }

}  // namespace lava
