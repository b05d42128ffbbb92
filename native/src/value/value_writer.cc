// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/block.h"
#include "base/checksum.h"
#include "base/compression.h"
#include "base/dictionary.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/crit_bit.h"
#include "value/dictionary_sampler.h"
#include "value/format.h"
#include "value/key_block.h"
#include "value/top_index.h"
#include "value/value_file.h"

namespace lava {
namespace {

using namespace vsst;  // NOLINT: this folder's own

class ValueSstWriter final : public ValueWriter {
 public:
  ValueSstWriter(const ValueWriterOptions& options, std::unique_ptr<fs::AppendFile> file,
                 std::string path)
      : options_(options),
        index_partition_keys_(
            std::clamp(options.index_partition_records, 1u, kIndexPartitionKeysMax)),
        file_(std::move(file)),
        path_(std::move(path)),
        compressor_(options.compression),
        sampling_(options.compression == Compression::kZstd && options.dictionary.enabled) {
    footer_.unique_id = UniqueIdOf(path_);
  }

  Status Add(Slice key, const FileId& blob_file, Slice value) override;
  Status AddStored(Slice key, const FileId& blob_file, Compression codec, uint32_t raw_bytes,
                   Slice stored) override;
  uint64_t estimated_bytes() const override {
    return offset_ + index_bytes_ + key_block_.payload().size() +
           index_partition_.estimated_bytes() + top_.estimated_bytes() + dictionary_.size() +
           footer_.bytes() + sampler_.estimated_bytes();
  }
  Status Finish(ValueFileProperties* properties) override;

 private:
  /// A block of one of the indexes. These follow the records, so blocks are kept until Finish().
  struct PendingBlock {
    std::string stored;
    Compression codec = Compression::kNone;
    uint32_t raw_bytes = 0;
  };

  Status CheckRecord(Slice key, const FileId& blob_file, uint64_t value_bytes) const;
  StoredValue Compress(Slice value);
  /// Decides on the dictionary, and writes the sampled values.
  Status EndSampling();
  Status Sample(Slice key, const FileId& blob_file, const StoredValue& stored, const Slice* raw);
  Status AddRecord(Slice key, const FileId& blob_file, const StoredValue& value);
  uint32_t BlobFileIndex(const FileId& blob_file);
  void FlushKeyBlock();
  void FlushIndexPartition(Slice next_separator);
  PendingBlock Pack(Slice raw, bool compress);
  BlockHandle WriteBlock(PendingBlock block);
  void WriteIndexes();
  void Append(Slice bytes);
  Status Invalid(const std::string& what) const {
    return Status::InvalidArgument(
        path_ + ": record " + std::to_string(properties_.records + sampler_.size()) + ": " + what);
  }

  const ValueWriterOptions options_;
  const uint32_t index_partition_keys_;
  std::unique_ptr<fs::AppendFile> file_;
  const std::string path_;
  Compressor compressor_;
  bool sampling_;  // the first values are held back
  DictionarySampler sampler_;
  std::string dictionary_;  // empty: none
  std::unique_ptr<DictionaryCompressor> dictionary_compressor_;

  Status status_;  // the first error
  bool finished_ = false;
  uint64_t offset_ = 0;
  uint32_t crc_ = 0;
  Footer footer_;
  ValueFileProperties properties_;
  std::map<FileId, uint32_t> blob_file_indexes_;
  std::vector<BlobReference> blob_files_;  // by index

