// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/changelog_segment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/file_id.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memory/memory_counter.h"
#include "value/changelog_entry.h"
#include "value/value_log_writer.h"

namespace lava {
namespace {

// Bytes of an element of the map: the hash, the count, and the allocator's overhead.
constexpr uint64_t kNodeBytes = 48;

}  // namespace

Result<std::shared_ptr<ChangelogSegment>> ChangelogSegment::Create(fs::FileSystem* file_system,
                                                                   std::string path,
                                                                   const FileId& id,
                                                                   const ValueLogOptions& options,
                                                                   MemoryCounter* counter) {
  std::shared_ptr<ChangelogSegment> segment(
      new ChangelogSegment(file_system, std::move(path), id, counter));
  LAVA_RETURN_IF_ERROR(segment->Begin(options));
  return segment;
}

ChangelogSegment::~ChangelogSegment() { counter_->Release(charged_); }

bool ChangelogSegment::HasBlobFileFor(Slice key) const {
  const auto there = appended_.find(Hash64(key));
  return there == appended_.end() || there->second < kLogBlobFilesMax;
}

Status ChangelogSegment::AppendEntry(uint64_t sequence, uint64_t skipped, Slice head,
                                     const Value* value, bool synced, LoggedRecord* entry,
                                     ValueReference* reference) {
  vsst::EncodeChangelogEntryHead(
      {sequence, skipped, value != nullptr, value != nullptr ? value->inline_bytes : 0, head},
      &head_);
  LoggedRecord first, last;
  Status status = writer_->Append({}, head_, 0, &first);
  if (status.ok() && value != nullptr) {
    const uint32_t blob_file_index = value->appended ? appended_[Hash64(value->key)]++ : 0;
    status = writer_->Append(value->key, value->bytes, blob_file_index, &last);
  }
  LAVA_RETURN_IF_ERROR(Settle(std::move(status), synced));
  *entry = {first.offset, bytes_ - first.offset, 0};
  records_ += value != nullptr ? 2 : 1;
  if (value == nullptr) return Status::OK();
  named_.push_back({keys_.size(), static_cast<uint32_t>(value->key.size()), last, value->table,
                    value->timestamp});
  keys_.append(value->key);
  Charge();
  const FileId blob_file{id_.origin, id_.number + last.blob_file_index};
  *reference = {blob_file, value->bytes.size(), value->timestamp, last.offset, last.bytes};
  return Status::OK();
}

// Capacities mostly double when they grow, so the charge seldom changes.
void ChangelogSegment::Charge() {
  const uint64_t bytes = keys_.capacity() + named_.capacity() * sizeof(Named) +
                         appended_.bucket_count() * sizeof(void*) + appended_.size() * kNodeBytes;
  if (bytes == charged_) return;
  counter_->Charge(bytes);
  counter_->Release(std::exchange(charged_, bytes));
}

Status ChangelogSegment::End() {
  MutexLock lock(&end_mutex_);
  if (!ended_) {
    ended_ = sound_ ? WriteIndex()
                    : Status::IOError(path_ + ": a write to it failed before, so it has no end");
    if (!ended_->ok()) sound_ = false;
    writer_.reset();
    named_ = {};
    keys_ = {};
    appended_ = {};
    Charge();
  }
  return *ended_;
}

Status ChangelogSegment::WriteIndex() {
  // Stable, so that the last value of a key and blob file stays last.
  std::stable_sort(named_.begin(), named_.end(), [this](const Named& a, const Named& b) {
    const int order = KeyOf(a).compare(KeyOf(b));
    return order < 0 || (order == 0 && a.record.blob_file_index < b.record.blob_file_index);
  });
  for (size_t i = 0; i < named_.size(); ++i) {
    const Named& named = named_[i];
    if (i + 1 < named_.size() && KeyOf(named_[i + 1]) == KeyOf(named) &&
        named_[i + 1].record.blob_file_index == named.record.blob_file_index)
      continue;
    LAVA_RETURN_IF_ERROR(writer_->AddLive(KeyOf(named), named.record));
    tables_[named.table].Add(named.record.raw_bytes, named.timestamp);
  }
  return writer_->Finish(&properties_);
}

}  // namespace lava
