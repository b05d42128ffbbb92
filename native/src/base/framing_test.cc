// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/framing.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/coding.h"
#include "testing/random.h"

namespace lava {
namespace {

using Outcome = FrameReader::Outcome;
constexpr uint64_t kFileId = 42;
constexpr uint64_t kFirstSequence = 7;

struct Log {
  std::string bytes;
  std::vector<std::string> payloads;
  std::vector<uint64_t> ends;  // of each record
};

Log MakeLog() {
  Log log;
  testing::Random random(3);
  FrameWriter writer(kFileId, kFirstSequence);
  for (const size_t length : {5u, 0u, 40u, 1u, 130u, 17u}) {
    log.payloads.push_back(random.Bytes(length));
    EXPECT_TRUE(writer.Append(static_cast<uint8_t>(length), log.payloads.back(), &log.bytes).ok());
    log.ends.push_back(log.bytes.size());
  }
  EXPECT_EQ(writer.next_sequence(), kFirstSequence + log.payloads.size());
  return log;
}

struct Reading {
  Outcome outcome;
  size_t frames = 0;
  uint64_t offset = 0;
  Status status;
};

// Reads to the end; every frame must be one that was written.
Reading ReadAll(const Log& log, Slice bytes, uint64_t durable_bytes, TailRule rule,
                uint64_t file_id = kFileId) {
  FrameReader reader(bytes, {"log 1", file_id, kFirstSequence, durable_bytes, rule});
  Reading reading{};
  Frame frame;
  while ((reading.outcome = reader.Next(&frame)) == Outcome::kFrame) {
    if (reading.frames >= log.payloads.size()) {
      ADD_FAILURE() << "the reader returned a record that was never written";
      break;
    }
    EXPECT_EQ(frame.payload, log.payloads[reading.frames]);
    EXPECT_EQ(frame.type, static_cast<uint8_t>(log.payloads[reading.frames].size()));
    EXPECT_EQ(frame.sequence, kFirstSequence + reading.frames);
    EXPECT_EQ(frame.offset, reading.frames == 0 ? 0 : log.ends[reading.frames - 1]);
    ++reading.frames;
  }
  EXPECT_EQ(reader.Next(&frame), reading.outcome) << "the outcome must not change after the end";
  reading.offset = reader.offset();
  reading.status = reader.status();
  return reading;
}

TEST(FramingTest, RecordsComeBack) {
  const Log log = MakeLog();
  for (const TailRule rule : {TailRule::kTruncated, TailRule::kLastUnsynced, TailRule::kUnsynced}) {
    const Reading reading = ReadAll(log, log.bytes, log.bytes.size(), rule);
    EXPECT_EQ(reading.outcome, Outcome::kEnd);
    EXPECT_EQ(reading.frames, log.payloads.size());
    EXPECT_EQ(reading.offset, log.bytes.size());
  }
  EXPECT_EQ(ReadAll(log, "", 0, TailRule::kTruncated).outcome, Outcome::kEnd);
}

TEST(FramingTest, SinkGetsTheSameBytes) {
  const Log log = MakeLog();
  std::string bytes;
  FrameWriter writer(kFileId, kFirstSequence);
  for (const std::string& payload : log.payloads) {
    ASSERT_TRUE(writer
                    .Append(static_cast<uint8_t>(payload.size()), payload,
                            [&bytes](Slice piece) {
                              bytes.append(piece);
                              return Status::OK();
                            })
                    .ok());
  }
  EXPECT_EQ(bytes, log.bytes);
  EXPECT_TRUE(writer.Append(1, "x", [](Slice) { return Status::NoSpace("full"); }).IsNoSpace());
}

// No silent damage: flips each bit below the durable length, under every rule.
TEST(FramingTest, EveryBitFlipBelowTheDurableLengthIsCorruption) {
  const Log log = MakeLog();
  for (const TailRule rule : {TailRule::kTruncated, TailRule::kLastUnsynced, TailRule::kUnsynced}) {
    for (size_t bit = 0; bit < log.bytes.size() * 8; ++bit) {
      std::string damaged = log.bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      const Reading reading = ReadAll(log, damaged, log.bytes.size(), rule);
      ASSERT_EQ(reading.outcome, Outcome::kCorruption) << "bit " << bit;
      ASSERT_TRUE(reading.status.IsCorruption());
      ASSERT_NE(reading.status.message().find("log 1: offset"), std::string::npos);
      // All records before the damaged one are still returned.
      ASSERT_EQ(reading.frames == 0 ? 0 : log.ends[reading.frames - 1], reading.offset);
      ASSERT_LE(reading.offset, bit / 8);
      ASSERT_GT(log.ends[reading.frames], bit / 8);
    }
  }
}

// Holds even without a known durable length if only a process kill may have cut the log.
TEST(FramingTest, EveryBitFlipOfAWholeLogIsCorruptionWhenOnlyTruncationIsTorn) {
  const Log log = MakeLog();
  for (size_t bit = 0; bit < log.bytes.size() * 8; ++bit) {
    std::string damaged = log.bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    ASSERT_EQ(ReadAll(log, damaged, 0, TailRule::kTruncated).outcome, Outcome::kCorruption) << bit;
  }
}

TEST(FramingTest, ByteDamageBelowTheDurableLengthIsCorruption) {
  const Log log = MakeLog();
  for (size_t at = 0; at < log.bytes.size(); ++at) {
    for (const char replacement : {'\x00', '\xff', '\x5a'}) {
      if (log.bytes[at] == replacement) continue;
      std::string damaged = log.bytes;
      damaged[at] = replacement;
      ASSERT_EQ(ReadAll(log, damaged, damaged.size(), TailRule::kUnsynced).outcome,
                Outcome::kCorruption);
    }
  }
}

TEST(FramingTest, TruncationAtEachLengthIsATornTail) {
  const Log log = MakeLog();
  for (const TailRule rule : {TailRule::kTruncated, TailRule::kLastUnsynced, TailRule::kUnsynced}) {
    for (size_t length = 0; length < log.bytes.size(); ++length) {
      size_t whole = 0;
      while (whole < log.ends.size() && log.ends[whole] <= length) ++whole;
      const uint64_t whole_end = whole == 0 ? 0 : log.ends[whole - 1];
      const Slice cut = Slice(log.bytes).substr(0, length);
      const Reading reading = ReadAll(log, cut, whole_end, rule);
      ASSERT_EQ(reading.outcome, whole_end == length ? Outcome::kEnd : Outcome::kTornTail);
      ASSERT_EQ(reading.frames, whole);
      ASSERT_EQ(reading.offset, whole_end);
      // The same cut below the durable length is Corruption.
      ASSERT_EQ(ReadAll(log, cut, length + 1, rule).outcome, Outcome::kCorruption);
    }
  }
}

TEST(FramingTest, UnsoundLastRecordIsTornUnlessLaterOnesAreWhole) {
  const Log log = MakeLog();
  std::string last = log.bytes;
  last[log.ends[4] + kFrameHeaderBytes] ^= 1;
  EXPECT_EQ(ReadAll(log, last, log.ends[4], TailRule::kLastUnsynced).outcome, Outcome::kTornTail);
  EXPECT_EQ(ReadAll(log, last, log.ends[4], TailRule::kTruncated).outcome, Outcome::kCorruption);

  for (const size_t damaged_byte : {size_t{4}, size_t{kFrameHeaderBytes}}) {
    std::string middle = log.bytes;
    middle[log.ends[1] + damaged_byte] ^= 1;  // a length, a payload
    EXPECT_EQ(ReadAll(log, middle, 0, TailRule::kLastUnsynced).outcome, Outcome::kCorruption);
    const Reading reading = ReadAll(log, middle, 0, TailRule::kUnsynced);
    EXPECT_EQ(reading.outcome, Outcome::kTornTail);
    EXPECT_EQ(reading.frames, 2u);
  }
}

TEST(FramingTest, ZeroesAndGarbageBehindTheDurableLengthAreATornTail) {
  const Log log = MakeLog();
  testing::Random random(9);
  for (size_t extra = 1; extra < 100; ++extra) {
    for (const std::string& tail : {std::string(extra, '\0'), random.Bytes(extra)}) {
      const Reading reading =
          ReadAll(log, log.bytes + tail, log.bytes.size(), TailRule::kLastUnsynced);
      ASSERT_EQ(reading.outcome, Outcome::kTornTail);
      ASSERT_EQ(reading.frames, log.payloads.size());
    }
  }
}

TEST(FramingTest, RecordsOfAnotherLogAreNotRead) {
  const Log log = MakeLog();
  EXPECT_EQ(ReadAll(log, log.bytes, 0, TailRule::kUnsynced, kFileId + 1).outcome,
            Outcome::kTornTail);
  EXPECT_EQ(ReadAll(log, log.bytes, 0, TailRule::kTruncated, kFileId + 1).outcome,
            Outcome::kCorruption);
}

TEST(FramingTest, MissingAndRepeatedRecordsAreCorruption) {
  const Log log = MakeLog();
  const std::string missing = log.bytes.substr(0, log.ends[1]) + log.bytes.substr(log.ends[2]);
  const std::string repeated =
      log.bytes.substr(0, log.ends[1]) + log.bytes.substr(log.ends[0], log.ends[1] - log.ends[0]);
  for (const std::string& bytes : {missing, repeated}) {
    const Reading reading = ReadAll(log, bytes, 0, TailRule::kUnsynced);
    EXPECT_EQ(reading.outcome, Outcome::kCorruption);
    EXPECT_EQ(reading.frames, 2u);
    EXPECT_NE(reading.status.message().find("sequence"), std::string::npos);
  }
}

}  // namespace
}  // namespace lava
