// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/changelog_log.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_id.h"
#include "base/mutex.h"
#include "fs/file_system.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/changelog_entry.h"
#include "value_log/changelog_segment.h"

namespace lava {
namespace {

// The id of the value file of this name; none if the name is no value file's.
std::optional<FileId> ValueFileIdOf(std::string_view name, const std::vector<Origin>& origins) {
  for (const Origin& origin : origins) {
    const std::string prefix = origin.ToString() + "-";
    if (!name.starts_with(prefix)) continue;
    FileId id{origin, 0};
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), id.number);
    if (id.ValueFileName() == name) return id;
  }
  return std::nullopt;
}

}  // namespace

Status ChangelogLog::Open(const Origin& origin, const std::vector<Origin>& origins,
                          uint64_t released) {
  origin_ = origin;
  if (wal_ == WalMode::kNone) return Status::OK();
  HeldSegments found;
  LAVA_RETURN_IF_ERROR(FindSegments(origins, &found));
  // The files of released segments are there for the tree only.
  while (found.size() > 1 && std::next(found.begin())->first <= released + 1)
    found.erase(found.begin());
  Walk walk{released + 1, released};
  LAVA_RETURN_IF_ERROR(WalkSegments(found, &walk, [](uint64_t, Slice) { return Status::OK(); }));
  if (walk.seen == released) found.clear();
  MutexLock lock(&mutex_);
  for (auto& [first, segment] : found) Hold(first, std::move(segment));
  released_ = released;
  next_ = walk.seen + 1;
  // Entries after a loss are not shown, and the next opening must not take them for entries before
  // the new ones: the first new entry says that it follows the loss.
  skipped_ = next_ - walk.end;
  return Status::OK();
}

Status ChangelogLog::FindSegments(const std::vector<Origin>& origins,
                                  HeldSegments* segments) const {
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system_->List(directory_));
  for (const std::string& name : names) {
    const std::optional<FileId> id = ValueFileIdOf(name, origins);
    if (id) LAVA_RETURN_IF_ERROR(FindFirstEntry(*id, segments));
  }
  return Status::OK();
}

// Adds the file to *segments if it has entries and its first one is whole.
Status ChangelogLog::FindFirstEntry(const FileId& id, HeldSegments* segments) const {
  Result<std::unique_ptr<fs::RandomFile>> file =
      file_system_->OpenRandom(PathOf(id.ValueFileName()));
  if (!file.ok() && file.status().IsNotFound()) return Status::OK();
  LAVA_RETURN_IF_ERROR(file.status());
  vsst::ChangelogEntryFileReader reader(file->get(), (*file)->size());
  LAVA_ASSIGN_OR_RETURN(const bool holds_entries, reader.HoldsEntries());
  if (!holds_entries) return Status::OK();
  std::string entry;
  const Status status = reader.Next(&entry);
  if (!status.ok()) return JudgeEnd(reader, status);
  (*segments)[reader.sequence()] = {id, nullptr, reader.sequence() - reader.skipped()};
  return Status::OK();
}

// A segment ends with an entry that cannot be read. That is no error if a crash may have torn the
// entry, because it was not acknowledged then.
Status ChangelogLog::JudgeEnd(const vsst::ChangelogEntryFileReader& reader,
                              const Status& unsound) const {
  if (!unsound.IsCorruption()) return unsound;
  // A power cut may take anything that was not synced.
  if (wal_ != WalMode::kWalSync) return Status::OK();
  LAVA_ASSIGN_OR_RETURN(const bool damaged, reader.AnySoundBehind());
  return damaged ? unsound : Status::OK();
}

// Reads the segments of earlier openings in order. After a loss, which only unsynced entries may
// have, entries are read for their sequences but not passed on. walk->end: before the call the
// first sequence that must be there.
Status ChangelogLog::WalkSegments(const HeldSegments& segments, Walk* walk,
                                  const EntryFunction& entry) const {
  const bool synced = wal_ == WalMode::kWalSync;
  if (!segments.empty()) walk->end = std::min(walk->end, segments.begin()->second.follows);
  for (auto at = segments.begin(); at != segments.end(); ++at) {
    const auto& [first, segment] = *at;
    const std::string path = PathOf(segment.id.ValueFileName());
    const bool after_loss = segment.follows > walk->end;
    if (after_loss && synced)
      return Status::Corruption(path + " begins with entry " + std::to_string(first) +
                                ", those from " + std::to_string(walk->end) + " on are missing");
    const auto next = std::next(at);
    const uint64_t limit = next == segments.end() ? UINT64_MAX : next->second.follows;
    LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<fs::RandomFile> file,
                          file_system_->OpenRandom(path));
    vsst::ChangelogEntryFileReader reader(file.get(), file->size());
    std::string bytes;
    uint64_t expected = segment.follows;
    Status unsound;
    while (!reader.done() && expected < limit) {
      unsound = reader.Next(&bytes);
      if (!unsound.ok() || reader.sequence() - reader.skipped() != expected) break;
      expected = reader.sequence() + 1;
      walk->seen = std::max(walk->seen, reader.sequence());
      if (!after_loss) LAVA_RETURN_IF_ERROR(entry(reader.sequence(), bytes));
    }
    if (!after_loss) walk->end = expected;
    // All entries before the next segment must be there, unless a power cut may have taken some.
    if (synced && limit != UINT64_MAX && expected < limit)
      return Status::Corruption(path + " ends with entry " + std::to_string(expected - 1) +
                                ", those up to " + std::to_string(limit - 1) + " are missing");
    if (!unsound.ok() && limit == UINT64_MAX) LAVA_RETURN_IF_ERROR(JudgeEnd(reader, unsound));
  }
  return Status::OK();
}

