// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "table/table_reader.h"
#include "table/table_writer.h"
#include "testing/chosen_file_system.h"
#include "testing/random.h"

namespace lava::testing {

inline constexpr char kPath[] = "/db/a-1.ksst";

/// A record that owns its bytes.
struct OwnedRecord {
  std::string key;
  RecordKind kind = RecordKind::kPut;
  uint32_t prefix_bytes = 0;
  std::string value;

  Record view() const { return Record{key, kind, prefix_bytes, value}; }
  bool operator==(const OwnedRecord&) const = default;
};

inline OwnedRecord Own(const Record& record) {
  return {std::string(record.key), record.kind, record.prefix_bytes, std::string(record.value)};
}

/// [partition][table id, 5 bytes][rest].
inline std::string InternalKey(uint8_t partition, uint64_t table, Slice rest) {
  std::string key(1, static_cast<char>(partition));
  PutBigEndian(&key, table, kTableIdBytes);
  key.append(rest);
  return key;
}

inline Result<TableProperties> WriteTable(fs::FileSystem* file_system, const std::string& path,
                                          const std::vector<OwnedRecord>& records,
                                          const RangeTombstoneSet& tombstones = {},
                                          const TableWriterOptions& options = {},
                                          std::vector<std::string>* index_partitions = nullptr) {
  LAVA_ASSIGN_OR_RETURN(auto file, file_system->Create(path, 1 << 16));
  auto writer = TableWriter::Create(options, std::move(file), path);
  for (const OwnedRecord& record : records) LAVA_RETURN_IF_ERROR(writer->Add(record.view()));
  LAVA_RETURN_IF_ERROR(writer->AddRangeTombstones(tombstones));
  TableProperties properties;
  LAVA_RETURN_IF_ERROR(writer->Finish(&properties));
  if (index_partitions != nullptr) *index_partitions = writer->TakeIndexPartitions();
  return properties;
}

inline Result<std::shared_ptr<TableReader>> OpenTable(fs::FileSystem* file_system,
                                                      const std::string& path, BlockCache* cache,
                                                      MemoryCounter* counter = nullptr,
                                                      TableReader::ReadCounters* reads = nullptr) {
  LAVA_ASSIGN_OR_RETURN(auto file, file_system->OpenRandom(path));
  return TableReader::Open(std::move(file), cache, counter, reads);
}

/// All records of the file, or the error that ended the walk.
inline Result<std::vector<OwnedRecord>> ReadAll(const TableReader& reader,
                                                const TableReader::IterateOptions& options = {}) {
  std::vector<OwnedRecord> records;
  auto iterator = reader.NewIterator(options);
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next())
    records.push_back(Own(iterator->record()));
  LAVA_RETURN_IF_ERROR(iterator->status());
  return records;
}

/// A small file with all kinds of records in two tables, some of them in prefixes.
inline std::vector<OwnedRecord> SmallRecords(size_t count) {
  std::vector<OwnedRecord> records;
  for (size_t i = 0; i < count; ++i) {
    std::string rest = "prefix" + std::to_string(10 + i / 4);
    std::string key = InternalKey(static_cast<uint8_t>(i >= count / 2), 7 + (i >= count / 2), rest);
    uint32_t prefix_bytes = static_cast<uint32_t>(key.size());
    if (i % 4 == 0) records.push_back({key, RecordKind::kPrefixDelete, 0, ""});
    key += "/" + std::to_string(i % 4);
    switch (i % 4) {
      case 1:
        records.push_back({key, RecordKind::kDelete, prefix_bytes, ""});
        break;
      case 2:
        records.push_back({key, RecordKind::kAppend, 0, "segment" + std::to_string(i)});
        break;
      default:
        records.push_back({key, RecordKind::kPut, prefix_bytes, std::string(i % 9, 'v')});
    }
  }
  return records;
}

}  // namespace lava::testing
