// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "lava/slice.h"

namespace lava {

static_assert(std::endian::native == std::endian::little, "fixed numbers are stored as they are");

/// Encodings of numbers on disk: fixed numbers are little endian, varints LEB128, parts of keys big
/// endian so that they sort as numbers. Put... appends, Encode... writes to memory that the caller
/// sized, Get... takes from the front of a slice.
/// Threads:    any; no shared state.
/// Errors:     Get... and ...Varint return false or null when the bytes end early or the number
///             does not fit its type; *in is then unchanged.

inline constexpr size_t kVarint32BytesMax = 5;
inline constexpr size_t kVarint64BytesMax = 10;

inline void EncodeFixed32(char* to, uint32_t value) { std::memcpy(to, &value, sizeof(value)); }
inline void EncodeFixed64(char* to, uint64_t value) { std::memcpy(to, &value, sizeof(value)); }
inline uint32_t DecodeFixed32(const char* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
inline uint64_t DecodeFixed64(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

void PutFixed32(std::string* out, uint32_t value);
void PutFixed64(std::string* out, uint64_t value);
bool GetFixed32(Slice* in, uint32_t* value);
bool GetFixed64(Slice* in, uint64_t* value);

/// The low `bytes` bytes of value, most significant first; bytes <= 8.
void EncodeBigEndian(char* to, uint64_t value, size_t bytes);
uint64_t DecodeBigEndian(const char* from, size_t bytes);
void PutBigEndian(std::string* out, uint64_t value, size_t bytes);
bool GetBigEndian(Slice* in, size_t bytes, uint64_t* value);

/// Writes at most kVarint..BytesMax bytes; returns the end.
char* EncodeVarint32(char* to, uint32_t value);
char* EncodeVarint64(char* to, uint64_t value);
size_t VarintLength(uint64_t value);
void PutVarint32(std::string* out, uint32_t value);
void PutVarint64(std::string* out, uint64_t value);

/// Decode numbers of any length; callers use DecodeVarint32/64.
const char* DecodeVarint32Slow(const char* from, const char* limit, uint32_t* value);
const char* DecodeVarint64Slow(const char* from, const char* limit, uint64_t* value);

/// Decodes from [from, limit); returns the end of the number, or null.
inline const char* DecodeVarint32(const char* from, const char* limit, uint32_t* value) {
  if (from < limit && static_cast<unsigned char>(*from) < 0x80) {
    *value = static_cast<unsigned char>(*from);
    return from + 1;
  }
  return DecodeVarint32Slow(from, limit, value);
}
inline const char* DecodeVarint64(const char* from, const char* limit, uint64_t* value) {
  if (from < limit && static_cast<unsigned char>(*from) < 0x80) {
    *value = static_cast<unsigned char>(*from);
    return from + 1;
  }
  return DecodeVarint64Slow(from, limit, value);
}

bool GetVarint32(Slice* in, uint32_t* value);
bool GetVarint64(Slice* in, uint64_t* value);

/// varint64 length, then the bytes. The result borrows from *in.
void PutLengthPrefixed(std::string* out, Slice bytes);
bool GetLengthPrefixed(Slice* in, Slice* bytes);
/// Takes exactly `length` bytes off the front.
bool GetBytes(Slice* in, uint64_t length, Slice* bytes);

}  // namespace lava
