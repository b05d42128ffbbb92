// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "fs/file_system.h"
#include "fs/read_batch.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "log/format.h"
#include "log/index.h"
#include "log/lava_log.h"
#include "log/lava_log_impl.h"
#include "log/physical_log.h"

namespace lava::log {
namespace {

// Records are read ahead up to this many bytes, in parallel. Small gaps between them are read
// along.
constexpr uint64_t kReadBytes = 256 << 10;
constexpr uint64_t kReadGap = 4 << 10;

class CursorImpl : public LavaLog::Cursor {
 public:
  CursorImpl(LavaLogImpl* log, LogId id) : log_(log), id_(id) {}

  void Seek(uint64_t lsn) override {
    Forget();
    from_ = lsn;
    done_ = false;
    wanted_ = kFirstReadBytes;
  }

  Status Next(uint64_t* lsn, Slice* data) override {
    while (at_ == found_.size()) {
      if (done_) return Status::NotFound();
      LAVA_RETURN_IF_ERROR(Fill());
    }
    if (at_ == read_to_) LAVA_RETURN_IF_ERROR(ReadAhead());
    while (at_ >= pieces_[piece_].end) ++piece_;
    const Piece& piece = pieces_[piece_];
    LAVA_RETURN_IF_ERROR(DataFile::Present(batch_.status(piece_)));
    const LavaLogImpl::Found& found = found_[at_];
    LAVA_RETURN_IF_ERROR(
        found.file->TakeRecord(id_, found.entry, batch_.bytes(piece_), piece.from, data));
    *lsn = found.entry.lsn;
    ++at_;
    return Status::OK();
  }

 private:
  // The first read is small, so that a short scan reads little beyond its end.
  static constexpr uint64_t kFirstReadBytes = 16 << 10;

  struct Piece {
    uint64_t from = 0;
    size_t end = 0;  // the first entry after the piece
  };

  void Forget() {
    batch_.Clear();
    pieces_.clear();
    found_.clear();
    open_.clear();
    at_ = read_to_ = piece_ = 0;
  }

  Status Fill() {
    Forget();
    uint64_t until = 0;
    LAVA_RETURN_IF_ERROR(log_->EntriesFrom(id_, from_, &found_, &until));
    done_ = until == UINT64_MAX;
    from_ = until + 1;
    return Status::OK();
  }

  Status ReadAhead() {
    batch_.Clear();
    pieces_.clear();
    open_.clear();
    piece_ = 0;
    uint64_t bytes = 0;
    size_t next = at_;
    while (next < found_.size() && bytes < wanted_) {
      const LavaLogImpl::Found& first = found_[next];
      const uint64_t from = first.entry.offset;
      uint64_t to = from + RecordBytes(id_, first.entry);
      for (++next; next < found_.size() && found_[next].file == first.file; ++next) {
        const IndexEntry& entry = found_[next].entry;
        const uint64_t end = entry.offset + RecordBytes(id_, entry);
        if (entry.offset < from || entry.offset > to + kReadGap || end - from > kReadBytes) break;
        to = std::max(to, end);
      }
      LAVA_ASSIGN_OR_RETURN(std::shared_ptr<fs::RandomFile> file, first.file->OpenUpTo(to));
      batch_.Add(*file, from, to - from);
      if (open_.empty() || open_.back() != file) open_.push_back(std::move(file));
      pieces_.push_back({.from = from, .end = next});
      bytes += to - from;
    }
    read_to_ = next;
    wanted_ = std::min(wanted_ * 2, kReadBytes);
    batch_.Run();
    return Status::OK();
  }

  LavaLogImpl* const log_;
  const LogId id_;
  uint64_t from_ = 0;
  bool done_ = false;
  uint64_t wanted_ = kFirstReadBytes;
  std::vector<LavaLogImpl::Found> found_;
  size_t at_ = 0;
  size_t read_to_ = 0;  // entries before this one are in pieces
  size_t piece_ = 0;    // the piece of the last record
  std::vector<Piece> pieces_;
  std::vector<std::shared_ptr<fs::RandomFile>> open_;  // the files of the batch
  fs::ReadBatch batch_;
};

}  // namespace

std::unique_ptr<LavaLog::Cursor> LavaLogImpl::NewCursor(LogId id) {
  return std::make_unique<CursorImpl>(this, id);
}

Status LavaLogImpl::EntriesFrom(LogId id, uint64_t lsn, std::vector<Found>* found,
                                uint64_t* until) {
  std::vector<std::pair<Pack, std::shared_ptr<DataFile>>> packs;
  {
    MutexLock lock(&mutex_);
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
    for (const IndexEntry& entry : log->direct()) {
      if (entry.lsn < lsn) continue;
      if (entry.lsn > *until) break;
      found->push_back({entry, index_.FindFile(index_.active())->file});
    }
  }
  std::vector<IndexEntry> entries;
  for (const auto& [pack, file] : packs) {
    LAVA_RETURN_IF_ERROR(file->ReadPack(pack, id, &entries));
    for (const IndexEntry& entry : entries) {
      if (entry.lsn >= lsn && entry.lsn <= *until) found->push_back({entry, file});
    }
  }
  // A collected record may be in two files until the older one is removed.
  std::stable_sort(found->begin(), found->end(),
                   [](const Found& a, const Found& b) { return a.entry.lsn < b.entry.lsn; });
  found->erase(
      std::unique(found->begin(), found->end(),
                  [](const Found& a, const Found& b) { return a.entry.lsn == b.entry.lsn; }),
      found->end());
  return Status::OK();
}

}  // namespace lava::log
