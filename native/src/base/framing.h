// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// The record format of all logs. A record is a header of 21 bytes, then its payload; numbers are
/// little endian:
///   0  u32  CRC32C of the log's file id (8 bytes, not stored) and the header's other bytes
///   4  u32  length of the payload
///   8  u32  CRC32C of the payload
///   12 u8   type, defined by the log's owner
///   13 u64  sequence number, one more than the previous record's
/// The header has a checksum of its own, so a damaged length is never mistaken for the end of the
/// log. The file id prevents records of an older log in reused space from being read as records of
/// this log.
inline constexpr size_t kFrameHeaderBytes = 21;
inline constexpr uint32_t kFramePayloadBytesMax = 1u << 30;

/// Encodes records. Threads: one. Ownership: borrows payloads during the call.
class FrameWriter {
 public:
  explicit FrameWriter(uint64_t file_id, uint64_t first_sequence = 0)
      : file_id_(file_id), next_sequence_(first_sequence) {}

  /// Appends one record to *out. Errors: InvalidArgument above kFramePayloadBytesMax.
  Status Append(uint8_t type, Slice payload, std::string* out);
  /// Passes one record to sink in two pieces, header and payload. If sink fails, nothing more may
  /// be appended to the log, because the log may end with a partial record.
  using Sink = std::function<Status(Slice)>;
  Status Append(uint8_t type, Slice payload, const Sink& sink);

  uint64_t next_sequence() const { return next_sequence_; }

 private:
  void MakeHeader(uint8_t type, Slice payload, char* header);

  uint64_t file_id_;
  uint64_t next_sequence_;
};

/// One record that was read; payload borrows from the log's bytes.
struct Frame {
  uint8_t type = 0;
  uint64_t sequence = 0;
  uint64_t offset = 0;  // of its header, in the file
  Slice payload;
};

/// Decides whether an unsound record behind the durable length is a torn tail or Corruption. Below
/// the durable length an unsound record is always Corruption.
enum class TailRule : uint8_t {
  /// Only missing bytes are a torn tail: the log is complete except for a write that was cut off
  /// when the process was killed.
  kTruncated,
  /// The writer syncs every record before it writes the next: an unsound record is a torn tail only
  /// if no sound record with a later sequence follows.
  kLastUnsynced,
  /// Records were written without syncs in between: the log ends at the first unsound record, see
  /// durable_of.
  kUnsynced,
};

/// Reads records from the whole bytes of a log.
/// Threads:    one.
/// Ownership:  borrows bytes and returns slices of them.
/// Errors:     kCorruption: status() names the log, the offset and the defect; final.
class FrameReader {
 public:
  struct Options {
    std::string name;  // the log's path, for messages
    uint64_t file_id = 0;
    uint64_t first_sequence = 0;
    uint64_t durable_bytes = 0;  // file length known to be on the device
    TailRule tail_rule = TailRule::kTruncated;
    /// File offset of the first byte. All other offsets here are file offsets.
    uint64_t base_offset = 0;
    /// For kUnsynced, if records carry it: the file's durable length when the record was written.
    /// An unsound record below the durable length of a later sound record is Corruption, not a torn
    /// tail.
    std::function<uint64_t(const Frame&)> durable_of = nullptr;
  };
  enum class Outcome : uint8_t {
    kFrame,       // *frame was filled
    kEnd,         // all bytes were records
    kTornTail,    // the records end at offset(); later bytes were never acknowledged
    kCorruption,  // see status()
  };

  FrameReader(Slice bytes, Options options);

  /// Reads the single record that fills bytes_at exactly.
  /// offset: the record's offset in the file. Errors: Corruption, naming name and offset.
  static Status ReadOne(Slice bytes_at, const std::string& name, uint64_t file_id, uint64_t offset,
                        Frame* frame);

  Outcome Next(Frame* frame);
  /// End of the last sound record, where the next one begins.
  uint64_t offset() const { return options_.base_offset + offset_; }
  uint64_t next_sequence() const { return next_sequence_; }
  const Status& status() const { return status_; }

 private:
  // State of the record at an offset, judged without its neighbours.
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
