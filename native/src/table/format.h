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

/// The parts of a key SST that all of its code shares; docs/ksst-format.md has the bytes.

inline constexpr uint64_t kMagic = 0x315453536176616cull;  // "lavaSST1" as bytes
inline constexpr uint32_t kFormatVersion = 4;              // lists with parts; the newest
inline constexpr uint32_t kFormatVersionDecoupled = 3;     // decoupled records
inline constexpr uint32_t kFormatVersionReferences = 2;    // references, in data blocks
inline constexpr uint32_t kFormatVersionOldest = 1;        // no references
inline constexpr size_t kFooterBytes = 68;
inline constexpr size_t kFooterTailBytes = 24;     // of every version: bytes, version, sum, magic
inline constexpr uint32_t kFooterBytesMax = 4096;  // of every version
/// Limits of one record: a user's key gets the table id, a value stands for itself.
inline constexpr uint64_t kInternalKeyBytesMax = kKeyBytesMax + 64;
inline uint64_t PointHash(Slice key) { return Hash64(key); }  // Lookup::key_hash()
inline uint64_t PrefixHash(Slice prefix) { return Hash64(prefix, 0x70726566697821ull); }
inline uint64_t PrefixDeleteHash(Slice prefix) { return Hash64(prefix, 0x7072656664656cull); }
/// The hash of a decoupled record, from its key's. The filter so tells where a key's record stands,
/// and from the same line: that is chosen by the upper half.
inline uint64_t DecoupledHash(uint64_t hash) { return hash ^ 0x9b05688c; }
/// What a data block keeps of a record's hash.
inline uint8_t FingerprintOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 13); }

/// Kinds of record as a set of bits.
using RecordKinds = uint32_t;
constexpr RecordKinds KindBit(RecordKind kind) { return 1u << static_cast<uint32_t>(kind); }
/// Decoupled records: from version 3 on they stand in partition blocks, the others in data blocks.
inline constexpr RecordKinds kDecoupledKinds = KindBit(RecordKind::kDelete) |
                                               KindBit(RecordKind::kPrefixDelete) |
                                               KindBit(RecordKind::kPutReference);
inline constexpr RecordKinds kInlineKinds =
    KindBit(RecordKind::kPut) | KindBit(RecordKind::kAppend);
inline constexpr RecordKinds kListKinds =
    KindBit(RecordKind::kPutParts) | KindBit(RecordKind::kAppendParts);
/// What data blocks hold.
constexpr RecordKinds DataBlockKinds(uint32_t version) {
  if (version < kFormatVersionDecoupled) return kInlineKinds | kDecoupledKinds;
  return version < kFormatVersion ? kInlineKinds : kInlineKinds | kListKinds;
}

struct Footer {
  BlockHandle top_index, properties, tombstones;
  uint64_t unique_id = 0;  // mixed into every block's checksum
  uint32_t version = kFormatVersion;
};

/// Appends the footer for a file in which it begins at offset.
void EncodeFooter(const Footer& footer, uint64_t offset, std::string* out);
/// tail: the last min(file_bytes, kFooterBytes) bytes of the file.
/// Errors: Corruption; NotSupported for a newer version, naming both.
Status DecodeFooter(const std::string& path, uint64_t file_bytes, Slice tail, Footer* footer);

/// The shortest-ish key s with low <= s < high that keeps at least keep bytes of what low and
/// high share, so that the partition and table id stay readable.
std::string Separator(Slice low, Slice high, size_t keep);

}  // namespace lava::ksst
