// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "testing/chosen_file_system.h"
#include "testing/random.h"
#include "value/key_iterator.h"
#include "value/value_head.h"
#include "value/value_log_writer.h"
#include "value/value_reader.h"
#include "value/value_writer.h"

namespace lava::testing {

/// The values of a value file, in its order.
using ValueMap = std::map<std::pair<std::string, FileId>, std::string>;

inline FileId BlobFileId(uint64_t number) { return FileId{{7, 11}, number}; }
inline const std::string kValuePath = "/v/" + BlobFileId(1).ValueFileName();

inline Result<ValueFileProperties> WriteValues(fs::FileSystem* file_system, const std::string& path,
                                               const ValueMap& values,
                                               const ValueWriterOptions& options = {},
                                               size_t buffer_bytes = 1 << 16) {
  LAVA_ASSIGN_OR_RETURN(auto file, file_system->Create(path, buffer_bytes));
  auto writer = ValueWriter::Create(options, std::move(file), path);
  for (const auto& [name, value] : values)
    LAVA_RETURN_IF_ERROR(writer->Add(name.first, name.second, value));
  ValueFileProperties properties;
  LAVA_RETURN_IF_ERROR(writer->Finish(&properties));
  return properties;
}

/// Writes a segment of a value log: the values in descending order of their keys, each put twice.
inline Result<ValueFileProperties> WriteValueLog(fs::FileSystem* file_system,
                                                 const std::string& path, const ValueMap& values,
                                                 Compression compression) {
  LAVA_ASSIGN_OR_RETURN(auto file, file_system->Create(path, 1 << 16));
  const auto writer =
      ValueLogWriter::Create({.compression = compression}, std::move(file), path, BlobFileId(1));
  std::map<std::string, LoggedRecord> live;
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    LoggedRecord* const record = &live[value->first.first];
    LAVA_RETURN_IF_ERROR(writer->Append(value->first.first, "dies", 0, record));
    LAVA_RETURN_IF_ERROR(writer->Append(value->first.first, value->second, 0, record));
  }
  for (const auto& [key, record] : live) LAVA_RETURN_IF_ERROR(writer->AddLive(key, record));
  ValueFileProperties properties;
  LAVA_RETURN_IF_ERROR(writer->Finish(&properties));
  return properties;
}

inline Result<std::shared_ptr<ValueReader>> OpenValues(fs::FileSystem* file_system,
                                                       const std::string& path, BlockCache* cache,
                                                       MemoryCounter* counter = nullptr,
                                                       ValueReader::ReadCounters* reads = nullptr) {
  LAVA_ASSIGN_OR_RETURN(auto file, file_system->OpenRandom(path));
  return ValueReader::Open(std::move(file), cache, counter, reads);
}

inline Result<std::unique_ptr<vsst::ValueHead>> OpenHead(fs::FileSystem* file_system,
                                                         const std::string& path) {
  LAVA_ASSIGN_OR_RETURN(auto file, file_system->OpenRandom(path));
  std::unique_ptr<vsst::ValueHead> head;
  LAVA_RETURN_IF_ERROR(vsst::ValueHead::Read(std::move(file), &head));
  return head;
}

/// Records of every kind: several blob files, an empty value, keys that others begin with, values
/// that shrink.
inline ValueMap SmallValues(uint64_t count) {
  ValueMap values;
  for (uint64_t i = 0; i < count; ++i) {
    std::string key = "key" + std::to_string(10 + i / 3);
    if (i % 3 != 0) key += "/" + std::to_string(i % 3);
    std::string value(i % 4 == 0 ? 0 : 5 * i, static_cast<char>('a' + i % 26));
    values[{key, BlobFileId(1)}] = value;
    if (i % 5 == 2) values[{key, BlobFileId(2)}] = "older";
  }
  return values;
}

