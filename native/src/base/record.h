// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// The kinds of record in a run or file. The numbers are stored on disk.
enum class RecordKind : uint8_t {
  kPut = 1,           // the key's value
  kDelete = 2,        // hides the key in older runs
  kAppend = 3,        // list segments to append to the list in older runs
  kPrefixDelete = 4,  // hides all keys with this prefix in older runs, never in its own run
  kPutReference = 5,  // kPut whose value is in a value file: see value_reference.h
  kPutParts = 6,      // kPut of a list with parts in value files: see list_parts.h
  kAppendParts = 7,   // kAppend of segments with parts in value files
};

constexpr bool IsAppend(RecordKind kind) {
  return kind == RecordKind::kAppend || kind == RecordKind::kAppendParts;
}
constexpr bool HasParts(RecordKind kind) {
  return kind == RecordKind::kPutParts || kind == RecordKind::kAppendParts;
}
/// The corresponding kind for a list without parts in value files.
constexpr RecordKind WithoutParts(RecordKind kind) {
  if (kind == RecordKind::kPutParts) return RecordKind::kPut;
  return kind == RecordKind::kAppendParts ? RecordKind::kAppend : kind;
}
/// The corresponding kind for a list with parts in value files.
constexpr RecordKind WithParts(RecordKind kind) {
  return IsAppend(kind) ? RecordKind::kAppendParts : RecordKind::kPutParts;
}

/// One record of a run. The key is an internal key: partition bytes, table id, rest.
struct Record {
  Slice key;
  RecordKind kind = RecordKind::kPut;
  uint32_t prefix_bytes = 0;  // of the internal key; 0: the key belongs to no deletable prefix
  Slice value;
};

/// Iterates over the records of one run or a merge of runs: ascending by key, a kPrefixDelete
/// before a point record of the same key.
/// Threads:    one thread at a time.
/// Ownership:  the slices of record() are valid until the next non-const call.
/// Errors:     an error ends the iteration: Valid() is false and status() has the error. Check
///             status() whenever Valid() turns false.
class RecordIterator {
 public:
  virtual ~RecordIterator() = default;
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  /// Moves to the first record with key >= target.
  virtual void Seek(Slice target) = 0;
  virtual void Next() = 0;
  virtual const Record& record() const = 0;
  virtual Status status() const = 0;
};

/// Base of data that an owner attaches to an object of a lower layer, which does not know the type.
struct Attachment {
  virtual ~Attachment() = default;
};

}  // namespace lava
