// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lava/db.h"

namespace lava::jni {

/// Packs data for org.lavakv.Decoder: big endian, lengths before bytes.
class Packer {
 public:
  void Int8(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void Int32(uint32_t v) { BigEndian(v, 4); }
  void Int64(uint64_t v) { BigEndian(v, 8); }
  void Bytes(Slice bytes) {
    Int32(static_cast<uint32_t>(bytes.size()));
    out_.append(bytes);
  }
  void Tables(std::span<const TableInfo> tables);
  void Files(std::span<const Snapshot::File> files);
  void Strings(std::span<const std::string> strings);
  const std::string& bytes() const { return out_; }

 private:
  void BigEndian(uint64_t v, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      out_.push_back(static_cast<char>(v >> shift));
    }
  }
  std::string out_;
};

/// Reads data that org.lavakv.Encoder and WriteBatch packed. Every read is checked against the end.
/// Errors:     throws InvalidArgument's JavaError.
class Unpacker {
 public:
  explicit Unpacker(Slice in) : in_(in) {}
  uint8_t Int8() { return static_cast<uint8_t>(BigEndian(1)); }
  uint32_t Int32() { return static_cast<uint32_t>(BigEndian(4)); }
  uint64_t Int64() { return BigEndian(8); }
  Slice Take(size_t bytes);
  Slice Bytes() { return Take(Int32()); }
  std::vector<TableInfo> Tables();
  std::vector<ImportSource> Imports();
  std::vector<std::string> Strings();
  size_t left() const { return in_.size(); }

 private:
  uint64_t BigEndian(size_t bytes) {
    uint64_t v = 0;
    for (char c : Take(bytes)) v = v << 8 | static_cast<unsigned char>(c);
    return v;
  }
  Slice in_;
};

/// Converts Java's numbers to enumerations. Errors: throws InvalidArgument's JavaError.
TableOptions ToTableOptions(int64_t kind, int64_t ttl_layout, int64_t ttl_ms,
                            int64_t separation_bytes);
Compression ToCompression(int64_t number);
WalMode ToWalMode(int64_t number);
ValuePolicy ToValuePolicy(int64_t number);

}  // namespace lava::jni
