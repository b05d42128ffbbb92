// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/block.h"
#include "base/coding.h"
#include "base/hash.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "table/table_writer.h"

namespace lava {

std::string PrefixEnd(Slice prefix) {
  size_t bytes = prefix.size();
  while (bytes > 0 && static_cast<unsigned char>(prefix[bytes - 1]) == 0xff) --bytes;
  std::string end(prefix.substr(0, bytes));
  if (bytes > 0) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

namespace ksst {
namespace {

void PutHandle(const BlockHandle& handle, std::string* out) {
  PutFixed64(out, handle.offset);
  PutFixed32(out, handle.bytes);
}

BlockHandle ReadHandle(const char* from) {
  return BlockHandle{DecodeFixed64(from), DecodeFixed32(from + 8)};
}

/// Whether the block lies wholly before end; a handle that would overflow does not.
bool Fits(const BlockHandle& handle, uint64_t end) {
  return handle.offset <= end && handle.bytes <= end - handle.offset &&
         kBlockTrailerBytes <= end - handle.offset - handle.bytes;
}

}  // namespace

void EncodeFooter(const Footer& footer, uint64_t offset, std::string* out) {
  std::string bytes;
  PutHandle(footer.top_index, &bytes);
  PutHandle(footer.properties, &bytes);
  PutHandle(footer.tombstones, &bytes);
  PutFixed64(&bytes, footer.unique_id);
  PutFixed32(&bytes, kFooterBytes);
  PutFixed32(&bytes, footer.version);
  PutFixed64(&bytes, Hash64(bytes, offset));
  PutFixed64(&bytes, kMagic);
  out->append(bytes);
}

/// Checks the tail that all versions share: footer bytes, version, checksum, magic.
static Status CheckFooterTail(const std::string& path, uint64_t file_bytes, Slice tail) {
  if (tail.size() < kFooterTailBytes) {
    return CorruptionAt(path, 0,
                        "a key SST has at least " + std::to_string(kFooterBytes) +
                            " bytes, this file has " + std::to_string(file_bytes));
  }
  const char* fixed = tail.data() + tail.size() - kFooterTailBytes;
  if (DecodeFixed64(fixed + 16) != kMagic) {
    return CorruptionAt(path, file_bytes - 8,
                        "expected the magic number of a key SST: the file is cut short, "
                        "overwritten or no key SST");
  }
  uint32_t bytes = DecodeFixed32(fixed);
  uint32_t version = DecodeFixed32(fixed + 4);
  // The footer of a newer version may be longer than the tail that was read. Its checksum cannot be
  // verified then.
  bool whole = bytes >= kFooterTailBytes && bytes <= tail.size();
  bool intact = whole && Hash64(tail.substr(tail.size() - bytes, bytes - 16), file_bytes - bytes) ==
                             DecodeFixed64(fixed + 8);
  bool longer = bytes > kFooterBytes && bytes <= kFooterBytesMax && bytes <= file_bytes;
  if (version > kFormatVersion && (intact || longer)) {
    return Status::NotSupported(path + ": key SST of format version " + std::to_string(version) +
                                ", this library reads up to version " +
                                std::to_string(kFormatVersion) + ": use a newer library");
  }
  if (!intact || version < kFormatVersionOldest || bytes != kFooterBytes) {
    return CorruptionAt(path, file_bytes - std::min<uint64_t>(file_bytes, kFooterBytes),
                        "the footer's checksum is wrong");
  }
  return Status::OK();
}

Status DecodeFooter(const std::string& path, uint64_t file_bytes, Slice tail, Footer* footer) {
  LAVA_RETURN_IF_ERROR(CheckFooterTail(path, file_bytes, tail));
  const char* from = tail.data() + tail.size() - kFooterBytes;
  footer->top_index = ReadHandle(from);
  footer->properties = ReadHandle(from + 12);
  footer->tombstones = ReadHandle(from + 24);
  footer->unique_id = DecodeFixed64(from + 36);
  footer->version = DecodeFixed32(from + 48);
  uint64_t offset = file_bytes - kFooterBytes;
  // The blocks before the footer follow each other without a gap: tombstones (if any), properties,
  // top index.
  const BlockHandle& tombstones = footer->tombstones;
  bool has_tombstones = tombstones.bytes != 0;
  if (!Fits(footer->top_index, offset) || footer->top_index.end() != offset ||
      !Fits(footer->properties, offset) || footer->properties.end() != footer->top_index.offset ||
      (has_tombstones &&
       (!Fits(tombstones, offset) || tombstones.end() != footer->properties.offset)) ||
      (!has_tombstones && tombstones.offset != 0)) {
    return CorruptionAt(path, offset, "the footer names blocks that do not end where they must");
  }
  return Status::OK();
}

std::string Separator(Slice low, Slice high, size_t keep) {
  size_t shared = 0;
  size_t limit = std::min(low.size(), high.size());
  while (shared < limit && low[shared] == high[shared]) ++shared;
  // With low < high and `shared` equal bytes, the first shared + 1 bytes of high are above low. The
  // first shared + 1 bytes of low will do as well if the last of them can be raised and stay below
  // high.
  size_t bytes = std::max(shared + 1, keep);
  if (bytes >= low.size() || shared >= limit) return std::string(low);
  if (shared >= keep) {
    unsigned char next = static_cast<unsigned char>(low[shared]);
    if (next + 1 < static_cast<unsigned char>(high[shared])) {
      std::string result(low.substr(0, shared + 1));
      result.back() = static_cast<char>(next + 1);
      return result;
    }
    // The first shared + 1 bytes of high are above low, and below high if high is longer.
    if (high.size() > shared + 1) return std::string(high.substr(0, shared + 1));
  }
  return std::string(low);
}

}  // namespace ksst
}  // namespace lava
