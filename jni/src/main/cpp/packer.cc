// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "packer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jni_util.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::jni {

void Packer::Tables(std::span<const TableInfo> tables) {
  Int32(static_cast<uint32_t>(tables.size()));
  for (const TableInfo& table : tables) {
    Bytes(table.name);
    Int64(table.id);
    Int8(static_cast<uint8_t>(table.options.kind));
    Int8(static_cast<uint8_t>(table.options.ttl_layout));
    Int64(static_cast<uint64_t>(table.options.ttl_ms));
    Int64(table.options.separation_bytes);
  }
}

void Packer::Files(std::span<const Snapshot::File> files) {
  Int32(static_cast<uint32_t>(files.size()));
  for (const Snapshot::File& file : files) {
    Bytes(file.name);
    Int64(file.bytes);
    Int32(file.crc32c);
  }
}

void Packer::Strings(std::span<const std::string> strings) {
  Int32(static_cast<uint32_t>(strings.size()));
  for (const std::string& string : strings) Bytes(string);
}

Slice Unpacker::Take(size_t bytes) {
  if (bytes > in_.size()) [[unlikely]] {
    Check(Status::InvalidArgument("packed arguments end " + std::to_string(bytes - in_.size()) +
                                  " bytes too early"));
  }
  const Slice taken = in_.substr(0, bytes);
  in_.remove_prefix(bytes);
  return taken;
}

std::vector<TableInfo> Unpacker::Tables() {
  std::vector<TableInfo> tables;
  for (uint32_t count = Int32(); count > 0; count--) {
    TableInfo& table = tables.emplace_back();
    table.name = Bytes();
    table.id = Int64();
    const uint8_t kind = Int8();
    const uint8_t ttl_layout = Int8();
    const int64_t ttl_ms = static_cast<int64_t>(Int64());
    table.options = ToTableOptions(kind, ttl_layout, ttl_ms, static_cast<int64_t>(Int64()));
  }
  return tables;
}

std::vector<ImportSource> Unpacker::Imports() {
  std::vector<ImportSource> imports;
  for (uint32_t count = Int32(); count > 0; count--) {
    ImportSource& source = imports.emplace_back();
    source.partition_first = Int32();
    source.partition_last = Int32();
    source.metadata = Bytes();
    source.missing = Strings();
  }
  return imports;
}

std::vector<std::string> Unpacker::Strings() {
  std::vector<std::string> strings;
  for (uint32_t count = Int32(); count > 0; count--) strings.emplace_back(Bytes());
  return strings;
}

TableOptions ToTableOptions(int64_t kind, int64_t ttl_layout, int64_t ttl_ms,
                            int64_t separation_bytes) {
  if (kind < 0 || kind > static_cast<int64_t>(TableKind::kList) || ttl_layout < 0 ||
      ttl_layout > static_cast<int64_t>(TtlLayout::kList) || ttl_ms < 0 || separation_bytes < 0) {
    Check(Status::InvalidArgument("table options: kind " + std::to_string(kind) + ", TTL layout " +
                                  std::to_string(ttl_layout) + ", TTL " + std::to_string(ttl_ms) +
                                  " ms, separated from " + std::to_string(separation_bytes) +
                                  " bytes"));
  }
  TableOptions options;
  options.kind = static_cast<TableKind>(kind);
  options.ttl_layout = static_cast<TtlLayout>(ttl_layout);
  options.ttl_ms = ttl_ms;
  options.separation_bytes = static_cast<uint64_t>(separation_bytes);
  return options;
}

Compression ToCompression(int64_t number) {
  if (number < 0 || number > static_cast<int64_t>(Compression::kZstd)) {
    Check(Status::InvalidArgument("no compression has the number " + std::to_string(number)));
  }
  return static_cast<Compression>(number);
}

WalMode ToWalMode(int64_t number) {
  if (number < 0 || number > static_cast<int64_t>(WalMode::kWalSync)) {
    Check(Status::InvalidArgument("no write-ahead mode has the number " + std::to_string(number)));
  }
  return static_cast<WalMode>(number);
}

ValuePolicy ToValuePolicy(int64_t number) {
  if (number < 0 || number > static_cast<int64_t>(ValuePolicy::kGreedy)) {
    Check(Status::InvalidArgument("no policy for values has the number " + std::to_string(number)));
  }
  return static_cast<ValuePolicy>(number);
}

}  // namespace lava::jni
