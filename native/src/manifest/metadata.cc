// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "base/hash.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version_edit.h"

namespace lava {
namespace {

// 8 bytes magic, u32 format version, u32 CRC32C of both, u64 payload length, payload, u64 XXH3 of
// everything before. Future formats keep the first 16 bytes, so that a damaged version can be told
// from a newer one.
constexpr std::string_view kMetadataMagic = "LAVACKPT";
constexpr size_t kHeaderBytes = 8 + 4 + 4 + 8;
constexpr size_t kTrailerBytes = 8;

Status Corrupt(const std::string& what, uint64_t offset) {
  return Status::Corruption("checkpoint metadata: " + what + " at offset " +
                            std::to_string(offset));
}

}  // namespace

std::string EncodeMetadata(const ManifestState& state) {
  LAVA_DCHECK(state.version != nullptr);
  VersionEdit edit = SnapshotOf(state);
  // The instance that restores a checkpoint has logs of its own.
  edit.wal_flushed.reset();
  edit.entries_released.reset();
  std::string payload;
  EncodeEdit(edit, &payload);
  std::string out(kMetadataMagic);
  PutFixed32(&out, kManifestFormatVersion);
  PutFixed32(&out, Crc32c(out));
  PutFixed64(&out, payload.size());
  LAVA_DCHECK(out.size() == kHeaderBytes);
  out += payload;
  PutFixed64(&out, Hash64(out));
  return out;
}

Status DecodeMetadata(Slice metadata, FileTable* files, ManifestState* state) {
  if (metadata.size() < kHeaderBytes + kTrailerBytes)
    return Corrupt("only " + std::to_string(metadata.size()) + " bytes, ends", metadata.size());
  if (metadata.substr(0, kMetadataMagic.size()) != kMetadataMagic) return Corrupt("wrong magic", 0);
  if (DecodeFixed32(metadata.data() + 12) != Crc32c(metadata.substr(0, 12)))
    return Corrupt("header checksum mismatch", 8);
  const uint32_t version = DecodeFixed32(metadata.data() + 8);
  if (version > kManifestFormatVersion)
    return Status::NotSupported("checkpoint metadata has format " + std::to_string(version) +
                                ", this library reads up to " +
                                std::to_string(kManifestFormatVersion));
  if (version == 0) return Corrupt("format version 0", 8);
  const uint64_t length = DecodeFixed64(metadata.data() + 16);
  if (length != metadata.size() - kHeaderBytes - kTrailerBytes)
    return Corrupt("length " + std::to_string(length) + " does not fit " +
                       std::to_string(metadata.size()) + " bytes",
                   16);
  const size_t checked = metadata.size() - kTrailerBytes;
  if (Hash64(metadata.substr(0, checked)) != DecodeFixed64(metadata.data() + checked))
    return Corrupt("checksum mismatch", checked);
  VersionEdit edit;
  LAVA_RETURN_IF_ERROR(DecodeEdit(metadata.substr(kHeaderBytes, length), kHeaderBytes, files, &edit)
                           .WithContext("checkpoint metadata"));
  if (!edit.removed.empty() || !edit.values_removed.empty() || !edit.dropped.empty() ||
      !edit.partition_bytes || edit.wal_flushed || edit.entries_released)
    return Corrupt("not a snapshot of an instance,", kHeaderBytes);
  ManifestState decoded;
  const Status applied = ApplyEdit(edit, &decoded);
  if (!applied.ok()) return Corrupt(std::string(applied.message()), kHeaderBytes);
  *state = std::move(decoded);
  return Status::OK();
}

}  // namespace lava
