// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/file_id.h"
#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace lava {
namespace {

// Tags of an edit's fields. On disk; see docs/manifest-format.md.
enum Tag : uint8_t {
  kPartitionBytes = 1,
  kNextFileNumber = 2,
  kOrigin = 3,
  kTableRegistered = 4,
  kTableDropped = 5,
  kFileRemoved = 6,
  kFileAdded = 7,
  kFileWithReferencesAdded = 8,
  kValueFileRemoved = 9,
  kValueFileAdded = 10,
  kValueFileWithTablesAdded = 11,
  kBlobFileExpired = 12,
  kWalFlushed = 13,
  kValueFileInGroupAdded = 14,
  kEntriesReleased = 15,
};

constexpr uint64_t kTableIdMax = (uint64_t{1} << (8 * kTableIdBytes)) - 1;
// A bound is a key plus the partition, the table's id, and one byte that marks an end.
constexpr uint64_t kBoundBytesMax = kKeyBytesMax + 64;

constexpr size_t kFileIdBytesMax = 2 * sizeof(uint64_t) + kVarint64BytesMax;

// Returns the end.
char* EncodeFileId(const FileId& id, char* to) {
  EncodeFixed64(to, id.origin.high);
  EncodeFixed64(to + sizeof(uint64_t), id.origin.low);
  return EncodeVarint64(to + 2 * sizeof(uint64_t), id.number);
}

void PutFileId(const FileId& id, std::string* out) {
  char buffer[kFileIdBytesMax];
  out->append(buffer, static_cast<size_t>(EncodeFileId(id, buffer) - buffer));
}

void PutFileMeta(const FileMeta& meta, std::string* out) {
  PutFileId(meta.id, out);
  PutVarint64(out, meta.bytes);
  PutFixed32(out, meta.crc32c);
  for (uint64_t n :
       {meta.records, meta.deletes, meta.prefix_deletes, meta.range_tombstones, meta.raw_bytes})
    PutVarint64(out, n);
  PutLengthPrefixed(out, meta.lower);
  PutLengthPrefixed(out, meta.upper);
  PutVarint64(out, meta.tables.size());
  for (const auto& [id, counts] : meta.tables) {
    PutVarint64(out, id);
    PutVarint64(out, counts.first);
    PutVarint64(out, counts.second);
  }
}

void PutBlobFiles(const std::vector<BlobReference>& blob_files, std::string* out) {
  PutVarint64(out, blob_files.size());
  for (const BlobReference& reference : blob_files) {
    // Appended at once: key files have hundreds of references.
    char buffer[kFileIdBytesMax + 2 * kVarint64BytesMax];
    char* end = EncodeFileId(reference.blob_file, buffer);
    end = EncodeVarint64(end, reference.records);
    end = EncodeVarint64(end, reference.raw_bytes);
    out->append(buffer, static_cast<size_t>(end - buffer));
  }
}

void PutTableShares(const std::map<uint64_t, TableShare>& tables, std::string* out) {
  PutVarint64(out, tables.size());
  for (const auto& [id, share] : tables) {
    PutVarint64(out, id);
    PutVarint64(out, share.records);
    PutVarint64(out, share.raw_bytes);
    PutFixed64(out, static_cast<uint64_t>(share.newest_ms));
  }
}

void PutValueFile(const VersionEdit::AddedValueFile& added, std::string* out) {
  const ValueFileMeta& meta = *added.file;
  PutFileId(meta.id, out);
  PutVarint64(out, meta.bytes);
  PutFixed32(out, meta.crc32c);
  for (const uint64_t n : {meta.records, meta.raw_bytes, meta.stored_bytes}) PutVarint64(out, n);
  PutLengthPrefixed(out, meta.lower);
  PutLengthPrefixed(out, meta.upper);
  PutBlobFiles(meta.blob_files, out);
  if (meta.group != 0 || !meta.tables.empty()) PutTableShares(meta.tables, out);
  if (meta.group != 0) {
    out->push_back(static_cast<char>(meta.level));
    PutVarint64(out, meta.group);
  }
  PutVarint64(out, added.locations.size());
  for (const VersionEdit::AddedValueFile::Location& location : added.locations) {
    PutFileId(location.blob_file, out);
    PutLengthPrefixed(out, location.lower);
    PutLengthPrefixed(out, location.upper);
  }
}

void PutTable(const TableRegistration& table, std::string* out) {
  PutLengthPrefixed(out, table.name);
  PutVarint64(out, table.id);
  out->push_back(static_cast<char>(table.options.kind));
  out->push_back(static_cast<char>(table.options.ttl_layout));
  PutFixed64(out, static_cast<uint64_t>(table.options.ttl_ms));
}

// Reads an edit front to back; the first failure sticks and names its offset.
class EditReader {
 public:
  EditReader(Slice payload, uint64_t base_offset)
      : payload_(payload), rest_(payload), base_offset_(base_offset) {}

