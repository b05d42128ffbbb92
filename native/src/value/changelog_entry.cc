// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/changelog_entry.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/block.h"
#include "base/coding.h"
#include "base/compression.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"

namespace lava::vsst {

void EncodeChangelogEntryHead(const ChangelogEntryHead& head, std::string* out) {
  out->clear();
  PutVarint64(out, head.sequence);
  PutVarint64(out, head.skipped);
  PutVarint64(out, head.has_value ? uint64_t{head.inline_bytes} + 1 : 0);
  out->append(head.bytes);
}

bool DecodeChangelogEntryHead(Slice bytes, ChangelogEntryHead* head) {
  uint64_t said = 0;
  if (!GetVarint64(&bytes, &head->sequence) || !GetVarint64(&bytes, &head->skipped) ||
      head->skipped > head->sequence || !GetVarint64(&bytes, &said) || said > kRecordValueBytesMax)
    return false;
  head->has_value = said != 0;
  head->inline_bytes = head->has_value ? static_cast<uint32_t>(said - 1) : 0;
  head->bytes = bytes;
  return true;
}

namespace {

// A head has at least three numbers, so a run of zeros is not a head record.
constexpr uint64_t kHeadRecordBytesMin = kRecordBytesMin + 3;

Status ReadRecord(const std::string& name, uint64_t offset, Slice bytes, RecordView* record,
                  std::string* value) {
  LAVA_RETURN_IF_ERROR(DecodeRecord({name, UniqueIdOf(name), UINT32_MAX}, offset, bytes, record));
  value->resize(record->value.raw_bytes);
  if (!Decompress(record->value.codec, record->value.bytes, value->data(), record->value.raw_bytes))
    return CorruptionAt(name, offset, "a record does not decompress to its raw length");
  return Status::OK();
}

}  // namespace

Status ChangelogEntryReader::ReadValue(const std::string& name, uint64_t offset, Slice bytes,
                                       std::string* value) {
  RecordView record;
  LAVA_RETURN_IF_ERROR(ReadRecord(name, offset, bytes, &record, value));
  if (record.key.empty() || record.bytes != bytes.size())
    return CorruptionAt(name, offset, "another record stands where a value was logged");
  return Status::OK();
}

Status ChangelogEntryReader::TakeRecord(RecordView* record, std::string* value) {
  LAVA_RETURN_IF_ERROR(ReadRecord(name_, offset_, left_, record, value));
  offset_ += record->bytes;
  left_.remove_prefix(record->bytes);
  return Status::OK();
}

Status ChangelogEntryReader::Next(std::string* entry) {
  const uint64_t offset = offset_;
  RecordView record;
  ChangelogEntryHead head;
  LAVA_RETURN_IF_ERROR(TakeRecord(&record, &head_));
  if (!record.key.empty() || !DecodeChangelogEntryHead(head_, &head))
    return CorruptionAt(name_, offset, "no entry begins there");
  sequence_ = head.sequence;
  skipped_ = head.skipped;
  entry->assign(head.bytes);
  if (!head.has_value) return Status::OK();
  LAVA_RETURN_IF_ERROR(TakeRecord(&record, &value_));
  if (record.key.empty() || value_.size() < head.inline_bytes)
    return CorruptionAt(name_, offset, "the value of the entry that begins there is missing");
  entry->append(value_, head.inline_bytes);
  return Status::OK();
}

Result<bool> ChangelogEntryFileReader::HoldsEntries() const {
  std::string bytes;
  Status status = Take(0, &bytes);
  RecordView record;
  if (status.ok()) {
    // A file of values may have any number of blob files, and a dictionary.
    const RecordSource source{file_.path(), UniqueIdOf(file_.path()), UINT32_MAX, true};
    status = DecodeRecord(source, 0, bytes, &record);
  }
  if (status.ok()) return record.key.empty();
  if (!status.IsCorruption()) return status;
  return AnySoundBehind();
}

Status ChangelogEntryFileReader::Take(uint64_t offset, std::string* bytes) const {
  char front[kRecordFrontBytes];
  const uint64_t rest_bytes = end_ - std::min(offset, end_);
  const size_t front_bytes = std::min<uint64_t>(rest_bytes, sizeof(front));
  LAVA_RETURN_IF_ERROR(file_.Read(offset, front_bytes, front));
  uint64_t length = 0;
  if (const char* error = RecordBytes({front, front_bytes}, rest_bytes, &length); error != nullptr)
    return CorruptionAt(file_.path(), offset, error);
  const size_t before = bytes->size();
  bytes->resize(before + length);
  return file_.Read(offset, length, bytes->data() + before);
}

Status ChangelogEntryFileReader::Next(std::string* entry) {
  bytes_.clear();
  LAVA_RETURN_IF_ERROR(Take(offset_, &bytes_));
  // Only the head says whether a value follows.
  RecordView record;
  ChangelogEntryHead head;
  std::string raw;
  LAVA_RETURN_IF_ERROR(ReadRecord(file_.path(), offset_, bytes_, &record, &raw));
  if (DecodeChangelogEntryHead(raw, &head) && head.has_value)
    LAVA_RETURN_IF_ERROR(Take(offset_ + bytes_.size(), &bytes_));
  ChangelogEntryReader reader(file_.path(), offset_, bytes_);
  LAVA_RETURN_IF_ERROR(reader.Next(entry));
  offset_ = reader.offset();
  sequence_ = reader.sequence();
  skipped_ = reader.skipped();
  return Status::OK();
}

Result<bool> ChangelogEntryFileReader::AnySoundBehind() const {
  std::string rest(end_ - std::min(offset_, end_), '\0');
  LAVA_RETURN_IF_ERROR(file_.Read(offset_, rest.size(), rest.data()));
  RecordView record;
  ChangelogEntryHead head;
  std::string raw;
  // A head record begins with its blob file and the length of its key, both 0.
  const std::string front(2, '\0');
  for (size_t at = rest.find(front, 1); at != std::string::npos; at = rest.find(front, at + 1)) {
    const Slice bytes = Slice(rest).substr(at);
    uint64_t length = 0;
    if (RecordBytes(bytes.substr(0, kRecordFrontBytes), bytes.size(), &length) != nullptr ||
        length < kHeadRecordBytesMin)
      continue;
    if (ReadRecord(file_.path(), offset_ + at, bytes, &record, &raw).ok() && record.key.empty() &&
        DecodeChangelogEntryHead(raw, &head) && head.sequence > sequence_)
      return true;
  }
  return false;
}

}  // namespace lava::vsst
