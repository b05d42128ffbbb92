// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/coding.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "lava/slice.h"

namespace lava {

void PutFixed32(std::string* out, uint32_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void PutFixed64(std::string* out, uint64_t value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

bool GetFixed32(Slice* in, uint32_t* value) {
  if (in->size() < sizeof(*value)) return false;
  *value = DecodeFixed32(in->data());
  in->remove_prefix(sizeof(*value));
  return true;
}

bool GetFixed64(Slice* in, uint64_t* value) {
  if (in->size() < sizeof(*value)) return false;
  *value = DecodeFixed64(in->data());
  in->remove_prefix(sizeof(*value));
  return true;
}

void EncodeBigEndian(char* to, uint64_t value, size_t bytes) {
  LAVA_DCHECK(bytes <= sizeof(value));
  for (size_t i = bytes; i > 0; --i) {
    to[i - 1] = static_cast<char>(value & 0xff);
    value >>= 8;
  }
}

uint64_t DecodeBigEndian(const char* from, size_t bytes) {
  LAVA_DCHECK(bytes <= sizeof(uint64_t));
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

void PutBigEndian(std::string* out, uint64_t value, size_t bytes) {
  char buffer[sizeof(value)];
  EncodeBigEndian(buffer, value, bytes);
  out->append(buffer, bytes);
}

bool GetBigEndian(Slice* in, size_t bytes, uint64_t* value) {
  if (in->size() < bytes) return false;
  *value = DecodeBigEndian(in->data(), bytes);
  in->remove_prefix(bytes);
  return true;
}

char* EncodeVarint32(char* to, uint32_t value) { return EncodeVarint64(to, value); }

char* EncodeVarint64(char* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

size_t VarintLength(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

void PutVarint32(std::string* out, uint32_t value) { PutVarint64(out, value); }

void PutVarint64(std::string* out, uint64_t value) {
  char buffer[kVarint64BytesMax];
  const char* end = EncodeVarint64(buffer, value);
  out->append(buffer, static_cast<size_t>(end - buffer));
}

const char* DecodeVarint32Slow(const char* from, const char* limit, uint32_t* value) {
  uint64_t wide = 0;
  const char* end = DecodeVarint64Slow(from, limit, &wide);
  if (end == nullptr || wide > UINT32_MAX) return nullptr;
  *value = static_cast<uint32_t>(wide);
  return end;
}

const char* DecodeVarint64Slow(const char* from, const char* limit, uint64_t* value) {
  uint64_t result = 0;
  for (uint32_t shift = 0; shift < 64 && from < limit; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*from++);
    // The tenth byte holds only the 64th bit.
    if (shift == 63 && byte > 1) return nullptr;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return from;
    }
  }
  return nullptr;
}

bool GetVarint32(Slice* in, uint32_t* value) {
  const char* limit = in->data() + in->size();
  const char* end = DecodeVarint32(in->data(), limit, value);
  if (end == nullptr) return false;
  *in = Slice(end, static_cast<size_t>(limit - end));
  return true;
}

bool GetVarint64(Slice* in, uint64_t* value) {
  const char* limit = in->data() + in->size();
  const char* end = DecodeVarint64(in->data(), limit, value);
  if (end == nullptr) return false;
  *in = Slice(end, static_cast<size_t>(limit - end));
  return true;
}

void PutLengthPrefixed(std::string* out, Slice bytes) {
  PutVarint64(out, bytes.size());
  out->append(bytes);
}

bool GetLengthPrefixed(Slice* in, Slice* bytes) {
  Slice rest = *in;
  uint64_t length = 0;
  if (!GetVarint64(&rest, &length) || !GetBytes(&rest, length, bytes)) return false;
  *in = rest;
  return true;
}

bool GetBytes(Slice* in, uint64_t length, Slice* bytes) {
  if (in->size() < length) return false;
  *bytes = in->substr(0, length);
  in->remove_prefix(length);
  return true;
}

}  // namespace lava
