// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "job/job_context.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_id.h"
#include "base/value_reference.h"
#include "fs/file_system.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "table/table_reader.h"
#include "table/table_writer.h"
#include "value/value_file.h"
#include "value/value_reader.h"

namespace lava {

namespace {

Result<std::unique_ptr<fs::RandomFile>> OpenStored(const JobContext& context,
                                                   const std::string& path, uint64_t expected) {
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> handle,
                        context.file_system->OpenRandom(path));
  const uint64_t bytes = handle->size();
  if (bytes != expected) {
    return Status::Corruption("opening " + path + ": it ends at offset " + std::to_string(bytes) +
                              ", the manifest says " + std::to_string(expected) +
                              " bytes; restore it from a checkpoint");
  }
  return handle;
}

std::vector<BlobReference> ReferencesOf(const TableProperties& properties) {
  std::vector<BlobReference> blob_files;
  for (const TableProperties::NamedBlobFile& named : properties.blob_files) {
    BlobReference reference{named.blob_file, 0, 0};
    for (const TableProperties::NamedBlobFile::Share& part : named.partitions) {
      reference.records += part.records;
      reference.raw_bytes += part.raw_bytes;
    }
    blob_files.push_back(reference);
  }
  std::sort(blob_files.begin(), blob_files.end());
  return blob_files;
}

Status AnotherFile(const std::string& path) {
  return Status::Corruption("opening " + path +
                            ": its properties are not those of the manifest; it is another "
                            "file under this name: restore it from a checkpoint");
}

}  // namespace

Result<std::unique_ptr<fs::AppendFile>> CreateOutput(const JobContext& context,
                                                     const std::string& path) {
  return context.may_use_reserve ? context.file_system->CreateFromReserve(path, kJobFileBufferBytes)
                                 : context.file_system->Create(path, kJobFileBufferBytes);
}

Result<std::shared_ptr<TableReader>> OpenReader(const JobContext& context, const FileMeta& file) {
  const std::string path = context.PathOf(file.id);
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> handle,
                        OpenStored(context, path, file.bytes));
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<TableReader> reader,
      TableReader::Open(std::move(handle), context.cache, context.counter, context.read_counters));
  const TableProperties& p = reader->properties();
  if (p.records != file.records || p.lower != file.lower || p.upper != file.upper ||
      p.deletes != file.deletes || p.prefix_deletes != file.prefix_deletes ||
      p.range_tombstones != file.range_tombstones || ReferencesOf(p) != file.blob_references)
    return AnotherFile(path);
  return reader;
}

Result<std::shared_ptr<ValueReader>> OpenValueReader(const JobContext& context,
                                                     const ValueFileMeta& file) {
  const std::string path = context.ValuePathOf(file.id);
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> handle,
                        OpenStored(context, path, file.bytes));
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<ValueReader> reader,
                        ValueReader::Open(std::move(handle), context.cache, context.counter,
                                          context.value_read_counters));
  const ValueFileProperties& p = reader->properties();
  if (p.records != file.records || p.raw_bytes != file.raw_bytes || p.lower != file.lower ||
      p.upper != file.upper || p.blob_files != file.blob_files)
    return AnotherFile(path);
  return reader;
}

std::shared_ptr<ValueFileMeta> MetaOf(const FileId& id, const ValueFileProperties& properties) {
  auto meta = std::make_shared<ValueFileMeta>();
  meta->id = id;
  meta->bytes = properties.file_bytes;
  meta->crc32c = properties.file_crc32c;
  meta->records = properties.records;
  meta->raw_bytes = properties.raw_bytes;
  meta->stored_bytes = properties.stored_bytes;
  meta->lower = properties.lower;
  meta->upper = properties.upper;
  meta->blob_files = properties.blob_files;
  return meta;
}

std::shared_ptr<FileMeta> MetaOf(const FileId& id, const TableProperties& properties) {
  auto meta = std::make_shared<FileMeta>();
  meta->id = id;
  meta->bytes = properties.file_bytes;
  meta->crc32c = properties.file_crc32c;
  meta->records = properties.records;
  meta->deletes = properties.deletes;
  meta->prefix_deletes = properties.prefix_deletes;
  meta->range_tombstones = properties.range_tombstones;
  meta->raw_bytes = properties.raw_key_bytes + properties.raw_value_bytes;
  meta->lower = properties.lower;
  meta->upper = properties.upper;
  for (const auto& [table, counts] : properties.tables)
    meta->tables[table] = {counts.records, counts.bytes};
  meta->blob_references = ReferencesOf(properties);
  return meta;
}

}  // namespace lava
