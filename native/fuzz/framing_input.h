// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/framing.h"
#include "fuzz/fuzz_input.h"

namespace lava::fuzzing {

/// Record framing. An input's first byte: bits 0 and 1 are the tail rule, bit 2 selects the format
/// of the rest, bits 3 and 4 determine the durable part (nothing, a half, all, all and one byte).
///   bit 2 clear: the rest is the log;
///   bit 2 set:   a count of records, for each its length u8 and payload; then edits of the
///                resulting log: position u16 and a byte to XOR, zero to cut the log there.
/// For any log, the records read must be its own bytes, one after the other, and encode to these
/// bytes again; the kind of the end must follow the tail rule.
inline constexpr uint64_t kFramingFileId = 42;
inline constexpr uint64_t kFramingFirstSequence = 7;

inline std::string FramingLog(InputReader* in) {
  FrameWriter writer(kFramingFileId, kFramingFirstSequence);
  std::string log;
  for (uint8_t count = in->Byte() % 16; count > 0; --count) {
    const uint8_t length = in->Byte();
    if (!writer.Append(static_cast<uint8_t>(length % 5), in->Take(length), &log).ok())
      FuzzFailed("framing", "a good record");
  }
  while (!in->done() && !log.empty()) {
    const size_t at = in->Short() % log.size();
    const uint8_t change = in->Byte();
    if (change == 0) {
      log.resize(at);
    } else {
      log[at] = static_cast<char>(log[at] ^ change);
    }
  }
  return log;
}

inline void CheckFrame(Slice log, const FrameReader& reader, const Frame& frame, uint64_t begin) {
  if (frame.offset != begin || reader.offset() > log.size() || reader.offset() <= begin)
    FuzzFailed("framing", "a record does not follow the one before it");
  if (frame.payload.data() != log.data() + begin + kFrameHeaderBytes ||
      frame.payload.data() + frame.payload.size() != log.data() + reader.offset())
    FuzzFailed("framing", "a payload is not part of the log's bytes");
  std::string again;
  FrameWriter writer(kFramingFileId, frame.sequence);
  if (!writer.Append(frame.type, frame.payload, &again).ok() ||
      again != log.substr(begin, reader.offset() - begin))
    FuzzFailed("framing", "a record does not encode to the bytes that it was read from");
}

/// Whether not even a header is complete, or an intact header announces more bytes than exist.
inline bool IsCutOff(Slice rest) {
  if (rest.size() < kFrameHeaderBytes) return true;
  std::string header;
  PutFixed64(&header, kFramingFileId);
  header += rest.substr(4, kFrameHeaderBytes - 4);
  return DecodeFixed32(rest.data()) == Crc32c(header) &&
         DecodeFixed32(rest.data() + 4) > rest.size() - kFrameHeaderBytes;
}

inline void CheckEnd(Slice log, const FrameReader& reader, const FrameReader::Options& options,
                     FrameReader::Outcome outcome) {
  switch (outcome) {
    case FrameReader::Outcome::kEnd:
      if (reader.offset() != log.size() || log.size() < options.durable_bytes)
        FuzzFailed("framing", "the reader reported a clean end before the end of the log");
      break;
    case FrameReader::Outcome::kTornTail:
      if (reader.offset() >= log.size() || reader.offset() < options.durable_bytes)
        FuzzFailed("framing", "the reader reported a torn tail of no bytes, or of durable bytes");
      if (options.tail_rule == TailRule::kTruncated && !IsCutOff(log.substr(reader.offset())))
        FuzzFailed("framing", "the reader reported complete bytes as a torn tail");
      break;
    default:
      CheckError("framing", reader.status(), options.name);
  }
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunFramingInput(const uint8_t* data, size_t size) {
  InputReader in(InputSlice(data, size));
  const uint8_t shape = in.Byte();
  const ExactCopy copy((shape & 4) != 0 ? FramingLog(&in) : std::string(in.rest()));
  const Slice log = copy.get();
  FrameReader::Options options{.name = "/log", .file_id = kFramingFileId};
  options.first_sequence = kFramingFirstSequence;
  options.tail_rule = static_cast<TailRule>((shape & 3) % 3);
  const uint64_t durable[] = {0, log.size() / 2, log.size(), log.size() + 1};
  options.durable_bytes = durable[shape >> 3 & 3];
  FrameReader reader(log, options);
  Frame frame;
  for (uint64_t sequence = kFramingFirstSequence;; ++sequence) {
    const uint64_t begin = reader.offset();
    const FrameReader::Outcome outcome = reader.Next(&frame);
    if (outcome != FrameReader::Outcome::kFrame) {
      CheckEnd(log, reader, options, outcome);
      if (reader.offset() != begin || reader.Next(&frame) != outcome)
        FuzzFailed("framing", "the end moves");
      return 0;
    }
    if (frame.sequence != sequence) FuzzFailed("framing", "a record is missing or repeated");
    CheckFrame(log, reader, frame, begin);
  }
}

inline std::vector<std::string> FramingSeeds() {
  std::vector<std::string> seeds;
  const std::string records("\x03\x05hello\x00\x03\x01\x02\x03", 12);
  for (const char shape : {'\x04', '\x0d', '\x16'}) seeds.push_back(shape + records);
  seeds.push_back(std::string("\x05", 1) + records + std::string("\x10\x00\x01", 3));  // a flip
  seeds.push_back(std::string("\x04", 1) + records + std::string("\x20\x00\x00", 3));  // a cut
  InputReader in(records);
  const std::string log = FramingLog(&in);
  seeds.push_back(std::string("\x10", 1) + log);
  seeds.push_back(std::string("\x01", 1) + log + log);  // sequences repeat
  return seeds;
}

}  // namespace lava::fuzzing
