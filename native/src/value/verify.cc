// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/verify.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/dictionary.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/crit_bit.h"
#include "value/format.h"
#include "value/key_iterator.h"
#include "value/value_file.h"
#include "value/value_head.h"

namespace lava::vsst {
namespace {

/// Walks the dense key index, reads each record that it names, and rebuilds the index partitions to
/// compare them with those of the file.
class Verifier {
 public:
  explicit Verifier(const ValueHead& head)
      : head_(head), window_(head.file.get(), head.top.records_end()) {}

  Status Run() {
    std::unique_ptr<const Dictionary> dictionary;
    LAVA_RETURN_IF_ERROR(head_.LoadDictionary(&dictionary));
    for (const FileId& blob_file : head_.blob_files) found_.blob_files.push_back({blob_file, 0, 0});
    KeyIterator at(&head_);
    for (; at.Valid(); at.Next()) {
      LAVA_RETURN_IF_ERROR(VerifyRecord(at));
      LAVA_RETURN_IF_ERROR(VerifyInPartition(at));
      last_key_.assign(at.key());
    }
    LAVA_RETURN_IF_ERROR(at.status());
    if (found_.records > 0) {
      LAVA_RETURN_IF_ERROR(VerifyIndexPartition());
      found_.upper = last_key_ + '\0';
    }
    return VerifyProperties();
  }

 private:
  Status VerifyRecord(const KeyIterator& at) {
    Slice bytes;
    RecordView record;
    LAVA_RETURN_IF_ERROR(window_.Read(at.record_offset(), at.record_bytes(), &bytes));
    LAVA_RETURN_IF_ERROR(DecodeRecord(head_.source(), at.record_offset(), bytes, &record));
    const StoredValue& value = record.value;
    if (record.bytes != at.record_bytes() || record.key != at.key() ||
        record.blob_file_index != at.blob_file_index() || value.raw_bytes != at.raw_bytes())
      return head_.Malformed(at.record_offset(), "the dense key index is not that of the record");
    if (value.codec != Compression::kNone) {
      raw_.resize(value.raw_bytes);
      LAVA_RETURN_IF_ERROR(head_.DecompressValue(at.record_offset(), value, raw_.data()));
    }
    if (found_.records == 0) found_.lower = at.key();
    ++found_.records;
    found_.raw_bytes += value.raw_bytes;
    found_.stored_bytes += value.bytes.size();
    BlobReference& blob_file = found_.blob_files[record.blob_file_index];
    ++blob_file.records;
    blob_file.raw_bytes += value.raw_bytes;
    return Status::OK();
  }

  /// Checks that the record fits into its index partition. At an index partition's end, checks that
  /// index partition first.
  Status VerifyInPartition(const KeyIterator& at) {
    const auto& index_partitions = head_.top.index_partitions();
    if (at.record_offset() == index_partitions[index_partition_].records_end) {
      LAVA_RETURN_IF_ERROR(VerifyIndexPartition());
      ++index_partition_;
      if (at.key() < index_partitions[index_partition_].separator ||
          last_key_ >= index_partitions[index_partition_].separator)
        return head_.Malformed(at.record_offset(), "a key stands in another's partition");
    }
    if (at.record_offset() + at.record_bytes() > index_partitions[index_partition_].records_end)
      return head_.Malformed(at.record_offset(), "a record passes its partition's end");
    if (at.same_key()) return Status::OK();
    if (builder_.count() == kIndexPartitionKeysMax)
      return head_.Malformed(at.record_offset(), "a partition has too many keys");
    builder_.Add(at.key(), at.record_offset());
    return Status::OK();
  }

  Status VerifyIndexPartition() {
    const TopIndex::IndexPartition& index_partition =
        head_.top.index_partitions()[index_partition_];
    uint64_t extent = index_partition.records_end - index_partition.records_begin;
    std::string read, made;
    LAVA_RETURN_IF_ERROR(head_.LoadBlock(index_partition.block, &read));
    IndexPartitionView view, expected;
    if (const char* error = view.Load(read, extent); error != nullptr)
      return head_.Malformed(index_partition.block.offset, error);
    builder_.Finish(index_partition.records_end, &made);
    if (const char* error = expected.Load(made, extent); error != nullptr)
      return head_.Malformed(index_partition.block.offset, error);
    if (!Agree(view, expected))
      return head_.Malformed(index_partition.block.offset,
                             "a partition is not that of its records");
    ++found_.index_partitions;
    found_.tree_bytes += view.tree_bytes();
    return Status::OK();
  }

  static bool Agree(const IndexPartitionView& a, const IndexPartitionView& b) {
    if (a.count() != b.count()) return false;
    for (uint32_t i = 0; i < a.count(); ++i) {
      if (a.fingerprint(i) != b.fingerprint(i) || a.group(i).end != b.group(i).end) return false;
      if (i + 1 < a.count() && a.bit(i) != b.bit(i)) return false;
    }
    return true;
  }

  Status VerifyProperties() {
    found_.file_bytes = head_.properties.file_bytes;
    SortBlobFiles(&found_.blob_files);
    const ValueFileProperties& p = head_.properties;
    bool equal = p.records == found_.records && p.raw_bytes == found_.raw_bytes &&
                 p.stored_bytes == found_.stored_bytes && p.tree_bytes == found_.tree_bytes &&
                 p.index_partitions == found_.index_partitions && p.lower == found_.lower &&
                 p.upper == found_.upper && p.blob_files == found_.blob_files;
    if (equal) return Status::OK();
    return head_.Malformed(head_.footer.properties.offset,
                           "the properties are not those of the file's records");
  }

  const ValueHead& head_;
  ReadWindow window_;
  ValueFileProperties found_;
  IndexPartitionBuilder builder_;
  size_t index_partition_ = 0;
  std::string last_key_;
  std::string raw_;
};

}  // namespace

Status VerifyValueFile(const ValueHead& head) { return Verifier(head).Run(); }

}  // namespace lava::vsst
