// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/checkpoint.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/coding.h"
#include "table/format.h"
#include "value/format.h"

namespace lava::inspect {
namespace {

constexpr size_t kHeaderBytes = 40, kChecksumBytes = 4;
// From 2 on with packs, from 3 on with the origin.
constexpr uint32_t kFormatVersion = 3;
constexpr size_t kOriginBytes = 72;
// Flink's serialized forms of a StreamStateHandle.
constexpr char kByteStreamHandle = 1, kFileHandle = 2, kRelativeHandle = 6;

uint32_t BigEndian32(const char* from) { return static_cast<uint32_t>(DecodeBigEndian(from, 4)); }

Status Damaged(const std::string& path, uint64_t offset, const std::string& what) {
  return Status::Corruption(path + ": " + what + " at offset " + std::to_string(offset));
}

// The claimed size of a private file at the front of the bytes; 0 without one.
uint64_t LavaCheckpointBytes(Slice bytes) {
  if (bytes.size() < kHeaderBytes + kChecksumBytes || !IsLavaCheckpoint(bytes)) return 0;
  uint64_t claimed = kHeaderBytes + BigEndian32(bytes.data() + 36) + kChecksumBytes;
  // The packs with their length precede the checksum.
  if (claimed <= bytes.size() && BigEndian32(bytes.data() + 8) >= 2)
    claimed += 4 + uint64_t{BigEndian32(bytes.data() + claimed - kChecksumBytes)};
  if (BigEndian32(bytes.data() + 8) >= 3) claimed += kOriginBytes;
  return claimed <= bytes.size() ? claimed : 0;
}

// Java's writeUTF: 2 bytes of length, then the bytes.
bool GetUtf(Slice* in, Slice* text) {
  uint64_t length = 0;
  return GetBigEndian(in, 2, &length) && GetBytes(in, length, text);
}

// The format of PackedFiles.java.
bool ParsePacked(Slice in, std::map<std::string, PackedLocation>* packed) {
  uint64_t packs = 0;
  if (!GetBigEndian(&in, 4, &packs)) return false;
  for (uint64_t i = 0; i < packs; ++i) {
    Slice pack, file;
    uint64_t files = 0;
    if (!GetUtf(&in, &pack) || !GetBigEndian(&in, 4, &files)) return false;
    for (uint64_t j = 0; j < files; ++j) {
      PackedLocation location{std::string(pack), 0, 0};
      if (!GetUtf(&in, &file) || !GetBigEndian(&in, 8, &location.offset) ||
          !GetBigEndian(&in, 8, &location.bytes))
        return false;
      if (!packed->emplace(file, std::move(location)).second) return false;
    }
  }
  return in.empty();
}

std::string InHex(Slice bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<uint8_t>(c) >> 4];
    hex += kDigits[c & 15];
  }
  return hex;
}

// in: kOriginBytes. Returns false for impossible key groups.
bool ParseOrigin(Slice in, CheckpointOrigin* out) {
  const auto number = [&in](size_t at) {
    return static_cast<int64_t>(DecodeBigEndian(in.data() + at, 8));
  };
  out->unique = InHex(in.substr(0, 16));
  out->job = InHex(in.substr(16, 16));
  out->checkpoint = static_cast<uint64_t>(number(32));
  out->first_key_group = BigEndian32(in.data() + 40);
  out->last_key_group = BigEndian32(in.data() + 44);
  out->ttl_time = {.time_ms = number(48), .lead_ms = number(56), .stood_ms = number(64)};
  return out->first_key_group <= out->last_key_group && out->last_key_group <= INT32_MAX;
}

// The SST whose footer ends at `end`, located by the positions in its footer.
bool SstEndingAt(Slice bytes, size_t end, Embedded* found) {
  const bool keys = DecodeFixed64(bytes.data() + end - 8) == ksst::kMagic;
  if (end < vsst::kFooterTailBytes) return false;
  const size_t footer_bytes =
      keys ? ksst::kFooterBytes : DecodeFixed32(bytes.data() + end - vsst::kFooterTailBytes);
  if (footer_bytes < vsst::kPlainFooterBytes || end < footer_bytes) return false;
  const char* footer_at = bytes.data() + end - footer_bytes;
  const uint64_t top_offset = DecodeFixed64(footer_at);  // the top index ends at the footer
  const uint64_t behind_top = uint64_t{DecodeFixed32(footer_at + 8)} + kBlockTrailerBytes;
  if (top_offset > end || top_offset + behind_top + footer_bytes > end) return false;
  found->bytes = top_offset + behind_top + footer_bytes;
  found->offset = end - found->bytes;
  const Slice tail(footer_at, footer_bytes);
  if (keys) {
    ksst::Footer footer;
    found->kind = FileKind::kKeySst;
    if (!ksst::DecodeFooter("", found->bytes, tail, &footer).ok()) return false;
    found->unique_id = footer.unique_id;
  } else {
    vsst::Footer footer;
    found->kind = FileKind::kValueSst;
    if (!vsst::DecodeFooter("", found->bytes, tail, &footer).ok()) return false;
    found->unique_id = footer.unique_id;
  }
  return true;
}

