#include <algorithm>
#include <utility>

#include "log/lava_log_impl.h"

namespace lava::log {
namespace {

// What stands near each other is read in one piece, with what is between.
constexpr uint64_t kReadBytes = 256 << 10;
constexpr uint64_t kReadGap = 16 << 10;

class CursorImpl : public LavaLog::Cursor {
 public:
  CursorImpl(LavaLogImpl* log, LogId id) : log_(log), id_(id) {}

  void Seek(uint64_t lsn) override {
    found_.clear();
    at_ = 0;
    from_ = lsn;
    done_ = false;
  }

  Status Next(uint64_t* lsn, Slice* data) override {
    while (at_ == found_.size()) {
      if (done_) return Status::NotFound();
      LAVA_RETURN_IF_ERROR(Fill());
    }
    const LavaLogImpl::Found& found = found_[at_];
    const uint64_t end = found.entry.offset + RecordBytes(id_, found.entry);
    if (bytes_of_ != found.file || found.entry.offset < bytes_at_ ||
        end > bytes_at_ + bytes_.size()) {
      LAVA_RETURN_IF_ERROR(ReadFrom(at_));
    }
    LAVA_RETURN_IF_ERROR(found.file->TakeRecord(id_, found.entry, bytes_, bytes_at_, data));
    *lsn = found.entry.lsn;
    ++at_;
    return Status::OK();
  }

 private:
  Status Fill() {
    found_.clear();
    at_ = 0;
    uint64_t until = 0;
    LAVA_RETURN_IF_ERROR(log_->EntriesFrom(id_, from_, &found_, &until));
    done_ = until == UINT64_MAX;
    from_ = until + 1;
    return Status::OK();
  }

  Status ReadFrom(size_t first) {
    const LavaLogImpl::Found& found = found_[first];
    const uint64_t from = found.entry.offset;
    uint64_t to = from + RecordBytes(id_, found.entry);
    for (size_t i = first + 1; i < found_.size() && found_[i].file == found.file; ++i) {
      const Entry& next = found_[i].entry;
      const uint64_t end = next.offset + RecordBytes(id_, next);
      if (next.offset < from || next.offset > to + kReadGap || end - from > kReadBytes) break;
      to = std::max(to, end);
    }
    bytes_of_ = nullptr;
    bytes_.resize(to - from);
    LAVA_RETURN_IF_ERROR(found.file->ReadBytes(from, bytes_.size(), bytes_.data()));
    bytes_of_ = found.file;
    bytes_at_ = from;
    return Status::OK();
  }

  LavaLogImpl* const log_;
  const LogId id_;
  uint64_t from_ = 0;
  bool done_ = false;
  std::vector<LavaLogImpl::Found> found_;
  size_t at_ = 0;
  std::string bytes_;
  uint64_t bytes_at_ = 0;
  std::shared_ptr<DataFile> bytes_of_;  // kept, so that no later file stands at its address
};

}  // namespace

std::unique_ptr<LavaLog::Cursor> LavaLogImpl::NewCursor(LogId id) {
  return std::make_unique<CursorImpl>(this, id);
}

Status LavaLogImpl::EntriesFrom(LogId id, uint64_t lsn, std::vector<Found>* found,
                                uint64_t* until) {
  std::vector<std::pair<Pack, std::shared_ptr<DataFile>>> packs;
  {
    Lock lock(mutex_);
    const LogicalLog* const log = index_.Find(id);
    if (log == nullptr) {
      return Status::NotFound(Describe("scan from", id, lsn) + ": there is no such log");
    }
    lsn = std::max(lsn, log->trimmed_to());
    *until = UINT64_MAX;
    for (const Pack& pack : log->packs()) {
      if (pack.last >= lsn) *until = std::min(*until, pack.last);
    }
    for (const Pack& pack : log->PacksWith(lsn, *until)) {
      packs.emplace_back(pack, index_.FindFile(pack.file)->file);
    }
    for (const Entry& entry : log->direct()) {
      if (entry.lsn < lsn) continue;
      if (entry.lsn > *until) break;
      found->push_back({entry, index_.FindFile(index_.active())->file});
    }
  }
  std::vector<Entry> entries;
  for (const auto& [pack, file] : packs) {
    LAVA_RETURN_IF_ERROR(file->ReadPack(pack, id, &entries));
    for (const Entry& entry : entries) {
      if (entry.lsn >= lsn && entry.lsn <= *until) found->push_back({entry, file});
    }
  }
  // A record that was collected may stand in two files until the older one goes.
  std::stable_sort(found->begin(), found->end(),
                   [](const Found& a, const Found& b) { return a.entry.lsn < b.entry.lsn; });
  found->erase(
      std::unique(found->begin(), found->end(),
                  [](const Found& a, const Found& b) { return a.entry.lsn == b.entry.lsn; }),
      found->end());
  return Status::OK();
}

}  // namespace lava::log