  std::string last_key_;
  FileId last_blob_file_;
  uint32_t last_blob_file_index_ = 0;
  KeyBlockBuilder key_block_;
  IndexPartitionBuilder index_partition_;
  uint64_t index_partition_begin_ = 0;
  std::string separator_;  // of the index partition being built
  TopIndexBuilder top_;
  std::vector<PendingBlock> key_blocks_, index_partitions_;
  uint64_t index_bytes_ = 0;  // of both indexes
  std::string compressed_, record_;
};

Status ValueSstWriter::CheckRecord(Slice key, const FileId& blob_file, uint64_t value_bytes) const {
  if (finished_) return Status::InvalidArgument(path_ + ": the value SST is finished already");
  if (key.size() > kRecordKeyBytesMax)
    return Invalid("a key of " + std::to_string(key.size()) + " bytes, the limit is " +
                   std::to_string(kRecordKeyBytesMax));
  if (value_bytes > kRecordValueBytesMax)
    return Invalid("a value of " + std::to_string(value_bytes) + " bytes, the limit is " +
                   std::to_string(kRecordValueBytesMax));
  if (const bool sampled = sampler_.size() > 0; sampled || properties_.records > 0) {
    int order = key.compare(sampled ? sampler_.last_key() : last_key_);
    if (order < 0 ||
        (order == 0 && blob_file <= (sampled ? sampler_.last_blob_file() : last_blob_file_)))
      return Invalid("it does not come behind the one before");
  }
  return Status::OK();
}

Status ValueSstWriter::Add(Slice key, const FileId& blob_file, Slice value) {
  if (!status_.ok()) return status_;
  LAVA_RETURN_IF_ERROR(CheckRecord(key, blob_file, value.size()));
  if (sampling_ && !sampler_.Fits(key.size(), value.size())) LAVA_RETURN_IF_ERROR(EndSampling());
  const StoredValue stored = Compress(value);
  Status status =
      sampling_ ? Sample(key, blob_file, stored, &value) : AddRecord(key, blob_file, stored);
  if (compressed_.capacity() > kBufferKeptBytesMax) compressed_ = {};
  return status;
}

Status ValueSstWriter::AddStored(Slice key, const FileId& blob_file, Compression codec,
                                 uint32_t raw_bytes, Slice stored) {
  if (!status_.ok()) return status_;
  LAVA_RETURN_IF_ERROR(CheckRecord(key, blob_file, std::max<uint64_t>(raw_bytes, stored.size())));
  if (codec > Compression::kZstd || !RawBytesPossible(codec, stored, raw_bytes))
    return Invalid(std::to_string(stored.size()) + " stored bytes of codec " +
                   std::to_string(static_cast<int>(codec)) + " are no value of " +
                   std::to_string(raw_bytes) + " bytes");
  if (sampling_ && !sampler_.Fits(key.size(), stored.size())) LAVA_RETURN_IF_ERROR(EndSampling());
  const StoredValue value{codec, raw_bytes, stored};
  return sampling_ ? Sample(key, blob_file, value, nullptr) : AddRecord(key, blob_file, value);
}

StoredValue ValueSstWriter::Compress(Slice value) {
  StoredValue stored;
  stored.raw_bytes = static_cast<uint32_t>(value.size());
  stored.codec = dictionary_compressor_ != nullptr
                     ? dictionary_compressor_->Compress(value, &compressed_)
                     : compressor_.Compress(value, &compressed_);
  stored.bytes = stored.codec == Compression::kNone ? value : Slice(compressed_);
  return stored;
}

Status ValueSstWriter::Sample(Slice key, const FileId& blob_file, const StoredValue& stored,
                              const Slice* raw) {
  sampler_.Add(key, blob_file, stored, raw);
  return sampler_.TooLarge() ? EndSampling() : Status::OK();
}

Status ValueSstWriter::EndSampling() {
  sampling_ = false;
  const DictionarySampler sampler = std::exchange(sampler_, {});
  dictionary_ = sampler.ChooseDictionary(options_.dictionary);
  if (!dictionary_.empty())
    dictionary_compressor_ = std::make_unique<DictionaryCompressor>(dictionary_);
  for (size_t i = 0; i < sampler.size(); ++i) {
    const DictionarySampler::Value value = sampler.at(i);
    const bool anew = value.is_sample && !dictionary_.empty();
    LAVA_RETURN_IF_ERROR(
        AddRecord(value.key, value.blob_file, anew ? Compress(value.raw) : value.stored));
  }
  return status_;
}

uint32_t ValueSstWriter::BlobFileIndex(const FileId& blob_file) {
  if (!blob_files_.empty() && blob_file == last_blob_file_) return last_blob_file_index_;
  auto [at, is_new] =
      blob_file_indexes_.try_emplace(blob_file, static_cast<uint32_t>(blob_files_.size()));
  if (is_new) blob_files_.push_back({blob_file, 0, 0});
  return at->second;
}

Status ValueSstWriter::AddRecord(Slice key, const FileId& blob_file, const StoredValue& value) {
  bool first = properties_.records == 0;
  bool same_key = !first && key == last_key_;
  if (!same_key && index_partition_.count() >= index_partition_keys_)
    FlushIndexPartition(ShortSeparator(last_key_, key));
  if (key_block_.payload().size() >= kKeyBlockBytes) FlushKeyBlock();
  uint32_t blob_file_index = BlobFileIndex(blob_file);
  EncodeRecord(footer_.unique_id, offset_, blob_file_index, key, value, &record_);
  key_block_.Add(key, {blob_file_index, record_.size(), value.raw_bytes}, offset_);
  if (!same_key) index_partition_.Add(key, offset_);
  Append(record_);
  if (record_.capacity() > kBufferKeptBytesMax) record_ = {};

  if (first) properties_.lower = key;
  ++properties_.records;
  properties_.raw_bytes += value.raw_bytes;
  properties_.stored_bytes += value.bytes.size();
  ++blob_files_[blob_file_index].records;
  blob_files_[blob_file_index].raw_bytes += value.raw_bytes;
  if (!same_key) last_key_.assign(key);
  last_blob_file_ = blob_file;
  last_blob_file_index_ = blob_file_index;
  return status_;
}

void ValueSstWriter::Append(Slice bytes) {
  if (!status_.ok()) return;
  status_ = file_->Append(bytes);
  crc_ = Crc32c(bytes, crc_);
  offset_ += bytes.size();
}

ValueSstWriter::PendingBlock ValueSstWriter::Pack(Slice raw, bool compress) {
  PendingBlock block;
  block.raw_bytes = static_cast<uint32_t>(raw.size());
  if (compress) block.codec = compressor_.Compress(raw, &block.stored);
  if (block.codec == Compression::kNone) block.stored = raw;
  block.stored.shrink_to_fit();
  return block;
}

BlockHandle ValueSstWriter::WriteBlock(PendingBlock block) {
  BlockHandle handle{offset_, static_cast<uint32_t>(block.stored.size())};
  SealBlock(footer_.unique_id, offset_, block.codec, block.raw_bytes, &block.stored);
  Append(block.stored);
  return handle;
}

void ValueSstWriter::FlushKeyBlock() {
  key_blocks_.push_back(Pack(key_block_.payload(), true));
  key_block_.Reset();
  index_bytes_ += key_blocks_.back().stored.size() + kBlockTrailerBytes;
}

void ValueSstWriter::FlushIndexPartition(Slice next_separator) {
  std::string raw;
  properties_.tree_bytes += index_partition_.Finish(offset_, &raw);
  ++properties_.index_partitions;
  // Not compressed: readers use an index partition as it is stored.
  index_partitions_.push_back(Pack(raw, false));
  uint32_t bytes = static_cast<uint32_t>(index_partitions_.back().stored.size());
  index_bytes_ += bytes + kBlockTrailerBytes;
  top_.AddIndexPartition(separator_, offset_ - index_partition_begin_, bytes);
  index_partition_begin_ = offset_;
  separator_.assign(next_separator);
}

void ValueSstWriter::WriteIndexes() {
  if (properties_.records > 0) {
    properties_.upper = last_key_ + '\0';
    FlushKeyBlock();
    FlushIndexPartition({});
  }
  for (PendingBlock& block : key_blocks_) {
    top_.AddKeyBlock(static_cast<uint32_t>(block.stored.size()));
    WriteBlock(std::move(block));
  }
  for (PendingBlock& block : index_partitions_) WriteBlock(std::move(block));
  if (!dictionary_.empty()) footer_.dictionary = WriteBlock(Pack(dictionary_, true));
  std::string raw;
  EncodeProperties(properties_, blob_files_, &raw);
  footer_.properties = WriteBlock(Pack(raw, true));
  raw.clear();
  top_.Finish(&raw);
  footer_.top_index = WriteBlock(Pack(raw, true));
  raw.clear();
  EncodeFooter(footer_, offset_, &raw);
  Append(raw);
}

Status ValueSstWriter::Finish(ValueFileProperties* properties) {
  if (finished_) return Status::InvalidArgument(path_ + ": the value SST is finished already");
  finished_ = true;
  if (status_.ok() && sampling_) status_ = EndSampling();
  if (status_.ok()) WriteIndexes();
  if (status_.ok()) status_ = options_.sync ? file_->Sync() : file_->Flush();
  if (status_.ok()) status_ = file_->Close();
  file_.reset();
  if (!status_.ok()) return status_;
  SortBlobFiles(&blob_files_);
  properties_.blob_files = std::move(blob_files_);
  properties_.file_bytes = offset_;
  properties_.file_crc32c = crc_;
  *properties = std::move(properties_);
  return status_;
}

}  // namespace

std::unique_ptr<ValueWriter> ValueWriter::Create(const ValueWriterOptions& options,
                                                 std::unique_ptr<fs::AppendFile> file,
                                                 std::string path) {
  return std::make_unique<ValueSstWriter>(options, std::move(file), std::move(path));
}

}  // namespace lava
