// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/file_facts.h"

#include "inspect/text.h"
#include "table/block_loader.h"
#include "value/value_head.h"

namespace lava::inspect {
namespace {

double PerRecord(uint64_t bytes, uint64_t records) {
  if (records == 0) return 0;
  // The figure is not exact enough for more than two decimals.
  return static_cast<double>(bytes * 100 / records) / 100;
}

Status ReadHead(ReadOnlyFiles* files, const std::string& path, ksst::TableHead* head) {
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> file, files->OpenRandom(path));
  return ksst::ReadTableHead(std::move(file), head);
}

Json NamedBlobFiles(const TableProperties& properties) {
  Json blob_files = Json::array();
  for (const TableProperties::NamedBlobFile& named : properties.blob_files) {
    Json blob_file{{"blob_file", named.blob_file.ValueFileName()}};
    uint64_t records = 0, raw_bytes = 0;
    for (const TableProperties::NamedBlobFile::Share& share : named.partitions) {
      records += share.records;
      raw_bytes += share.raw_bytes;
    }
    blob_file["records"] = records;
    blob_file["raw_bytes"] = raw_bytes;
    blob_files.push_back(std::move(blob_file));
  }
  return blob_files;
}

Json IndexOfKeySst(const ksst::TableHead& head) {
  uint64_t partition_bytes = 0;
  for (uint32_t i = 0; i < head.top.count(); ++i)
    partition_bytes += head.top.block_bytes(i) + kBlockTrailerBytes;
  const uint64_t top_bytes = head.footer.top_index.bytes + kBlockTrailerBytes;
  const uint64_t records = head.properties.records;
  return {{"top_index_bytes", top_bytes},
          {"partitions", head.top.count()},
          {"partition_bytes", partition_bytes},
          {"bytes_per_key", PerRecord(top_bytes + partition_bytes, records)}};
}

}  // namespace

Json ToJson(const std::vector<BlobReference>& blob_files) {
  Json json = Json::array();
  for (const BlobReference& reference : blob_files)
    json.push_back({{"blob_file", reference.blob_file.ValueFileName()},
                    {"records", reference.records},
                    {"raw_bytes", reference.raw_bytes}});
  return json;
}

Result<uint32_t> PartitionBytesOf(ReadOnlyFiles* files, const std::string& path) {
  ksst::TableHead head;
  LAVA_RETURN_IF_ERROR(ReadHead(files, path, &head));
  return head.properties.partition_bytes;
}

Result<Json> KeySstFacts(ReadOnlyFiles* files, const std::string& path, const KeyNames& names) {
  ksst::TableHead head;
  LAVA_RETURN_IF_ERROR(ReadHead(files, path, &head));
  const TableProperties& p = head.properties;
  Json json;
  json["format_version"] = head.footer.version;
  json["unique_id"] = HexNumber(head.footer.unique_id, 16);
  json["bytes"] = p.file_bytes;
  json["records"] = p.records;
  json["deletes"] = p.deletes;
  json["appends"] = p.appends;
  json["prefix_deletes"] = p.prefix_deletes;
  json["range_tombstones"] = p.range_tombstones;
  json["raw_key_bytes"] = p.raw_key_bytes;
  json["raw_value_bytes"] = p.raw_value_bytes;
  json["data_blocks"] = p.data_blocks;
  json["index"] = IndexOfKeySst(head);
  json["bounds"] = names.Bounds(p.lower, p.upper);
  json["tables"] = Json::array();
  for (const auto& [id, table] : p.tables)
    json["tables"].push_back(
        {{"table", names.TableName(id)}, {"records", table.records}, {"raw_bytes", table.bytes}});
  json["blob_files"] = NamedBlobFiles(p);
  return json;
}

Result<Json> ValueSstFacts(ReadOnlyFiles* files, const std::string& path, const KeyNames& names) {
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> file, files->OpenRandom(path));
  std::unique_ptr<vsst::ValueHead> head;
  LAVA_RETURN_IF_ERROR(vsst::ValueHead::Read(std::move(file), &head));
  const ValueFileProperties& p = head->properties;
  uint64_t keys = 0, partition_bytes = 0, dense_bytes = 0;
  std::string payload;
  for (const vsst::TopIndex::IndexPartition& index_partition : head->top.index_partitions()) {
    vsst::IndexPartitionView view;
    LAVA_RETURN_IF_ERROR(head->LoadBlock(index_partition.block, &payload));
    const char* wrong =
        view.Load(payload, index_partition.records_end - index_partition.records_begin);
    if (wrong != nullptr) return head->Malformed(index_partition.block.offset, wrong);
    keys += view.count();
    partition_bytes += index_partition.block.bytes + kBlockTrailerBytes;
  }
  for (const BlockHandle& block : head->top.key_blocks())
    dense_bytes += block.bytes + kBlockTrailerBytes;
  Json json;
  json["format_version"] = head->footer.version();
  json["unique_id"] = HexNumber(head->footer.unique_id, 16);
  json["bytes"] = head->file->size();
  json["records"] = p.records;
  json["keys"] = keys;
  json["raw_bytes"] = p.raw_bytes;
  json["stored_bytes"] = p.stored_bytes;
  if (const BlockHandle& block = head->footer.dictionary; head->footer.has_dictionary())
    json["dictionary_bytes"] = block.bytes + kBlockTrailerBytes;
  json["bounds"] = names.Bounds(p.lower, p.upper);
  json["blob_files"] = ToJson(p.blob_files);
  json["is_log"] = head->log != nullptr;
  if (head->log != nullptr) {
    json["keys"] = head->log->size();
    json["log"] = {{"records_bytes", head->log->records_end()},
                   {"index_bytes", head->footer.top_index.bytes + kBlockTrailerBytes}};
    return json;
  }
  json["index"] = {{"partitions", p.index_partitions},
                   {"partition_bytes", partition_bytes},
                   {"crit_bit_bytes", p.tree_bytes},
                   {"crit_bit_bytes_per_key", PerRecord(p.tree_bytes, keys)},
                   {"bytes_per_key", PerRecord(partition_bytes, keys)},
                   {"dense_blocks", head->top.key_blocks().size()},
                   {"dense_bytes", dense_bytes},
                   {"dense_bytes_per_key", PerRecord(dense_bytes, keys)}};
  return json;
}

}  // namespace lava::inspect
