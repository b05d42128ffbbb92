// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_head.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/block.h"
#include "base/compression.h"
#include "base/dictionary.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/format.h"
#include "value/log_index.h"
#include "value/value_file.h"

namespace lava::vsst {

Status ValueHead::ParseBlock(const BlockHandle& handle, Slice stored, std::string* raw,
                             uint64_t raw_bytes_max) const {
  BlockTrailer trailer;
  LAVA_RETURN_IF_ERROR(CheckBlock(file->path(), footer.unique_id, handle, stored, &trailer));
  Slice payload = stored.substr(0, handle.bytes);
  if (trailer.raw_bytes > raw_bytes_max) return Malformed(handle.offset, "the block is too large");
  if (RawBytesPossible(trailer.codec, payload, trailer.raw_bytes)) {
    raw->resize(trailer.raw_bytes);
    if (Decompress(trailer.codec, payload, raw->data(), trailer.raw_bytes)) return Status::OK();
  }
  return Malformed(handle.offset, "the block does not decompress to its raw length");
}

Status ValueHead::LoadBlock(const BlockHandle& handle, std::string* raw,
                            uint64_t raw_bytes_max) const {
  std::string stored(handle.bytes + kBlockTrailerBytes, '\0');
  LAVA_RETURN_IF_ERROR(file->Read(handle.offset, stored.size(), stored.data()));
  return ParseBlock(handle, stored, raw, raw_bytes_max);
}

Status ValueHead::LoadDictionary(std::unique_ptr<const Dictionary>* loaded) const {
  if (!footer.has_dictionary()) return Status::OK();
  std::string raw;
  LAVA_RETURN_IF_ERROR(LoadBlock(footer.dictionary, &raw, kDictionaryBytesMax));
  *loaded = Dictionary::Load(raw);
  if (*loaded == nullptr)
    return Malformed(footer.dictionary.offset, "the dictionary is not one of zstd's");
  return Status::OK();
}

Status ValueHead::DecompressValue(uint64_t offset, const StoredValue& value, char* raw) const {
  const bool done = value.codec == kZstdDictionary && dictionary != nullptr
                        ? dictionary->Decompress(value.bytes, raw, value.raw_bytes)
                        : Decompress(value.codec, value.bytes, raw, value.raw_bytes);
  if (done) return Status::OK();
  return Malformed(offset, "a value does not decompress to its raw length");
}

Status ValueHead::ReadFooter() {
  uint64_t file_bytes = file->size();
  char tail[kFooterBytes];
  size_t tail_bytes = static_cast<size_t>(std::min<uint64_t>(file_bytes, kFooterBytes));
  LAVA_RETURN_IF_ERROR(file->Read(file_bytes - tail_bytes, tail_bytes, tail));
  return DecodeFooter(file->path(), file_bytes, Slice(tail, tail_bytes), &footer);
}

Status ValueHead::ReadProperties() {
  std::string raw;
  LAVA_RETURN_IF_ERROR(LoadBlock(footer.properties, &raw));
  if (const char* error = DecodeProperties(raw, &properties, &blob_files); error != nullptr)
    return Malformed(footer.properties.offset, error);
  properties.file_bytes = file->size();
  return Status::OK();
}

Status ValueHead::ReadTop() {
  std::string raw;
  uint64_t offset = footer.top_index.offset;
  LAVA_RETURN_IF_ERROR(LoadBlock(footer.top_index, &raw));
  if (const char* error = top.Load(std::move(raw), footer.index_end()); error != nullptr)
    return Malformed(offset, error);
  if (top.index_partitions().size() != properties.index_partitions)
    return Malformed(offset, "the properties count other partitions than the top index");
  if (properties.records > top.records_end() / kRecordBytesMin ||
      (properties.records == 0) != (top.records_end() == 0))
    return Malformed(offset, "the properties count more records than fit");
  return Status::OK();
}

Status ValueHead::ReadLogIndex() {
  std::string raw;
  const uint64_t offset = footer.top_index.offset;
  LAVA_RETURN_IF_ERROR(LoadBlock(footer.top_index, &raw));
  auto index = std::make_unique<LogIndex>();
  if ((blob_files.size() > 1) != footer.several_blob_files ||
      !std::is_sorted(blob_files.begin(), blob_files.end()))
    return Malformed(offset, "the blob files are not those of a value log of this version");
  if (const char* error = index->Load(raw, footer.properties.offset, blob_files.size());
      error != nullptr)
    return Malformed(offset, error);
  if (properties.records != index->size() || properties.index_partitions != 0 ||
      properties.tree_bytes != 0)
    return Malformed(offset, "the properties are not those of a value log with these records");
  if (index->size() > 0 && (index->key(0) != properties.lower ||
                            std::string(index->key(index->size() - 1)) + '\0' != properties.upper))
    return Malformed(offset, "the properties have other bounds than the log index");
  log = std::move(index);
  return Status::OK();
}

Status ValueHead::Read(std::unique_ptr<fs::RandomFile> file, std::unique_ptr<ValueHead>* head) {
  auto read = std::make_unique<ValueHead>();
  read->file = std::move(file);
  LAVA_RETURN_IF_ERROR(read->ReadFooter());
  LAVA_RETURN_IF_ERROR(read->ReadProperties());
  LAVA_RETURN_IF_ERROR(read->LoadDictionary(&read->dictionary));
  LAVA_RETURN_IF_ERROR(read->footer.is_log ? read->ReadLogIndex() : read->ReadTop());
  *head = std::move(read);
  return Status::OK();
}

Status ReadWindow::Read(uint64_t offset, uint64_t length, Slice* bytes) {
  constexpr uint64_t kPieceBytes = 256 << 10;
  if (offset < begin_ || offset + length > begin_ + length_) {
    uint64_t piece = std::min(std::max(length, kPieceBytes), end_ - offset);
    if (piece > capacity_) {
      memory_ = std::make_unique_for_overwrite<char[]>(piece);
      capacity_ = piece;
    }
    length_ = 0;
    LAVA_RETURN_IF_ERROR(file_->Read(offset, piece, memory_.get()));
    begin_ = offset;
    length_ = piece;
  }
  *bytes = Slice(memory_.get() + (offset - begin_), length);
  return Status::OK();
}

}  // namespace lava::vsst
