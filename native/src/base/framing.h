#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// The one framing of records in all logs. A record is a header of 21 bytes, then its payload;
/// numbers are little endian:
///   0  u32  CRC32C of the header's other bytes and of the log's file id (8 bytes, not stored)
///   4  u32  length of the payload
///   8  u32  CRC32C of the payload
///   12 u8   type, the owner's
///   13 u64  sequence, one more than the record's before
/// The header vouches for the length by itself, so a damaged length is never taken for the end of
/// the log; the file id keeps bytes of an older log in a reused place from being read as records.
inline constexpr size_t kFrameHeaderBytes = 21;
inline constexpr uint32_t kFramePayloadBytesMax = 1u << 30;

/// Makes records. Threads: one. Ownership: borrows payloads during the call.
class FrameWriter {
 public:
  explicit FrameWriter(uint64_t file_id, uint64_t first_sequence = 0)
      : file_id_(file_id), next_sequence_(first_sequence) {}

  /// Appends one record to *out. Errors: InvalidArgument above kFramePayloadBytesMax.
  Status Append(uint8_t type, Slice payload, std::string* out);
  /// Hands one record to sink in two pieces, header and payload. When sink fails the log is
  /// useless: nothing may be appended behind a piece of a record.
  using Sink = std::function<Status(Slice)>;
  Status Append(uint8_t type, Slice payload, const Sink& sink);

  uint64_t next_sequence() const { return next_sequence_; }

 private:
  void MakeHeader(uint8_t type, Slice payload, char* header);

  uint64_t file_id_;
  uint64_t next_sequence_;
};

/// One record as it was read; payload borrows from the log's bytes.
struct Frame {
  uint8_t type = 0;
  uint64_t sequence = 0;
  uint64_t offset = 0;  // of its header, in the file
  Slice payload;
};

/// What an unsound record behind the durable length may be. Below it is always Corruption.
enum class TailRule : uint8_t {
  /// Only missing bytes are a torn tail: the log is whole but for a write that a process kill cut.
  kTruncated,
  /// The writer syncs every record before the next: an unsound record is a torn tail only when no
  /// sound record with a later sequence follows.
  kLastUnsynced,
  /// Records were written without syncs between: the log ends at the first unsound one.
  kUnsynced,
};

/// Reads records from the whole bytes of a log.
/// Threads:    one.
/// Ownership:  borrows bytes and gives out slices of them.
/// Errors:     kCorruption: status() names the log, the offset and what is wrong; final.
class FrameReader {
 public:
  struct Options {
    std::string name;  // the log's path, for messages
    uint64_t file_id = 0;
    uint64_t first_sequence = 0;
    uint64_t durable_bytes = 0;  // known from elsewhere to be on the device
    TailRule tail_rule = TailRule::kTruncated;
    /// Where the bytes begin in the file, whose offsets all others here are.
    uint64_t base_offset = 0;
    /// With kUnsynced: up to where the file had been synced when a record was written, if records
    /// say so. An unsound record below what a sound one behind it says is damage, not a torn tail.
    std::function<uint64_t(const Frame&)> durable_of = nullptr;
  };
  enum class Outcome : uint8_t {
    kFrame,       // *frame was filled
    kEnd,         // all bytes were records
    kTornTail,    // the records end at offset(); what is behind was never acknowledged
    kCorruption,  // see status()
  };

  FrameReader(Slice bytes, Options options);

  /// One record by itself, which begins at the front of bytes_at and must end with them.
  /// offset: of it in the file. Errors: Corruption, naming name and offset.
  static Status ReadOne(Slice bytes_at, const std::string& name, uint64_t file_id, uint64_t offset,
                        Frame* frame);

  Outcome Next(Frame* frame);
  /// Behind the last sound record; where the next one begins.
  uint64_t offset() const { return options_.base_offset + offset_; }
  uint64_t next_sequence() const { return next_sequence_; }
  const Status& status() const { return status_; }

 private:
  // What stands at an offset, seen without the neighbours.
  enum class Soundness : uint8_t { kSound, kCutOff, kBadHeader, kBadPayload };
  Soundness Judge(uint64_t offset, Frame* frame, uint64_t* end) const;
  bool LaterRecordBehind(const std::function<bool(const Frame&)>& counts) const;
  Outcome Unsound(Soundness soundness);
  Outcome Corrupt(const std::string& what);

  Slice bytes_;
  Options options_;
  uint64_t offset_ = 0;  // in bytes_
  uint64_t next_sequence_;
  bool torn_ = false;
  Status status_;
};

}  // namespace lava
