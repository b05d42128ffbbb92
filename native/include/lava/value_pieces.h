// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// Larger values are transferred in pieces where possible. Units: bytes.
inline constexpr uint64_t kWholeBytesMax = 1 << 20;
/// The largest piece. Units: bytes.
inline constexpr size_t kPieceBytes = 512 << 10;

/// Source of the bytes of a large value, for DB::PutFrom() and AppendFrom().
/// Threads:    the thread of the DB call, which may hold locks of the instance: the source must not
///             call the instance.
/// Ownership:  the caller's; must outlive the DB call.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  /// Must not change.
  virtual uint64_t size() const = 0;
  /// Copies bytes [offset, offset + length) to `to`; length is at most kPieceBytes. One DB call
  /// reads each byte once, in order.
  /// Errors: any. The DB call then fails with the error, and no part of the value becomes visible.
  virtual Status Read(uint64_t offset, size_t length, char* to) = 0;
};

/// Copies the whole source to its size() bytes at `to`. Errors: the source's.
inline Status ReadWhole(ValueSource* source, char* to) {
  for (uint64_t at = 0; at < source->size();) {
    const uint64_t left = source->size() - at;
    const size_t length = left < kPieceBytes ? static_cast<size_t>(left) : kPieceBytes;
    LAVA_RETURN_IF_ERROR(source->Read(at, length, to + at));
    at += length;
  }
  return Status::OK();
}

/// Destination of the bytes of a large value, for DB::GetTo().
/// Threads:    the thread of the DB call.
/// Ownership:  the caller's; must outlive the DB call. A piece is valid during Add() only.
class ValueSink {
 public:
  virtual ~ValueSink() = default;
  /// Called once, before the first piece, with the number of bytes. False: the sink wants none of
  /// them; the DB call then returns OK.
  virtual bool Begin(uint64_t bytes) = 0;
  /// The next bytes. Larger than kPieceBytes if the value is not read in pieces.
  /// Errors: any. The DB call then fails with the error.
  virtual Status Add(Slice piece) = 0;
};

}  // namespace lava
