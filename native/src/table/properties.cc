// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/properties.h"

#include <cstdint>
#include <string>

#include "base/coding.h"
#include "base/range_tombstones.h"
#include "lava/slice.h"
#include "table/table_writer.h"

namespace lava::ksst {
namespace {

/// One named blob file: origin, number, then for each partition the referenced records and raw
/// bytes.
void PutBlobFile(const TableProperties::NamedBlobFile& named, std::string* out) {
  PutFixed64(out, named.blob_file.origin.high);
  PutFixed64(out, named.blob_file.origin.low);
  PutVarint64(out, named.blob_file.number);
  PutVarint64(out, named.partitions.size());
  for (const TableProperties::NamedBlobFile::Share& share : named.partitions) {
    PutVarint64(out, share.partition);
    PutVarint64(out, share.records);
    PutVarint64(out, share.raw_bytes);
  }
}

bool GetBlobFile(Slice* in, TableProperties::NamedBlobFile* named) {
  uint64_t count = 0;
  if (!GetFixed64(in, &named->blob_file.origin.high) ||
      !GetFixed64(in, &named->blob_file.origin.low) || !GetVarint64(in, &named->blob_file.number) ||
      !GetVarint64(in, &count))
    return false;
  for (; count > 0; --count) {
    TableProperties::NamedBlobFile::Share share;
    if (!GetVarint64(in, &share.partition) || !GetVarint64(in, &share.records) ||
        !GetVarint64(in, &share.raw_bytes) ||
        (!named->partitions.empty() && share.partition <= named->partitions.back().partition))
      return false;
    named->partitions.push_back(share);
  }
  named->partitions.shrink_to_fit();
  return true;
}

bool GetTables(Slice* in, TableProperties* properties) {
  uint64_t count = 0;
  if (!GetVarint64(in, &count)) return false;
  uint64_t before = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t id = 0, expiry = 0;
    TableProperties::PerTable table;
    if (!GetVarint64(in, &id) || !GetVarint64(in, &table.records) ||
        !GetVarint64(in, &table.bytes) || !GetFixed64(in, &expiry) || (i > 0 && id <= before))
      return false;
    before = id;
    table.oldest_expiry_ms = static_cast<int64_t>(expiry);
    properties->tables.emplace_hint(properties->tables.end(), id, table);
  }
  return true;
}

}  // namespace

void EncodeProperties(const TableProperties& p, std::string* out) {
  for (uint64_t number :
       {uint64_t{p.partition_bytes}, p.records, p.deletes, p.appends, p.prefix_deletes,
        p.range_tombstones, p.raw_key_bytes, p.raw_value_bytes, p.data_blocks, p.index_partitions})
    PutVarint64(out, number);
  PutLengthPrefixed(out, p.lower);
  PutLengthPrefixed(out, p.upper);
  PutVarint64(out, p.tables.size());
  for (const auto& [id, table] : p.tables) {
    PutVarint64(out, id);
    PutVarint64(out, table.records);
    PutVarint64(out, table.bytes);
    PutFixed64(out, static_cast<uint64_t>(table.oldest_expiry_ms));
  }
  PutVarint64(out, p.blob_files.size());
  for (const TableProperties::NamedBlobFile& named : p.blob_files) PutBlobFile(named, out);
}

const char* DecodeProperties(Slice in, TableProperties* p) {
  uint64_t partition_bytes = 0;
  for (uint64_t* number : {&partition_bytes, &p->records, &p->deletes, &p->appends,
                           &p->prefix_deletes, &p->range_tombstones, &p->raw_key_bytes,
                           &p->raw_value_bytes, &p->data_blocks, &p->index_partitions}) {
    if (!GetVarint64(&in, number)) return "the properties' counts are cut short";
  }
  if (partition_bytes > 8) return "the properties' partition bytes are more than 8";
  p->partition_bytes = static_cast<uint32_t>(partition_bytes);
  Slice lower, upper;
  if (!GetLengthPrefixed(&in, &lower) || !GetLengthPrefixed(&in, &upper))
    return "the properties' bounds are cut short";
  p->lower = lower;
  p->upper = upper;
  if (!GetTables(&in, p)) return "the properties' tables are malformed";
  uint64_t blob_files = 0;
  if (!GetVarint64(&in, &blob_files)) return "the properties' blob files are cut short";
  for (; blob_files > 0; --blob_files) {
    if (!GetBlobFile(&in, &p->blob_files.emplace_back()))
      return "the properties' blob files are malformed";
  }
  return in.empty() ? nullptr : "the properties have bytes behind their end";
}

void EncodeTombstones(const RangeTombstoneSet& tombstones, std::string* out) {
  PutVarint64(out, tombstones.ranges().size());
  for (const RangeTombstone& range : tombstones.ranges()) {
    PutLengthPrefixed(out, range.begin);
    PutLengthPrefixed(out, range.end);
  }
}

const char* DecodeTombstones(Slice in, RangeTombstoneSet* tombstones) {
  uint64_t count = 0;
  if (!GetVarint64(&in, &count)) return "the range tombstones' count is cut short";
  Slice before;
  for (uint64_t i = 0; i < count; ++i) {
    Slice begin, end;
    if (!GetLengthPrefixed(&in, &begin) || !GetLengthPrefixed(&in, &end))
      return "a range tombstone is cut short";
    if (begin >= end || (i > 0 && begin <= before))
      return "range tombstones are empty, overlap or do not ascend";
    tombstones->Add(begin, end);
    before = end;
  }
  return in.empty() ? nullptr : "the range tombstones have bytes behind their end";
}

}  // namespace lava::ksst
