// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"
#include "value/value_file.h"
#include "value/value_head.h"
#include "value/verify.h"

namespace lava::vsst {
namespace {

/// Reads all records, dead ones too, and compares each that the index names.
class LogVerifier {
 public:
  explicit LogVerifier(const ValueHead& head)
      : head_(head), log_(*head.log), window_(head.file.get(), log_.records_end()) {
    for (const FileId& blob_file : head.blob_files) blob_files_.push_back({blob_file, 0, 0});
  }

  Status Run() {
    std::vector<size_t> by_offset(log_.size());
    for (size_t i = 0; i < by_offset.size(); ++i) by_offset[i] = i;
    std::sort(by_offset.begin(), by_offset.end(),
              [this](size_t a, size_t b) { return log_.record(a).offset < log_.record(b).offset; });
    auto next = by_offset.begin();
    for (uint64_t offset = 0; offset < log_.records_end();) {
      RecordView record;
      LAVA_RETURN_IF_ERROR(ReadRecord(offset, &record));
      if (next != by_offset.end() && log_.record(*next).offset == offset)
        LAVA_RETURN_IF_ERROR(CheckLive(*next++, offset, record));
      offset += record.bytes;
    }
    if (next != by_offset.end())
      return head_.Malformed(log_.record(*next).offset,
                             "the log index names what is not the beginning of a record");
    return CheckProperties();
  }

 private:
  Status ReadRecord(uint64_t offset, RecordView* record) {
    const uint64_t rest_bytes = log_.records_end() - offset;
    Slice bytes;
    uint64_t length = 0;
    LAVA_RETURN_IF_ERROR(
        window_.Read(offset, std::min<uint64_t>(rest_bytes, kRecordFrontBytes), &bytes));
    if (const char* error = RecordBytes(bytes, rest_bytes, &length); error != nullptr)
      return head_.Malformed(offset, error);
    LAVA_RETURN_IF_ERROR(window_.Read(offset, length, &bytes));
    RecordSource source = head_.source();
    source.blob_file_count =
        std::max<size_t>(1, source.blob_file_count);  // no blob files if no record is live
    LAVA_RETURN_IF_ERROR(DecodeRecord(source, offset, bytes, record));
    if (record->value.codec == Compression::kNone) return Status::OK();
    raw_.resize(record->value.raw_bytes);
    return head_.DecompressValue(offset, record->value, raw_.data());
  }

  Status CheckLive(size_t i, uint64_t offset, const RecordView& record) {
    const LoggedRecord& named = log_.record(i);
    if (record.bytes != named.bytes || record.key != log_.key(i) ||
        record.value.raw_bytes != named.raw_bytes ||
        record.blob_file_index != named.blob_file_index)
      return head_.Malformed(offset, "the log index is not that of the record");
    raw_bytes_ += named.raw_bytes;
    ++blob_files_[named.blob_file_index].records;
    blob_files_[named.blob_file_index].raw_bytes += named.raw_bytes;
    stored_bytes_ += record.value.bytes.size();
    return Status::OK();
  }

  // The count of records and their bounds were compared when the file was opened.
  Status CheckProperties() const {
    const ValueFileProperties& p = head_.properties;
    if (p.raw_bytes == raw_bytes_ && p.stored_bytes == stored_bytes_ && p.blob_files == blob_files_)
      return Status::OK();
    return head_.Malformed(head_.footer.properties.offset,
                           "the properties are not those of the file's records");
  }

  const ValueHead& head_;
  const LogIndex& log_;
  ReadWindow window_;
  uint64_t raw_bytes_ = 0, stored_bytes_ = 0;
  std::vector<BlobReference> blob_files_;  // in the order of the head's
  std::string raw_;
};

}  // namespace

Status VerifyValueLog(const ValueHead& head) { return LogVerifier(head).Run(); }

}  // namespace lava::vsst
