// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "base/block.h"
#include "base/hash.h"
#include "base/record.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::ksst {

/// Parts of the key SST format (docs/ksst-format.md) that all of its code shares.

inline constexpr uint64_t kMagic = 0x315453536176616cull;  // "lavaSST1" as bytes
inline constexpr uint32_t kFormatVersion = 4;              // lists with parts; the newest
inline constexpr uint32_t kFormatVersionDecoupled = 3;     // decoupled records
inline constexpr uint32_t kFormatVersionReferences = 2;    // references, in data blocks
inline constexpr uint32_t kFormatVersionOldest = 1;        // no references
inline constexpr size_t kFooterBytes = 68;
inline constexpr size_t kFooterTailBytes = 24;     // of every version: bytes, version, sum, magic
inline constexpr uint32_t kFooterBytesMax = 4096;  // of every version
/// Limit of a record's key: a user's key and the table id.
inline constexpr uint64_t kInternalKeyBytesMax = kKeyBytesMax + 64;
inline uint64_t PointHash(Slice key) { return Hash64(key); }  // Lookup::key_hash()
inline uint64_t PrefixHash(Slice prefix) { return Hash64(prefix, 0x70726566697821ull); }
inline uint64_t PrefixDeleteHash(Slice prefix) { return Hash64(prefix, 0x7072656664656cull); }
/// The hash of a decoupled record, computed from that of its key. Thus the filter also tells in
/// which of the two places a key's record stands. Both hashes use the same filter line, because
/// their upper halves, which select the line, are equal.
inline uint64_t DecoupledHash(uint64_t hash) { return hash ^ 0x9b05688c; }
/// The byte of a record's hash that its data block stores.
inline uint8_t FingerprintOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 13); }

/// Kinds of record as a set of bits.
using RecordKinds = uint32_t;
constexpr RecordKinds KindBit(RecordKind kind) { return 1u << static_cast<uint32_t>(kind); }
/// Decoupled records: from version 3 on they stand in index partition blocks, all others in data
/// blocks.
inline constexpr RecordKinds kDecoupledKinds = KindBit(RecordKind::kDelete) |
                                               KindBit(RecordKind::kPrefixDelete) |
                                               KindBit(RecordKind::kPutReference);
inline constexpr RecordKinds kInlineKinds =
    KindBit(RecordKind::kPut) | KindBit(RecordKind::kAppend);
inline constexpr RecordKinds kListKinds =
    KindBit(RecordKind::kPutParts) | KindBit(RecordKind::kAppendParts);
/// The kinds of record in data blocks.
constexpr RecordKinds DataBlockKinds(uint32_t version) {
  if (version < kFormatVersionDecoupled) return kInlineKinds | kDecoupledKinds;
  return version < kFormatVersion ? kInlineKinds : kInlineKinds | kListKinds;
}

struct Footer {
  BlockHandle top_index, properties, tombstones;
  uint64_t unique_id = 0;  // mixed into every block's checksum
  uint32_t version = kFormatVersion;
};

/// Appends the footer. offset: where the footer begins in the file.
void EncodeFooter(const Footer& footer, uint64_t offset, std::string* out);
/// tail: the last min(file_bytes, kFooterBytes) bytes of the file.
/// Errors: Corruption; NotSupported for a newer version, whose message names both versions.
Status DecodeFooter(const std::string& path, uint64_t file_bytes, Slice tail, Footer* footer);

/// A short key s with low <= s < high. s keeps at least `keep` bytes of the prefix that low and
/// high share, so that partition and table id stay readable.
std::string Separator(Slice low, Slice high, size_t keep);

}  // namespace lava::ksst
