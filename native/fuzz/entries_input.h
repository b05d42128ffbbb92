// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/compression.h"
#include "fuzz/fuzz_input.h"
#include "value/changelog_entry.h"
#include "value/format.h"

namespace lava::fuzzing {

/// Entries in a segment of a value log. An input's first byte determines the bytes:
///   even: the rest is the bytes;
///   odd:  the rest is a list of records (shape u8, length u8, bytes) with correct checksums:
///         bit 0 of the shape adds a key, bit 1 a head as in entries, bits 2 to 3 are the head's
///         information about a value after it, bit 4 compresses the record.
/// For any bytes, the reader must end with a Status and never read past the end. An entry must be a
/// record without a key, plus the bytes of its value if the head announces one.
inline constexpr char kEntriesName[] = "/fuzz/a-1.vsst";
inline constexpr uint64_t kEntriesOffset = 1000;

inline std::string EntryRecords(InputReader* in) {
  const uint64_t unique_id = vsst::UniqueIdOf(kEntriesName);
  Compressor compressor(Compression::kLz4);
  std::string bytes, record, value, compressed;
  while (!in->done()) {
    const uint8_t shape = in->Byte();
    const size_t length = in->Byte();
    const Slice content = in->Take(length);
    if ((shape & 2) != 0)
      vsst::EncodeChangelogEntryHead(
          {length + 1, length, (shape & 4) != 0, uint32_t{shape} >> 3 & 1, content}, &value);
    else
      value = content;
    StoredValue stored;
    stored.raw_bytes = static_cast<uint32_t>(value.size());
    if ((shape & 16) != 0) stored.codec = compressor.Compress(value, &compressed);
    stored.bytes = stored.codec == Compression::kNone ? Slice(value) : Slice(compressed);
    vsst::EncodeRecord(unique_id, kEntriesOffset + bytes.size(), 0,
                       (shape & 1) != 0 ? Slice("key") : Slice(), stored, &record);
    bytes += record;
  }
  return bytes;
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunEntriesInput(const uint8_t* data, size_t size) {
  InputReader in(InputSlice(data, size));
  const uint8_t shape = in.Byte();
  const ExactCopy copy((shape & 1) != 0 ? EntryRecords(&in) : std::string(in.rest()));
  const Slice bytes = copy.get();
  vsst::ChangelogEntryReader reader(kEntriesName, kEntriesOffset, bytes);
  std::string entry, value;
  while (!reader.done()) {
    const uint64_t begin = reader.offset();
    const Status status = reader.Next(&entry);
    if (!status.ok()) {
      CheckError("entries", status, kEntriesName);
      return 0;
    }
    const uint64_t end = reader.offset();
    if (end <= begin || end > kEntriesOffset + bytes.size())
      FuzzFailed("entries", "an entry ends at an impossible offset");
    // Decoded alone, the bytes must give the same entry. From their second byte on they must give
    // no entry. The entry's head must not be read as a value.
    const Slice alone = bytes.substr(begin - kEntriesOffset, end - begin);
    std::string again;
    vsst::ChangelogEntryReader same(kEntriesName, begin, alone);
    if (!same.Next(&again).ok() || !same.done() || again != entry)
      FuzzFailed("entries", "an entry differs when it is read alone");
    if (vsst::ChangelogEntryReader(kEntriesName, begin + 1, alone).Next(&again).ok())
      FuzzFailed("entries", "an entry was found where none begins");
    if (vsst::ChangelogEntryReader::ReadValue(kEntriesName, begin, alone, &value).ok())
      FuzzFailed("entries", "a head was read as a value");
  }
  return 0;
}

inline std::vector<std::string> EntriesSeeds() {
  const auto record = [](char shape, const std::string& content) {
    return std::string(1, shape) + static_cast<char>(content.size()) + content;
  };
  const std::string plain = record('\x02', "a nameless entry");
  const std::string whole = record('\x06', "set k to ") + record('\x01', "value");
  const std::string lacking = record('\x0e', "set m to ") + record('\x11', std::string(99, 'v'));
  std::vector<std::string> seeds{"\1" + plain, "\1" + whole, "\1" + lacking + plain + whole};
  seeds.push_back("\1" + record('\x06', "without its value") + plain);
  seeds.push_back("\1" + record('\x0e', "of an empty value") + record('\x01', ""));
  seeds.push_back("\1" + record('\x01', "a value alone"));
  InputReader in(Slice(seeds[2]).substr(1));
  seeds.push_back(std::string(1, '\0') + EntryRecords(&in));
  return seeds;
}

}  // namespace lava::fuzzing
