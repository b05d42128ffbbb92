// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/framing.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "lava/status.h"

namespace lava {
namespace {

constexpr size_t kLengthAt = 4;
constexpr size_t kPayloadCrcAt = 8;
constexpr size_t kTypeAt = 12;
constexpr size_t kSequenceAt = 13;

uint32_t HeaderCrc(const char* header, uint64_t file_id) {
  char id[sizeof(file_id)];
  EncodeFixed64(id, file_id);
  return Crc32c(Slice(header + kLengthAt, kFrameHeaderBytes - kLengthAt),
                Crc32c(Slice(id, sizeof(id))));
}

}  // namespace

void FrameWriter::MakeHeader(uint8_t type, Slice payload, char* header) {
  EncodeFixed32(header + kLengthAt, static_cast<uint32_t>(payload.size()));
  EncodeFixed32(header + kPayloadCrcAt, Crc32c(payload));
  header[kTypeAt] = static_cast<char>(type);
  EncodeFixed64(header + kSequenceAt, next_sequence_);
  EncodeFixed32(header, HeaderCrc(header, file_id_));
  ++next_sequence_;
}

Status FrameWriter::Append(uint8_t type, Slice payload, std::string* out) {
  return Append(type, payload, [out](Slice piece) {
    out->append(piece);
    return Status::OK();
  });
}

Status FrameWriter::Append(uint8_t type, Slice payload, const Sink& sink) {
  if (payload.size() > kFramePayloadBytesMax) {
    return Status::InvalidArgument("log record of " + std::to_string(payload.size()) +
                                   " bytes: at most " + std::to_string(kFramePayloadBytesMax));
  }
  char header[kFrameHeaderBytes];
  MakeHeader(type, payload, header);
  LAVA_RETURN_IF_ERROR(sink(Slice(header, sizeof(header))));
  return payload.empty() ? Status::OK() : sink(payload);
}

FrameReader::FrameReader(Slice bytes, Options options)
    : bytes_(bytes), options_(std::move(options)), next_sequence_(options_.first_sequence) {}

FrameReader::Outcome FrameReader::Next(Frame* frame) {
  if (!status_.ok()) return Outcome::kCorruption;
  if (torn_) return Outcome::kTornTail;
  if (offset_ == bytes_.size()) {
    if (offset() >= options_.durable_bytes) return Outcome::kEnd;
    return Corrupt("the file ends, but " + std::to_string(options_.durable_bytes) +
                   " bytes were synced");
  }
  uint64_t end = 0;
  const Soundness soundness = Judge(offset_, frame, &end);
  if (soundness != Soundness::kSound) return Unsound(soundness);
  if (frame->sequence != next_sequence_) {
    // The checksums are right, so the writer wrote this sequence: records are missing or repeated.
    return Corrupt("record has sequence " + std::to_string(frame->sequence) + " instead of " +
                   std::to_string(next_sequence_));
  }
  LAVA_CHECK(end > offset_ && end <= bytes_.size());
  offset_ = end;
  ++next_sequence_;
  return Outcome::kFrame;
}

FrameReader::Soundness FrameReader::Judge(uint64_t offset, Frame* frame, uint64_t* end) const {
  const Slice rest = bytes_.substr(offset);
  if (rest.size() < kFrameHeaderBytes) return Soundness::kCutOff;
  const char* header = rest.data();
  if (DecodeFixed32(header) != HeaderCrc(header, options_.file_id)) return Soundness::kBadHeader;
  const uint32_t length = DecodeFixed32(header + kLengthAt);
  if (length > kFramePayloadBytesMax) return Soundness::kBadHeader;
  if (rest.size() - kFrameHeaderBytes < length) return Soundness::kCutOff;
  frame->payload = rest.substr(kFrameHeaderBytes, length);
  if (Crc32c(frame->payload) != DecodeFixed32(header + kPayloadCrcAt)) {
    return Soundness::kBadPayload;
  }
  frame->type = static_cast<uint8_t>(header[kTypeAt]);
  frame->sequence = DecodeFixed64(header + kSequenceAt);
  frame->offset = options_.base_offset + offset;
  *end = offset + kFrameHeaderBytes + length;
  return Soundness::kSound;
}

Status FrameReader::ReadOne(Slice bytes_at, const std::string& name, uint64_t file_id,
                            uint64_t offset, Frame* frame) {
  FrameReader reader(bytes_at, {.name = name, .file_id = file_id, .base_offset = offset});
  uint64_t end = 0;
  if (reader.Judge(0, frame, &end) == Soundness::kSound && end == bytes_at.size()) {
    return Status::OK();
  }
  return Status::Corruption(name + ": offset " + std::to_string(offset) + ": no sound record of " +
                            std::to_string(bytes_at.size()) + " bytes");
}

bool FrameReader::LaterRecordBehind(const std::function<bool(const Frame&)>& counts) const {
  Frame frame;
  uint64_t end = 0;
  for (uint64_t at = offset_ + 1; at + kFrameHeaderBytes <= bytes_.size(); ++at) {
    if (Judge(at, &frame, &end) == Soundness::kSound && frame.sequence > next_sequence_ &&
        counts(frame)) {
      return true;
    }
  }
  return false;
}

FrameReader::Outcome FrameReader::Unsound(Soundness soundness) {
  const char* what = soundness == Soundness::kCutOff      ? "record is cut off"
                     : soundness == Soundness::kBadHeader ? "record's header has a wrong checksum"
                                                          : "record's payload has a wrong checksum";
  if (offset() < options_.durable_bytes) return Corrupt(what);
  switch (options_.tail_rule) {
    case TailRule::kTruncated:
      if (soundness != Soundness::kCutOff) return Corrupt(what);
      break;
    case TailRule::kLastUnsynced:
      if (LaterRecordBehind([](const Frame&) { return true; })) {
        return Corrupt(std::string(what) + ", but later records are whole");
      }
      break;
    case TailRule::kUnsynced:
      if (options_.durable_of != nullptr && LaterRecordBehind([this](const Frame& later) {
            return options_.durable_of(later) > offset();
          })) {
        return Corrupt(std::string(what) + ", though it had been synced, as a later record says");
      }
      break;
  }
  torn_ = true;
  return Outcome::kTornTail;
}

FrameReader::Outcome FrameReader::Corrupt(const std::string& what) {
  status_ = Status::Corruption(options_.name + ": offset " + std::to_string(offset()) + " of " +
                               std::to_string(options_.base_offset + bytes_.size()) + ": " + what);
  return Outcome::kCorruption;
}

}  // namespace lava
