#include "table/properties.h"

#include "base/coding.h"
#include "table/format.h"

namespace lava::ksst {
namespace {

/// Of one named value file: origin, number, then per partition referenced records and raw bytes.
/// Checked and skipped: this version writes none.
bool SkipValueFile(Slice* in) {
  Slice origin;
  uint64_t number = 0, partitions = 0;
  if (!GetBytes(in, 16, &origin) || !GetVarint64(in, &number) || !GetVarint64(in, &partitions))
    return false;
  for (; partitions > 0; --partitions) {
    uint64_t partition = 0, records = 0, bytes = 0;
    if (!GetVarint64(in, &partition) || !GetVarint64(in, &records) || !GetVarint64(in, &bytes))
      return false;
  }
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
        p.range_tombstones, p.raw_key_bytes, p.raw_value_bytes, p.data_blocks, p.partitions})
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
  PutVarint64(out, 0);  // named value files
}

const char* DecodeProperties(Slice in, TableProperties* p) {
  uint64_t partition_bytes = 0;
  for (uint64_t* number : {&partition_bytes, &p->records, &p->deletes, &p->appends,
                           &p->prefix_deletes, &p->range_tombstones, &p->raw_key_bytes,
                           &p->raw_value_bytes, &p->data_blocks, &p->partitions}) {
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
  uint64_t value_files = 0;
  if (!GetVarint64(&in, &value_files)) return "the properties' value files are cut short";
  for (; value_files > 0; --value_files) {
    if (!SkipValueFile(&in)) return "the properties' value files are malformed";
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
