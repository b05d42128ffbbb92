#pragma once

#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// The kinds of record in a run or file. The numbers are on disk.
enum class RecordKind : uint8_t {
  kPut = 1,           // the key's value
  kDelete = 2,        // hides the key in older runs
  kAppend = 3,        // list segments to put behind what older runs hold
  kPrefixDelete = 4,  // hides all keys that start with this key in older runs; never in its own
  kPutReference = 5,  // kPut whose value is in a value file: see value_reference.h
  kPutParts = 6,      // kPut of a list of which parts are in value files: see list_parts.h
  kAppendParts = 7,   // kAppend of segments of which parts are there
};

constexpr bool IsAppend(RecordKind kind) {
  return kind == RecordKind::kAppend || kind == RecordKind::kAppendParts;
}
constexpr bool HasParts(RecordKind kind) {
  return kind == RecordKind::kPutParts || kind == RecordKind::kAppendParts;
}
/// The same of a list that has no parts elsewhere.
constexpr RecordKind WithoutParts(RecordKind kind) {
  if (kind == RecordKind::kPutParts) return RecordKind::kPut;
  return kind == RecordKind::kAppendParts ? RecordKind::kAppend : kind;
}
/// The same of a list that has.
constexpr RecordKind WithParts(RecordKind kind) {
  return IsAppend(kind) ? RecordKind::kAppendParts : RecordKind::kPutParts;
}

/// One record as it stands in a run. Keys here are internal keys: partition bytes, table id, rest.
struct Record {
  Slice key;
  RecordKind kind = RecordKind::kPut;
  uint32_t prefix_bytes = 0;  // of the internal key; 0: the key belongs to no deletable prefix
  Slice value;
};

/// Walks the records of one run or a merge of runs: ascending by key, a kPrefixDelete before a
/// point record of the same key.
/// Threads:    one thread at a time.
/// Ownership:  key() and value() are valid until the next call that is not const.
/// Errors:     an error ends the walk: Valid() is false and status() says why. Check status()
///             whenever Valid() turns false.
class RecordIterator {
 public:
  virtual ~RecordIterator() = default;
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  /// To the first record with key >= target.
  virtual void Seek(Slice target) = 0;
  virtual void Next() = 0;
  virtual const Record& record() const = 0;
  virtual Status status() const = 0;
};

/// What an owner may hang onto a lower layer's object without that layer knowing its type.
struct Attachment {
  virtual ~Attachment() = default;
};

}  // namespace lava