bool ParseHandle(Slice in, UploadedFile* out) {
  if (in.empty()) return false;
  const char type = in.front();
  in.remove_prefix(1);
  Slice name;
  if (type == kFileHandle) {
    if (!GetBigEndian(&in, 8, &out->bytes) || !GetUtf(&in, &name)) return false;
  } else if (type == kRelativeHandle) {
    if (!GetUtf(&in, &name) || !GetBigEndian(&in, 8, &out->bytes)) return false;
  } else if (type == kByteStreamHandle) {
    if (!GetUtf(&in, &name) || !GetBigEndian(&in, 4, &out->bytes)) return false;
    name = {};
  } else {
    return false;
  }
  out->base = BaseOf(std::string(name));
  return true;
}

}  // namespace

bool IsLavaCheckpoint(Slice head) {
  return head.size() >= kCheckpointMagic.size() + 4 && head.starts_with(kCheckpointMagic) &&
         head[8] == 0 && head[11] != 0;
}

Status ParseLavaCheckpoint(Slice bytes, const std::string& path, LavaCheckpoint* out) {
  if (!bytes.starts_with(kCheckpointMagic)) return Damaged(path, 0, "no magic of Lava's");
  if (bytes.size() < kHeaderBytes + kChecksumBytes)
    return Damaged(path, bytes.size(), "it ends inside its header");
  const size_t checked = bytes.size() - kChecksumBytes;
  if (BigEndian32(bytes.data() + checked) != Crc32c(bytes.substr(0, checked)))
    return Damaged(path, checked, "the checksum does not fit the bytes before");
  out->format_version = BigEndian32(bytes.data() + 8);
  if (out->format_version > kFormatVersion)
    return Status::NotSupported(path + ": format version " + std::to_string(out->format_version) +
                                ", this tool reads up to " + std::to_string(kFormatVersion));
  out->key_group_bytes = BigEndian32(bytes.data() + 12);
  out->state_meta_bytes = BigEndian32(bytes.data() + 16);
  out->state_meta_crc32c = BigEndian32(bytes.data() + 20);
  out->heap_timer_bytes = DecodeBigEndian(bytes.data() + 24, 8);
  out->heap_timer_crc32c = BigEndian32(bytes.data() + 32);
  Slice in = bytes.substr(kHeaderBytes, checked - kHeaderBytes), metadata;
  uint64_t packed_bytes = 0;
  const bool has_packs = out->format_version >= 2;
  if (out->format_version >= 3) {
    if (in.size() < kOriginBytes ||
        !ParseOrigin(in.substr(in.size() - kOriginBytes), &out->origin.emplace()))
      return Damaged(path, checked - std::min(in.size(), kOriginBytes),
                     "what says which checkpoint it is of is not whole");
    in.remove_suffix(kOriginBytes);
  }
  if (!GetBytes(&in, BigEndian32(bytes.data() + 36), &metadata) || (!has_packs && !in.empty()))
    return Damaged(path, 36, "the metadata's length does not fit the file");
  if (has_packs && (!GetBigEndian(&in, 4, &packed_bytes) || packed_bytes != in.size() ||
                    !ParsePacked(in, &out->packed)))
    return Damaged(path, kHeaderBytes + metadata.size(),
                   "what says which files lie in packs contradicts itself");
  out->metadata = metadata;
  return Status::OK();
}

std::vector<Embedded> FindEmbedded(Slice bytes) {
  std::vector<Embedded> found;
  for (size_t at = bytes.find(kCheckpointMagic); at != Slice::npos;
       at = bytes.find(kCheckpointMagic, at + 1)) {
    const uint64_t claimed = LavaCheckpointBytes(bytes.substr(at));
    if (claimed != 0) found.push_back({FileKind::kLavaCheckpoint, at, claimed, 0});
  }
  for (const uint64_t magic : {ksst::kMagic, vsst::kMagic}) {
    char mark[8];
    EncodeFixed64(mark, magic);
    const Slice marks(mark, sizeof(mark));
    for (size_t at = bytes.find(marks); at != Slice::npos; at = bytes.find(marks, at + 1)) {
      Embedded sst;
      if (SstEndingAt(bytes, at + marks.size(), &sst)) found.push_back(sst);
    }
  }
  return found;
}

bool FindUploaded(Slice flink_metadata, const std::string& file_name, UploadedFile* out) {
  std::string name;
  PutBigEndian(&name, file_name.size(), 2);
  name += file_name;
  for (size_t at = flink_metadata.find(name); at != Slice::npos;
       at = flink_metadata.find(name, at + 1)) {
    if (ParseHandle(flink_metadata.substr(at + name.size()), out)) return true;
  }
  return false;
}

}  // namespace lava::inspect