/// A value of about this size, of the kind that dictionaries are for: the names of its fields
/// repeat from value to value, their contents do not.
inline std::string JsonValue(Random* random, size_t bytes) {
  static constexpr const char* kWords[] = {"winter", "ocean",  "copper", "lantern", "orchard",
                                           "violet", "harbor", "summit", "meadow",  "cinder"};
  const auto word = [&] { return std::string(kWords[random->Uniform(std::size(kWords))]); };
  std::string json = "{\"user\":{\"id\":" + std::to_string(random->Uniform(1'000'000'000)) +
                     ",\"name\":\"" + word() + "\"},\"events\":[";
  while (json.size() < bytes) {
    json += "{\"type\":\"page_view\",\"timestamp\":" +
            std::to_string(1'700'000'000'000 + random->Uniform(1'000'000'000)) +
            ",\"url\":\"https://www.example.com/" + word() + "/" + word() +
            "\",\"session\":" + std::to_string(random->Next()) + "},";
  }
  return json + "]}";
}
inline ValueMap JsonValues(uint64_t count, size_t bytes, uint64_t seed = 1) {
  Random random(seed);
  ValueMap values;
  for (uint64_t i = 0; i < count; ++i)
    values[{"key" + std::to_string(100'000 + i), BlobFileId(1)}] = JsonValue(&random, bytes);
  return values;
}

/// Gives even small files a dictionary, whatever it saves.
inline constexpr DictionaryOptions kDictionaryAlways{
    .values_min = 10, .raw_bytes_min = 0, .saving_percent_min = 0};

/// A sound file, and the locations of its parts that have a checksum.
struct ValueFileImage {
  std::string bytes;
  uint64_t unique_id = 0;
  struct Part {
    uint64_t offset = 0, end = 0;
  };
  std::vector<Part> records, key_blocks, index_partitions;
  Part properties, top_index;
  Part dictionary;  // empty: none
  size_t footer_bytes = 0;

  /// Computes all checksums again for the current bytes.
  void Repair() {
    for (const auto* parts : {&records, &key_blocks, &index_partitions})
      for (const Part& part : *parts) Seal(part);
    Seal(properties);
    Seal(top_index);
    if (dictionary.end != 0) Seal(dictionary);
    size_t footer = bytes.size() - footer_bytes;
    EncodeFixed64(bytes.data() + footer + footer_bytes - 16,
                  Hash64(Slice(bytes).substr(footer, footer_bytes - 16), footer));
  }
  void Seal(const Part& part) {
    Slice covered = Slice(bytes).substr(part.offset, part.end - part.offset - 8);
    EncodeFixed64(bytes.data() + part.end - 8, BlockChecksum(unique_id, part.offset, covered));
  }
};

inline Result<ValueFileImage> ImageOf(CrashableFileSystem* file_system, const std::string& path) {
  LAVA_ASSIGN_OR_RETURN(auto head, OpenHead(file_system, path));
  ValueFileImage image;
  LAVA_ASSIGN_OR_RETURN(image.bytes, file_system->Content(path));
  image.unique_id = head->footer.unique_id;
  if (head->log != nullptr) {
    for (size_t i = 0; i < head->log->size(); ++i)
      image.records.push_back({head->log->record(i).offset, head->log->record(i).end()});
  } else {
    vsst::KeyIterator at(head.get());
    for (; at.Valid(); at.Next())
      image.records.push_back({at.record_offset(), at.record_offset() + at.record_bytes()});
    LAVA_RETURN_IF_ERROR(at.status());
  }
  for (const BlockHandle& block : head->top.key_blocks())
    image.key_blocks.push_back({block.offset, block.end()});
  for (const auto& index_partition : head->top.index_partitions())
    image.index_partitions.push_back({index_partition.block.offset, index_partition.block.end()});
  image.properties = {head->footer.properties.offset, head->footer.properties.end()};
  image.top_index = {head->footer.top_index.offset, head->footer.top_index.end()};
  if (const BlockHandle& block = head->footer.dictionary; head->footer.has_dictionary())
    image.dictionary = {block.offset, block.end()};
  image.footer_bytes = head->footer.bytes();
  return image;
}

}  // namespace lava::testing
