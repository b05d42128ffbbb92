// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/block_loader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/block.h"
#include "base/compression.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "table/data_block.h"
#include "table/format.h"
#include "table/index_block.h"
#include "table/index_partition.h"
#include "table/properties.h"

namespace lava::ksst {
namespace {

Status ImpossibleRawLength(const std::string& path, uint64_t offset) {
  return CorruptionAt(path, offset, "the block does not decompress to its raw length");
}

}  // namespace

Status BlockLoader::ReadStored(const BlockHandle& handle, BlockBuffer* buffer,
                               Slice* stored) const {
  size_t bytes = handle.bytes + kBlockTrailerBytes;
  char* memory = buffer->Reserve(bytes);
  LAVA_RETURN_IF_ERROR(file_->Read(handle.offset, bytes, memory));
  *stored = Slice(memory, bytes);
  return Status::OK();
}

Status BlockLoader::Check(const BlockHandle& handle, Slice stored, BlockTrailer* trailer,
                          Slice* payload) const {
  LAVA_RETURN_IF_ERROR(CheckBlock(path(), unique_id_, handle, stored, trailer));
  *payload = stored.substr(0, handle.bytes);
  if (!RawBytesPossible(trailer->codec, *payload, trailer->raw_bytes))
    return ImpossibleRawLength(path(), handle.offset);
  return Status::OK();
}

Status BlockLoader::LoadData(const BlockHandle& handle,
                             std::shared_ptr<const CachedDataBlock>* out) const {
  char on_stack[8 << 10];  // fits most blocks, and saves an allocation for each
  BlockBuffer buffer(on_stack);
  Slice stored;
  LAVA_RETURN_IF_ERROR(ReadStored(handle, &buffer, &stored));
  return LoadDataFrom(handle, stored, out);
}

Status BlockLoader::LoadDataFrom(const BlockHandle& handle, Slice stored,
                                 std::shared_ptr<const CachedDataBlock>* out) const {
  Slice payload;
  BlockTrailer trailer;
  LAVA_RETURN_IF_ERROR(Check(handle, stored, &trailer, &payload));
  char* memory = nullptr;
  auto cached = MakeTrailing<CachedDataBlock>(trailer.raw_bytes + kDataBlockSlackBytes, &memory);
  if (!Decompress(trailer.codec, payload, memory, trailer.raw_bytes))
    return ImpossibleRawLength(path(), handle.offset);
  const char* error =
      cached->block.Check(Slice(memory, trailer.raw_bytes), DataBlockKinds(version_));
  if (error != nullptr) return Malformed(handle.offset, error);
  *out = std::move(cached);
  return Status::OK();
}

Status BlockLoader::ParseData(const BlockHandle& handle, Slice stored, BlockBuffer* buffer,
                              DataBlock* block) const {
  Slice payload;
  BlockTrailer trailer;
  LAVA_RETURN_IF_ERROR(Check(handle, stored, &trailer, &payload));
  char* memory = buffer->Reserve(trailer.raw_bytes + kDataBlockSlackBytes);
  if (!Decompress(trailer.codec, payload, memory, trailer.raw_bytes))
    return ImpossibleRawLength(path(), handle.offset);
  const char* error = block->Check(Slice(memory, trailer.raw_bytes), DataBlockKinds(version_));
  return error == nullptr ? Status::OK() : Malformed(handle.offset, error);
}

Status BlockLoader::LoadIndexPartitionAt(const BlockHandle& handle, uint64_t base,
                                         std::shared_ptr<const CachedIndexPartition>* out) const {
  BlockBuffer buffer;
  Slice stored;
  LAVA_RETURN_IF_ERROR(ReadStored(handle, &buffer, &stored));
  return ParseIndexPartition(handle, base, stored, out);
}

Status BlockLoader::ParseIndexPartition(const BlockHandle& handle, uint64_t base, Slice stored,
                                        std::shared_ptr<const CachedIndexPartition>* out) const {
  Slice raw;
  BlockTrailer trailer;
  LAVA_RETURN_IF_ERROR(Check(handle, stored, &trailer, &raw));
  BlockBuffer buffer;
  if (trailer.codec != Compression::kNone) {
    char* memory = buffer.Reserve(trailer.raw_bytes);
    if (!Decompress(trailer.codec, raw, memory, trailer.raw_bytes))
      return ImpossibleRawLength(path(), handle.offset);
    raw = Slice(memory, trailer.raw_bytes);
  }
  std::shared_ptr<CachedIndexPartition> index_partition;
  const char* error = LoadIndexPartition(raw, version_, base, handle.offset, &index_partition);
  if (error != nullptr) return Malformed(handle.offset, error);
  *out = std::move(index_partition);
  return Status::OK();
}

Status BlockLoader::LoadRaw(const BlockHandle& handle, std::string* raw) const {
  BlockBuffer buffer;
  Slice stored, payload;
  BlockTrailer trailer;
  LAVA_RETURN_IF_ERROR(ReadStored(handle, &buffer, &stored));
  LAVA_RETURN_IF_ERROR(Check(handle, stored, &trailer, &payload));
  if (trailer.codec == Compression::kNone) {
    raw->assign(payload);
    return Status::OK();
  }
  raw->resize(trailer.raw_bytes);
  if (!Decompress(trailer.codec, payload, raw->data(), trailer.raw_bytes))
    return ImpossibleRawLength(path(), handle.offset);
  return Status::OK();
}

namespace {

Status ReadTopIndex(TableHead* head) {
  const BlockHandle& handle = head->footer.top_index;
  const BlockHandle& behind =
      head->footer.tombstones.bytes != 0 ? head->footer.tombstones : head->footer.properties;
  std::string raw;
  LAVA_RETURN_IF_ERROR(head->loader->LoadRaw(handle, &raw));
  head->data_end = behind.offset;
  if (raw.empty()) {
    return head->data_end == 0
               ? Status::OK()
               : head->loader->Malformed(handle.offset, "the top index is empty, the file not");
  }
  size_t bytes = IndexBlock::MemoryBytes(raw);
  if (bytes == 0) return head->loader->Malformed(handle.offset, "the top index is malformed");
  head->top_memory_bytes = bytes;
  head->top_memory = std::make_unique_for_overwrite<uint64_t[]>((bytes + 7) / 8);
  const char* error =
      head->top.Load(raw, 0, head->data_end, reinterpret_cast<char*>(head->top_memory.get()));
  return error == nullptr ? Status::OK() : head->loader->Malformed(handle.offset, error);
}

}  // namespace

Status ReadTableHead(std::unique_ptr<fs::RandomFile> file, TableHead* head) {
  uint64_t file_bytes = file->size();
  char tail[kFooterBytes];
  size_t tail_bytes = static_cast<size_t>(std::min<uint64_t>(file_bytes, kFooterBytes));
  LAVA_RETURN_IF_ERROR(file->Read(file_bytes - tail_bytes, tail_bytes, tail));
  LAVA_RETURN_IF_ERROR(
      DecodeFooter(file->path(), file_bytes, Slice(tail, tail_bytes), &head->footer));
  head->loader =
      std::make_unique<BlockLoader>(std::move(file), head->footer.unique_id, head->footer.version);
  const BlockLoader& loader = *head->loader;
  std::string raw;
  LAVA_RETURN_IF_ERROR(loader.LoadRaw(head->footer.properties, &raw));
  if (const char* error = DecodeProperties(raw, &head->properties); error != nullptr)
    return loader.Malformed(head->footer.properties.offset, error);
  head->properties.file_bytes = file_bytes;
  if (head->footer.tombstones.bytes != 0) {
    LAVA_RETURN_IF_ERROR(loader.LoadRaw(head->footer.tombstones, &raw));
    if (const char* error = DecodeTombstones(raw, &head->tombstones); error != nullptr)
      return loader.Malformed(head->footer.tombstones.offset, error);
  }
  return ReadTopIndex(head);
}

}  // namespace lava::ksst
