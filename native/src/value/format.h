#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/block.h"
#include "base/file_id.h"
#include "base/hash.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/value_file.h"

namespace lava::vsst {

/// The parts of a value SST that all of its code shares; docs/vsst-format.md has the bytes.

inline constexpr uint64_t kMagic = 0x314c41566176616cull;  // "lavaVAL1" as bytes
/// Sorted files without a dictionary are of version 1, so that older libraries read them, with one
/// of version 2; version 3 are value logs, version 4 those with several births.
inline constexpr uint32_t kFormatVersion = 4;
inline constexpr size_t kPlainFooterBytes = 56;    // of all versions but 2
inline constexpr size_t kFooterBytes = 68;         // of version 2
inline constexpr size_t kFooterTailBytes = 24;     // of every version: bytes, version, sum, magic
inline constexpr uint32_t kFooterBytesMax = 4096;  // of every version
/// Limits of one record: a user's key gets the table id, a value may be a whole list.
inline constexpr uint64_t kRecordKeyBytesMax = kKeyBytesMax + 64;
inline constexpr uint64_t kRecordValueBytesMax = kListBytesMax;
/// Three lengths of a byte each, and a trailer.
inline constexpr uint64_t kRecordBytesMin = 3 + kBlockTrailerBytes;
inline constexpr uint64_t kRecordOverheadBytesMax = 3 * 5 + kBlockTrailerBytes;
inline constexpr size_t kKeyBlockBytes = 16384;  // of the dense key index, before compression

/// Buffers of a larger record are not kept for the next.
inline constexpr size_t kBufferKeptBytesMax = 1 << 20;

/// Mixed into a file's checksums: its name without its directory is unique over all instances,
/// wherever it is copied to.
inline uint64_t UniqueIdOf(Slice path) { return Hash64(path.substr(path.rfind('/') + 1)); }
inline uint64_t KeyHash(Slice key) { return Hash64(key); }
/// Bits that neither the filters nor the fingerprints of key SSTs look at.
inline uint8_t FingerprintOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 32); }

struct Footer {
  BlockHandle top_index, properties;  // of a value log: the log index stands for the top index
  uint64_t unique_id = 0;             // mixed into every checksum
  BlockHandle dictionary{};           // no bytes: none
  bool is_log = false;                // records in the order in which they were put
  bool has_births = false;            // a log whose index has them

  bool has_dictionary() const { return dictionary.bytes != 0; }
  uint32_t version() const {
    if (is_log) return has_births ? 4 : 3;
    return has_dictionary() ? 2 : 1;
  }
  size_t bytes() const { return has_dictionary() ? kFooterBytes : kPlainFooterBytes; }
  /// Where the last partition ends.
  uint64_t index_end() const { return has_dictionary() ? dictionary.offset : properties.offset; }
};

/// Appends the footer for a file in which it begins at offset.
void EncodeFooter(const Footer& footer, uint64_t offset, std::string* out);
/// tail: the last min(file_bytes, kFooterBytes) bytes of the file.
/// Errors: Corruption; NotSupported for a newer version, naming both.
Status DecodeFooter(const std::string& path, uint64_t file_bytes, Slice tail, Footer* footer);

struct RecordView {
  uint32_t birth = 0;  // index into the file's births
  Slice key;
  StoredValue value;
  uint64_t bytes = 0;  // of the whole record
};

/// Replaces *out by the whole record that is to stand at offset.
void EncodeRecord(uint64_t unique_id, uint64_t offset, uint32_t birth, Slice key,
                  const StoredValue& value, std::string* out);

/// Replaces *out by what of a record stands before its stored value.
void EncodeRecordFront(uint32_t birth, Slice key, uint64_t stored_bytes, std::string* out);

/// Where records come from, for checksums and messages.
struct RecordSource {
  const std::string& path;
  uint64_t unique_id;
  size_t birth_count;
  bool has_dictionary = false;
};
/// Decodes and checks the record that begins at offset and at the front of bytes, which may go on
/// behind it. The view borrows from bytes; its value is checked, but for what only decompressing
/// it tells.
Status DecodeRecord(const RecordSource& source, uint64_t offset, Slice bytes, RecordView* record);

/// What to say of a record that is not what was written.
Status WrongChecksum(const std::string& path, uint64_t offset, uint64_t record_bytes);

/// Reads the lengths of the record whose first bytes are front, kRecordFrontBytes or all that is
/// left; null, or what is wrong. room: from its beginning to where records end.
const char* RecordBytes(Slice front, uint64_t room, uint64_t* bytes);
inline constexpr size_t kRecordFrontBytes = 15;

/// Bytes of the stored value in a record of a value log.
uint64_t StoredBytesOf(uint32_t birth, uint64_t key_bytes, uint64_t record_bytes);

/// births: in the order of their indexes.
void EncodeProperties(const ValueFileProperties& properties, std::span<const BirthShare> births,
                      std::string* out);
/// Null, or what is wrong. births gets the order of the indexes, properties->births is sorted.
const char* DecodeProperties(Slice in, ValueFileProperties* properties,
                             std::vector<FileId>* births);
/// Sorts births and tells whether any is there twice.
bool SortBirths(std::vector<BirthShare>* births);

}  // namespace lava::vsst
