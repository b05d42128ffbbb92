#pragma once

#include <cstddef>
#include <cstdint>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// Values of more than this come and go in pieces, where they can.
inline constexpr uint64_t kWholeBytesMax = 1 << 20;
/// No piece is larger. Units: bytes.
inline constexpr size_t kPieceBytes = 512 << 10;

/// Where the bytes of a large value come from, for DB::PutFrom() and AppendFrom().
/// Threads:    of the call that it was given to, which may hold locks of the instance: it must not
///             call the instance.
/// Ownership:  of the caller; it must outlive the call.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  /// Always the same.
  virtual uint64_t size() const = 0;
  /// Copies bytes [offset, offset + length) to `to`; length is at most kPieceBytes. Within one call
  /// of the instance each byte is asked for once, in order.
  /// Errors: any; the call fails with it, and nothing of the value is ever seen.
  virtual Status Read(uint64_t offset, size_t length, char* to) = 0;
};

/// Copies all of it to its size() bytes at `to`. Errors: the source's.
inline Status ReadWhole(ValueSource* source, char* to) {
  for (uint64_t at = 0; at < source->size();) {
    const uint64_t left = source->size() - at;
    const size_t length = left < kPieceBytes ? static_cast<size_t>(left) : kPieceBytes;
    LAVA_RETURN_IF_ERROR(source->Read(at, length, to + at));
    at += length;
  }
  return Status::OK();
}

/// Where the bytes of a large value go, for DB::GetTo().
/// Threads:    of the call that it was given to.
/// Ownership:  of the caller; it must outlive the call. A piece is valid for the length of Add().
class ValueSink {
 public:
  virtual ~ValueSink() = default;
  /// Once, before the first piece: how many bytes will come. False: none are wanted; the call then
  /// returns OK.
  virtual bool Begin(uint64_t bytes) = 0;
  /// The next bytes; a piece that is not read in pieces may be larger than kPieceBytes.
  /// Errors: any; the call fails with it.
  virtual Status Add(Slice piece) = 0;
};

}  // namespace lava