// All or nothing: without memory for both, neither changes.
void ChangelogLog::Hold(uint64_t first, HeldSegment segment) {
  const auto name = names_.insert(segment.id.ValueFileName()).first;
  try {
    segments_.insert_or_assign(first, std::move(segment));
  } catch (...) {
    names_.erase(name);
    throw;
  }
}

void ChangelogLog::BeginSegment(const std::shared_ptr<ChangelogSegment>& segment) {
  LAVA_DCHECK(segment != nullptr && segment->id().number != 0);
  // Held and current in one step: otherwise FindReleased() could take the segment for one that has
  // ended without entries.
  MutexLock lock(&mutex_);
  Hold(next_, {segment->id(), segment, next_ - skipped_});
  current_ = segment->id().number;
}

void ChangelogLog::EndSegment() {
  MutexLock lock(&mutex_);
  current_ = 0;
}

ChangelogLog::Sequence ChangelogLog::TakeSequence() {
  MutexLock lock(&mutex_);
  return {next_++, skipped_++};
}

void ChangelogLog::Logged() {
  MutexLock lock(&mutex_);
  LAVA_DCHECK(skipped_ > 0);  // the entry's own sequence counts until now
  skipped_ = 0;
}

uint64_t ChangelogLog::last_sequence() const {
  MutexLock lock(&mutex_);
  return next_ - 1;
}

bool ChangelogLog::Holds(const std::string& name) const {
  MutexLock lock(&mutex_);
  return names_.contains(name);
}

Status ChangelogLog::Finish(uint64_t number) {
  std::shared_ptr<ChangelogSegment> segment;
  {
    MutexLock lock(&mutex_);
    if (number == current_)
      return Status::InvalidArgument("entries still go to changelog segment " + NameOf(number));
    for (const auto& [first, held] : segments_)
      if (held.segment != nullptr && held.segment->id().number == number) segment = held.segment;
  }
  if (segment == nullptr)
    return Status::InvalidArgument("no changelog segment " + NameOf(number) + " is held");
  return segment->End();
}

void ChangelogLog::Release(uint64_t through) {
  MutexLock lock(&mutex_);
  released_ = std::max(released_, through);
}

std::vector<ChangelogLog::Released> ChangelogLog::FindReleased() const {
  std::vector<Released> released;
  MutexLock lock(&mutex_);
  for (auto at = segments_.begin(); at != segments_.end(); ++at) {
    const auto& [first, segment] = *at;
    const auto next = std::next(at);
    const uint64_t end = next == segments_.end() ? next_ : next->first;
    const bool of_earlier_opening = segment.segment == nullptr;
    if (end - 1 > released_ || (!of_earlier_opening && segment.id.number == current_)) break;
    released.push_back({segment.id, of_earlier_opening, first});
  }
  return released;
}

void ChangelogLog::Drop(const Released& segment) {
  MutexLock lock(&mutex_);
  names_.erase(segment.id.ValueFileName());
  segments_.erase(segment.first);
}

// A released segment may still be there.
Status ChangelogLog::ReadBytes(const EntryLocation& location, std::string* bytes) const {
  const std::string path = PathOf(NameOf(location.segment));
  Result<std::unique_ptr<fs::RandomFile>> file = file_system_->OpenRandom(path);
  if (!file.ok() && file.status().IsNotFound())
    return Status::NotFound("changelog segment " + path + " was released, and is gone");
  LAVA_RETURN_IF_ERROR(file.status());
  if (location.offset > (*file)->size() || location.bytes > (*file)->size() - location.offset)
    return Status::InvalidArgument(path + " has " + std::to_string((*file)->size()) +
                                   " bytes, none at offset " + std::to_string(location.offset) +
                                   " and " + std::to_string(location.bytes) + " more");
  bytes->resize(location.bytes);
  return (*file)->Read(location.offset, bytes->size(), bytes->data());
}

Status ChangelogLog::Read(const EntryLocation& location, std::string* entry) const {
  std::string bytes;
  LAVA_RETURN_IF_ERROR(ReadBytes(location, &bytes));
  vsst::ChangelogEntryReader reader(PathOf(NameOf(location.segment)), location.offset, bytes);
  return reader.Next(entry);
}

Status ChangelogLog::ReadValue(const EntryLocation& location, std::string* value) const {
  std::string bytes;
  LAVA_RETURN_IF_ERROR(ReadBytes(location, &bytes));
  return vsst::ChangelogEntryReader::ReadValue(PathOf(NameOf(location.segment)), location.offset,
                                               bytes, value);
}

Status ChangelogLog::ReadEarlierOpenings(
    uint64_t after, const std::function<Status(uint64_t, Slice)>& entry) const {
  HeldSegments earlier;
  uint64_t from = after;
  {
    MutexLock lock(&mutex_);
    from = std::max(from, released_);
    for (const auto& [first, segment] : segments_)
      if (segment.segment == nullptr) earlier[first] = segment;
  }
  Walk walk{from + 1, 0};
  return WalkSegments(earlier, &walk, [&](uint64_t sequence, Slice bytes) {
    return sequence <= from ? Status::OK() : entry(sequence, bytes);
  });
}

void ChangelogLog::Clear() {
  MutexLock lock(&mutex_);
  segments_.clear();
  names_.clear();
  current_ = 0;
}

}  // namespace lava