  bool done() const { return rest_.empty(); }
  const Status& status() const { return status_; }

  Status Fail(std::string_view what) {
    if (status_.ok()) {
      status_ = Status::Corruption("version edit: " + std::string(what) + " at offset " +
                                   std::to_string(base_offset_ + payload_.size() - rest_.size()));
    }
    return status_;
  }
  uint8_t Byte(std::string_view what) {
    if (!status_.ok() || rest_.empty()) return static_cast<void>(Fail(what)), uint8_t{0};
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  uint64_t Varint(std::string_view what) {
    uint64_t value = 0;
    if (status_.ok() && !GetVarint64(&rest_, &value)) static_cast<void>(Fail(what));
    return status_.ok() ? value : 0;
  }
  uint32_t Fixed32(std::string_view what) {
    uint32_t value = 0;
    if (status_.ok() && !GetFixed32(&rest_, &value)) static_cast<void>(Fail(what));
    return value;
  }
  uint64_t Fixed64(std::string_view what) {
    uint64_t value = 0;
    if (status_.ok() && !GetFixed64(&rest_, &value)) static_cast<void>(Fail(what));
    return value;
  }
  std::string Bytes(uint64_t bytes_max, std::string_view what) {
    const uint64_t length = Varint(what);
    if (status_.ok() && (length > bytes_max || length > rest_.size()))
      static_cast<void>(Fail(std::string(what) + " of " + std::to_string(length) + " bytes"));
    if (!status_.ok()) return {};
    std::string bytes(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return bytes;
  }
  uint32_t Level() {
    const uint8_t level = Byte("level");
    if (status_.ok() && level >= kLevelCountMax)
      static_cast<void>(Fail("level " + std::to_string(level) + " is beyond the last,"));
    return status_.ok() ? level : 0;
  }
  uint64_t TableId() {
    const uint64_t id = Varint("table id");
    if (status_.ok() && id > kTableIdMax) static_cast<void>(Fail("table id beyond 40 bits"));
    return id;
  }
  FileId ReadFileId() {
    FileId id;
    id.origin.high = Fixed64("origin");
    id.origin.low = Fixed64("origin");
    id.number = Varint("file number");
    return id;
  }
  size_t rest_bytes() const { return rest_.size(); }

 private:
  Slice payload_, rest_;
  uint64_t base_offset_;
  Status status_;
};

std::shared_ptr<FileMeta> ReadFileMeta(EditReader* in) {
  auto meta = std::make_shared<FileMeta>();
  meta->id = in->ReadFileId();
  meta->bytes = in->Varint("file bytes");
  meta->crc32c = in->Fixed32("file checksum");
  for (uint64_t* n : {&meta->records, &meta->deletes, &meta->prefix_deletes,
                      &meta->range_tombstones, &meta->raw_bytes})
    *n = in->Varint("file counter");
  meta->lower = in->Bytes(kBoundBytesMax, "file's lower bound");
  meta->upper = in->Bytes(kBoundBytesMax, "file's upper bound");
  if (in->status().ok() && meta->lower >= meta->upper)
    static_cast<void>(in->Fail("file bounds are empty"));
  const uint64_t count = in->Varint("table count");
  if (in->status().ok() && count > in->rest_bytes() / 3)
    static_cast<void>(in->Fail("table count " + std::to_string(count)));
  uint64_t previous = 0;
  for (uint64_t i = 0; i < count && in->status().ok(); ++i) {
    const uint64_t id = in->TableId();
    if (in->status().ok() && i > 0 && id <= previous)
      static_cast<void>(in->Fail("table ids do not ascend"));
    previous = id;
    auto& counts = meta->tables[id];
    counts.first = in->Varint("records of a table");
    counts.second = in->Varint("bytes of a table");
  }
  return meta;
}

// Reads a count of items that take at least bytes_min each.
uint64_t ReadCount(EditReader* in, uint64_t bytes_min, const std::string& what) {
  const uint64_t count = in->Varint(what);
  if (in->status().ok() && count > in->rest_bytes() / bytes_min)
    static_cast<void>(in->Fail(what + " " + std::to_string(count)));
  return in->status().ok() ? count : 0;
}

std::vector<BlobReference> ReadBlobFiles(EditReader* in) {
  std::vector<BlobReference> blob_files;
  const uint64_t count = ReadCount(in, 19, "blob file count");
  for (uint64_t i = 0; i < count && in->status().ok(); ++i) {
    BlobReference reference;
    reference.blob_file = in->ReadFileId();
    reference.records = in->Varint("records of a blob file");
    reference.raw_bytes = in->Varint("bytes of a blob file");
    if (in->status().ok() && !blob_files.empty() &&
        reference.blob_file <= blob_files.back().blob_file)
      static_cast<void>(in->Fail("blob files do not ascend"));
    blob_files.push_back(reference);
  }
  return blob_files;
}

VersionEdit::AddedValueFile::Location ReadLocation(EditReader* in, const ValueFileMeta& meta) {
  VersionEdit::AddedValueFile::Location location;
  location.blob_file = in->ReadFileId();
  location.lower = in->Bytes(kBoundBytesMax, "location's lower bound");
  location.upper = in->Bytes(kBoundBytesMax, "location's upper bound");
  if (!in->status().ok()) return location;
  if (location.lower >= location.upper || location.lower < meta.lower ||
      location.upper > meta.upper)
    static_cast<void>(in->Fail("a location's bounds are empty or pass the file's own"));
  const bool holds = std::any_of(
      meta.blob_files.begin(), meta.blob_files.end(),
      [&](const BlobReference& reference) { return reference.blob_file == location.blob_file; });
  if (!holds)
    static_cast<void>(in->Fail("a location of a blob file that its value file does not hold"));
  return location;
}

std::map<uint64_t, TableShare> ReadTableShares(EditReader* in) {
  std::map<uint64_t, TableShare> tables;
  const uint64_t count = ReadCount(in, 11, "table count");
  for (uint64_t i = 0; i < count && in->status().ok(); ++i) {
    const uint64_t id = in->TableId();
    TableShare share;
    share.records = in->Varint("records of a table");
    share.raw_bytes = in->Varint("bytes of a table");
    share.newest_ms = static_cast<int64_t>(in->Fixed64("newest timestamp"));
    if (in->status().ok() && !tables.empty() && id <= tables.rbegin()->first)
      static_cast<void>(in->Fail("table ids do not ascend"));
    tables.emplace(id, share);
  }
  return tables;
}

// Each record belongs to a known table, so the tables' sums equal the file's.
bool AddUp(const ValueFileMeta& meta) {
  uint64_t records = 0, raw_bytes = 0;
  for (const auto& [id, share] : meta.tables) {
    records += share.records;
    raw_bytes += share.raw_bytes;
  }
  return records == meta.records && raw_bytes == meta.raw_bytes;
}

Status ReadValueFile(EditReader* in, Tag tag, FileTable* files, VersionEdit* edit) {
  auto meta = std::make_shared<ValueFileMeta>();
  meta->id = in->ReadFileId();
  meta->bytes = in->Varint("value file bytes");
  meta->crc32c = in->Fixed32("value file checksum");
  for (uint64_t* n : {&meta->records, &meta->raw_bytes, &meta->stored_bytes})
    *n = in->Varint("value file counter");
  meta->lower = in->Bytes(kBoundBytesMax, "value file's lower bound");
  meta->upper = in->Bytes(kBoundBytesMax, "value file's upper bound");
  if (in->status().ok() && meta->lower >= meta->upper)
    return in->Fail("value file bounds are empty");
  meta->blob_files = ReadBlobFiles(in);
  if (tag != kValueFileAdded) {
    meta->tables = ReadTableShares(in);
    if (in->status().ok() && !AddUp(*meta))
      return in->Fail("the tables' shares of a value file do not add up");
  }
  if (tag == kValueFileInGroupAdded) {
    meta->level = in->Level();
    meta->group = in->Varint("group of a value file");
    if (in->status().ok() && meta->group == 0) return in->Fail("a value file is in group 0");
  }
  VersionEdit::AddedValueFile added;
  const uint64_t count = ReadCount(in, 19, "location count");
  for (uint64_t i = 0; i < count && in->status().ok(); ++i)
    added.locations.push_back(ReadLocation(in, *meta));
  LAVA_RETURN_IF_ERROR(in->status());
  Result<std::shared_ptr<ValueFileMeta>> interned = files->Intern(std::move(meta));
  if (!interned.ok()) return in->Fail(interned.status().message());
  added.file = std::move(interned).value();
  edit->values_added.push_back(std::move(added));
  return Status::OK();
}

TableRegistration ReadTable(EditReader* in) {
  TableRegistration table;
  table.name = in->Bytes(kTableNameBytesMax, "table name");
  table.id = in->TableId();
  const uint8_t kind = in->Byte("table kind");
  if (in->status().ok() && kind > static_cast<uint8_t>(TableKind::kList))
    static_cast<void>(in->Fail("table kind " + std::to_string(kind)));
  table.options.kind = static_cast<TableKind>(kind);
  const uint8_t layout = in->Byte("ttl layout");
  if (in->status().ok() && layout > static_cast<uint8_t>(TtlLayout::kList))
    static_cast<void>(in->Fail("ttl layout " + std::to_string(layout)));
  table.options.ttl_layout = static_cast<TtlLayout>(layout);
  table.options.ttl_ms = static_cast<int64_t>(in->Fixed64("ttl"));
  if (in->status().ok() && table.options.ttl_ms < 0) static_cast<void>(in->Fail("negative ttl"));
  return table;
}

Status ReadAdded(EditReader* in, bool with_references, FileTable* files, VersionEdit* edit) {
  VersionEdit::AddedFile added;
  added.level = in->Level();
  std::shared_ptr<FileMeta> meta = ReadFileMeta(in);
  if (with_references) meta->blob_references = ReadBlobFiles(in);
  added.entry.lower = in->Bytes(kBoundBytesMax, "entry's lower bound");
  added.entry.upper = in->Bytes(kBoundBytesMax, "entry's upper bound");
  LAVA_RETURN_IF_ERROR(in->status());
  if (added.entry.lower >= added.entry.upper) return in->Fail("entry bounds are empty");
  if (added.entry.lower < meta->lower || added.entry.upper > meta->upper)
    return in->Fail("entry bounds pass the file's own");
  Result<std::shared_ptr<FileMeta>> interned = files->Intern(std::move(meta));
  if (!interned.ok()) return in->Fail(interned.status().message());
  added.entry.file = std::move(interned).value();
  edit->added.push_back(std::move(added));
  return Status::OK();
}

Status ReadField(EditReader* in, FileTable* files, VersionEdit* edit) {
  const uint8_t tag = in->Byte("tag");
  switch (tag) {
    case kPartitionBytes: {
      const uint8_t bytes = in->Byte("partition bytes");
      if (in->status().ok() && bytes != 1 && bytes != 2) return in->Fail("partition bytes");
      edit->partition_bytes = bytes;
      break;
    }
    case kNextFileNumber:
      edit->next_file_number = in->Varint("next file number");
      break;
    case kWalFlushed:
      edit->wal_flushed = in->Varint("position of the write-ahead log");
      break;
    case kEntriesReleased:
      edit->entries_released = in->Varint("position of the layer above");
      break;
    case kOrigin: {
      Origin origin;
      origin.high = in->Fixed64("origin");
      origin.low = in->Fixed64("origin");
      edit->origins.push_back(origin);
      break;
    }
    case kTableRegistered:
      edit->registered.push_back(ReadTable(in));
      break;
    case kTableDropped:
      edit->dropped.push_back(in->TableId());
      break;
    case kFileRemoved: {
      VersionEdit::RemovedFile removed;
      removed.level = in->Level();
      removed.id = in->ReadFileId();
      removed.lower = in->Bytes(kBoundBytesMax, "removed entry's bound");
      edit->removed.push_back(std::move(removed));
      break;
    }
    case kFileAdded:
    case kFileWithReferencesAdded:
      return ReadAdded(in, tag == kFileWithReferencesAdded, files, edit);
    case kValueFileRemoved:
      edit->values_removed.push_back(in->ReadFileId());
      break;
    case kValueFileAdded:
    case kValueFileWithTablesAdded:
    case kValueFileInGroupAdded:
      return ReadValueFile(in, static_cast<Tag>(tag), files, edit);
    case kBlobFileExpired: {
      VersionEdit::ExpiredBlobFile& expired = edit->blob_files_expired.emplace_back();
      expired.blob_file = in->ReadFileId();
      expired.table = in->TableId();
      expired.timestamp_ms = static_cast<int64_t>(in->Fixed64("timestamp"));
      break;
    }
    default:
      return in->Fail("unknown tag " + std::to_string(tag));
  }
  return in->status();
}

bool SameFile(const ValueFileMeta& a, const ValueFileMeta& b) {
  return a.bytes == b.bytes && a.crc32c == b.crc32c && a.records == b.records &&
         a.raw_bytes == b.raw_bytes && a.stored_bytes == b.stored_bytes && a.lower == b.lower &&
         a.upper == b.upper && a.blob_files == b.blob_files && a.tables == b.tables &&
         a.level == b.level && a.group == b.group;
}

bool SameFile(const FileMeta& a, const FileMeta& b) {
  return a.bytes == b.bytes && a.crc32c == b.crc32c && a.records == b.records &&
         a.raw_bytes == b.raw_bytes && a.lower == b.lower && a.upper == b.upper &&
         a.tables == b.tables && a.blob_references == b.blob_references && a.deletes == b.deletes &&
         a.prefix_deletes == b.prefix_deletes && a.range_tombstones == b.range_tombstones;
}

template <typename Meta>
Result<std::shared_ptr<Meta>> InternIn(std::map<FileId, std::weak_ptr<Meta>>* files,
                                       const std::string& name, std::shared_ptr<Meta> meta) {
  std::weak_ptr<Meta>& slot = (*files)[meta->id];
  if (std::shared_ptr<Meta> known = slot.lock()) {
    if (!SameFile(*known, *meta))
      return Status::Corruption("two descriptions of file " + name + " differ");
    return known;
  }
  slot = meta;
  return meta;
}

}  // namespace

Result<std::shared_ptr<FileMeta>> FileTable::Intern(std::shared_ptr<FileMeta> meta) {
  const std::string name = meta->id.FileName();
  return InternIn(&files_, name, std::move(meta));
}

Result<std::shared_ptr<ValueFileMeta>> FileTable::Intern(std::shared_ptr<ValueFileMeta> meta) {
  const std::string name = meta->id.ValueFileName();
  return InternIn(&value_files_, name, std::move(meta));
}

void FileTable::InternAll(const Version& version) {
  for (const auto& level : version.levels)
    for (const KeyFileEntry& entry : level) files_[entry.file->id] = entry.file;
  for (const auto& [id, entry] : version.value_files) value_files_[id] = entry.file;
}

void EncodeEdit(const VersionEdit& edit, std::string* out) {
  if (edit.partition_bytes) {
    out->push_back(kPartitionBytes);
    out->push_back(static_cast<char>(*edit.partition_bytes));
  }
  if (edit.next_file_number) {
    out->push_back(kNextFileNumber);
    PutVarint64(out, *edit.next_file_number);
  }
  if (edit.wal_flushed) {
    out->push_back(kWalFlushed);
    PutVarint64(out, *edit.wal_flushed);
  }
  if (edit.entries_released) {
    out->push_back(kEntriesReleased);
    PutVarint64(out, *edit.entries_released);
  }
  for (const Origin& origin : edit.origins) {
    out->push_back(kOrigin);
    PutFixed64(out, origin.high);
    PutFixed64(out, origin.low);
  }
  for (const TableRegistration& table : edit.registered) {
    out->push_back(kTableRegistered);
    PutTable(table, out);
  }
  for (uint64_t id : edit.dropped) {
    out->push_back(kTableDropped);
    PutVarint64(out, id);
  }
  for (const VersionEdit::RemovedFile& removed : edit.removed) {
    out->push_back(kFileRemoved);
    out->push_back(static_cast<char>(removed.level));
    PutFileId(removed.id, out);
    PutLengthPrefixed(out, removed.lower);
  }
  for (const FileId& id : edit.values_removed) {
    out->push_back(kValueFileRemoved);
    PutFileId(id, out);
  }
  for (const VersionEdit::AddedValueFile& added : edit.values_added) {
    const ValueFileMeta& file = *added.file;
    out->push_back(file.group != 0       ? kValueFileInGroupAdded
                   : file.tables.empty() ? kValueFileAdded
                                         : kValueFileWithTablesAdded);
    PutValueFile(added, out);
  }
  for (const VersionEdit::ExpiredBlobFile& expired : edit.blob_files_expired) {
    out->push_back(kBlobFileExpired);
    PutFileId(expired.blob_file, out);
    PutVarint64(out, expired.table);
    PutFixed64(out, static_cast<uint64_t>(expired.timestamp_ms));
  }
  for (const VersionEdit::AddedFile& added : edit.added) {
    const std::vector<BlobReference>& references = added.entry.file->blob_references;
    out->push_back(references.empty() ? kFileAdded : kFileWithReferencesAdded);
    out->push_back(static_cast<char>(added.level));
    PutFileMeta(*added.entry.file, out);
    if (!references.empty()) PutBlobFiles(references, out);
    PutLengthPrefixed(out, added.entry.lower);
    PutLengthPrefixed(out, added.entry.upper);
  }
}

Status DecodeEdit(Slice payload, uint64_t base_offset, FileTable* files, VersionEdit* edit) {
  EditReader in(payload, base_offset);
  while (!in.done()) LAVA_RETURN_IF_ERROR(ReadField(&in, files, edit));
  return Status::OK();
}

}  // namespace lava
