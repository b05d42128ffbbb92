// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/key_path.h"

#include <algorithm>
#include <charconv>

#include "base/coding.h"
#include "base/dictionary.h"
#include "base/internal_key.h"
#include "base/list_parts.h"
#include "base/value_reference.h"
#include "inspect/text.h"
#include "read/readers.h"
#include "read/version_lookup.h"

namespace lava::inspect {
namespace {

constexpr int kAttemptsMax = 32;

const char* NameOf(Compression codec) {
  if (codec == kZstdDictionary) return "zstd with the file's dictionary";
  switch (codec) {
    case Compression::kNone:
      return "none";
    case Compression::kLz4:
      return "lz4";
    case Compression::kZstd:
      return "zstd";
  }
  return "?";
}

const char* WordFor(RecordKind kind) {
  switch (kind) {
    case RecordKind::kPut:
      return "put";
    case RecordKind::kDelete:
      return "delete";
    case RecordKind::kAppend:
      return "append";
    case RecordKind::kPrefixDelete:
      return "prefix delete";
    case RecordKind::kPutReference:
      return "put of a reference";
    case RecordKind::kPutParts:
      return "put of a list with references";
    case RecordKind::kAppendParts:
      return "append with references";
  }
  return "?";
}

/// The record's location in one value file, by its dense index.
Status PlaceRecord(const ValueReader& reader, Slice key, const FileId& blob_file, Json* place) {
  const std::unique_ptr<ValueKeyIterator> at = reader.NewKeyIterator();
  while (at->Valid() && (at->key() < key || (at->key() == key && at->blob_file() != blob_file)))
    at->Next();
  LAVA_RETURN_IF_ERROR(at->status());
  if (!at->Valid() || at->key() != key) return Status::NotFound();
  std::string buffer;
  Compression codec;
  Slice stored;
  (*place)["record_offset"] = at->record_offset();
  (*place)["record_bytes"] = at->record_bytes();
  LAVA_RETURN_IF_ERROR(reader.ReadStored(*at, &buffer, &codec, &stored));
  (*place)["stored_bytes"] = stored.size();
  (*place)["raw_bytes"] = at->raw_bytes();
  (*place)["codec"] = NameOf(codec);
  return Status::OK();
}

}  // namespace

KeyPath::KeyPath(Store* store, const Instance& instance, const KeyRequest& request,
                 uint64_t table_id, Show show)
    : store_(*store),
      instance_(instance),
      names_(instance.state, show),
      context_(instance.Context(&store->files, store->cache.get())),
      table_id_(table_id) {
  const uint32_t partition_bytes = instance.state.partition_bytes;
  key_ = request.key.substr(0, partition_bytes);
  PutBigEndian(&key_, table_id, kTableIdBytes);
  key_ += request.key.substr(partition_bytes);
  if (request.prefix_bytes) prefix_bytes_ = *request.prefix_bytes + kTableIdBytes;
}

Status KeyPath::Open(uint32_t level, const KeyFileEntry& entry) {
  LAVA_ASSIGN_OR_RETURN(std::shared_ptr<TableReader> reader, OpenReader(context_, *entry.file));
  entry.file->reader.Set(std::move(reader));
  Answer answer;
  answer.level = level;
  answer.file = entry.file.get();
  answers_.push_back(std::move(answer));
  return Status::OK();
}

Status KeyPath::Ask(Answer* asked) {
  Answer& answer = *asked;
  const TableReader* reader = ReaderOf(*answer.file);
  const std::unique_ptr<RecordIterator> at = reader->NewIterator({.fill_cache = false});
  for (at->Seek(key_); at->Valid() && at->record().key == key_; at->Next()) {
    const Record& record = at->record();
    if (record.kind == RecordKind::kPrefixDelete) continue;  // for a prefix that is the whole key
    answer.kind = record.kind;
    answer.value = record.value;
    if (record.prefix_bytes != 0 && !prefix_bytes_) prefix_bytes_ = record.prefix_bytes;
  }
  LAVA_RETURN_IF_ERROR(at->status());
  answer.range_tombstone = reader->range_tombstones().Covers(key_);
  return Status::OK();
}

Status KeyPath::AskPrefixDeletes() {
  if (!prefix_bytes_ || *prefix_bytes_ > key_.size()) return Status::OK();
  for (Answer& answer : answers_) {
    LAVA_ASSIGN_OR_RETURN(
        answer.prefix_delete,
        ReaderOf(*answer.file)->HasPrefixDelete(Slice(key_).substr(0, *prefix_bytes_)));
  }
  return Status::OK();
}

Json KeyPath::Say(Answer* answer) {
  Json said{{"level", answer->level}, {"file", answer->file->id.FileName()}};
  said["asked"] = !done_;  // otherwise a newer record hides its content
  said["says"] = "nothing";
  if (answer->kind) {
    said["says"] = WordFor(*answer->kind);
    ValueReference reference;
    if (*answer->kind == RecordKind::kPutReference && DecodeReference(answer->value, &reference)) {
      said["blob_file"] = reference.blob_file.ValueFileName();
      said["raw_bytes"] = reference.raw_bytes;
      if (reference.timestamp) said["timestamp_ms"] = *reference.timestamp;
      const bool expired = HasExpired(*instance_.state.version, table_id_, reference);
      if (expired) said["expired"] = true;
      if (!done_) {
        reference_ = reference;
        expired_ = expired;
      }
    } else if (HasParts(*answer->kind)) {
      said["parts"] = Parts(answer->value);
    } else if (*answer->kind != RecordKind::kDelete) {
      said["value"] = names_.Value(answer->value);
    }
  }
  if (answer->prefix_delete) said["prefix_delete"] = true;
  if (answer->range_tombstone) said["range_tombstone"] = true;
  if (done_) return said;
  if (answer->kind) found_ = found_ || (*answer->kind != RecordKind::kDelete && !expired_);
  const bool operand = answer->kind && IsAppend(*answer->kind);
  if (operand) ++appends_;
  done_ = (answer->kind && !operand) || answer->prefix_delete || answer->range_tombstone;
  return said;
}

Json KeyPath::Parts(Slice list) {
  Json said = Json::array();
  std::vector<ListPart> parts;
  if (!SplitList(list, &parts).ok()) return said;  // the reader has checked it
  for (const ListPart& part : parts) {
    ValueReference reference;
    if (!part.is_reference) {
      said.push_back({{"inline_bytes", part.bytes.size()}});
    } else if (ReferenceOf(part, &reference).ok()) {
      said.push_back(
          {{"blob_file", reference.blob_file.ValueFileName()}, {"raw_bytes", reference.raw_bytes}});
      if (!done_) parts_.push_back(reference);
    }
  }
  return said;
}

Json KeyPath::Value(const ValueReference& reference, std::vector<Fault>* faults) {
  Json value{{"blob_file", reference.blob_file.ValueFileName()},
             {"raw_bytes", reference.raw_bytes}};
  value["locations"] = Json::array();
  bool found = false;
  const auto blob_file = instance_.state.version->blob_files.find(reference.blob_file);
  if (blob_file != instance_.state.version->blob_files.end()) {
    for (const BlobLocation& location : blob_file->second->locations) {
      if (key_ < location.lower || key_ >= location.upper) continue;
      const std::string name = location.file->id.ValueFileName();
      Json place{{"file", name}, {"path", store_.files.TargetOf(instance_.PathOf(name))}};
      const Status status = ReadLocation(location, reference, &place);
      place["found"] = status.ok();
      found |= status.ok();
      if (!status.ok() && !status.IsNotFound())
        faults->push_back(FaultOf(place["path"].get<std::string>(), status));
      value["locations"].push_back(std::move(place));
    }
  }
  if (!found && faults->empty())
    faults->push_back({instance_.source, std::nullopt, "Corruption",
                       "a value that was first written in " + reference.blob_file.ValueFileName() +
                           " is in no value file: restore from a checkpoint"});
  return value;
}

Status KeyPath::ReadLocation(const BlobLocation& location, const ValueReference& reference,
                             Json* place) {
  const Result<std::shared_ptr<ValueReader>> reader = OpenValueReader(context_, *location.file);
  if (!reader.ok()) {
    if (!reader.status().IsNotFound()) return reader.status();
    missing_ = location.file->id.ValueFileName();
    return Status::IOError(std::string(reader.status().message()));  // it may have the value
  }
  location.file->reader.Set(reader.value());
  LAVA_RETURN_IF_ERROR(PlaceRecord(*reader.value(), key_, reference.blob_file, place));
  Slice value;
  std::shared_ptr<const void> pin;
  LAVA_RETURN_IF_ERROR(reader.value()->Get(key_, reference.blob_file, false, &value, &pin));
  (*place)["value"] = names_.Value(value);
  if (value.size() == reference.raw_bytes) return Status::OK();
  return Status::Corruption(reader.value()->path() + ": the value has " +
                            std::to_string(value.size()) + " bytes, its reference says " +
                            std::to_string(reference.raw_bytes));
}

Status KeyPath::CheckAgainstLookup() {
  Lookup lookup(key_, prefix_bytes_.value_or(0));
  LAVA_RETURN_IF_ERROR(LookUpInFiles(*instance_.state.version, &lookup));
  if (lookup.reference() == nullptr) {
    lookup.Finish();
    if (lookup.found() == found_) return Status::OK();
  } else if (reference_ && *lookup.reference() == *reference_) {
    return Status::OK();
  }
  return Status::Corruption(
      "a lookup of the key answers otherwise than the records: an index or filter is damaged");
}

Status KeyPath::AskFiles() {
  const Version& version = *instance_.state.version;
  for (const KeyFileEntry& entry : version.levels[0])
    if (key_ >= entry.lower && key_ < entry.upper) LAVA_RETURN_IF_ERROR(Open(0, entry));
  for (uint32_t level = 1; level < kLevelCountMax; ++level) {
    const KeyFileEntry* entry =
        version.levels[level].empty() ? nullptr : FindEntry(version.levels[level], key_);
    if (entry != nullptr) LAVA_RETURN_IF_ERROR(Open(level, *entry));
  }
  for (Answer& answer : answers_) LAVA_RETURN_IF_ERROR(Ask(&answer));
  return AskPrefixDeletes();
}

Status KeyPath::Walk(Json* out, std::vector<Fault>* faults) {
  *out = HeadOf(instance_);
  (*out)["key"] = names_.Of(key_);
  (*out)["memtable"] = "not on disk: what was written since the last flush is not seen here";
  (*out)["runs"] = Json::array();
  const Status asked = AskFiles();
  if (asked.IsNotFound()) return asked;  // the caller checks whether the file left the version
  if (!asked.ok()) {
    faults->push_back(FaultOf(instance_.source, asked));
    (*out)["answer"] = "unknown";
    return Status::OK();
  }
  if (prefix_bytes_) (*out)["prefix_bytes"] = *prefix_bytes_ - kTableIdBytes;
  for (Answer& answer : answers_) (*out)["runs"].push_back(Say(&answer));
  const uint64_t appends = appends_;
  const Status agreed = CheckAgainstLookup();
  if (!agreed.ok()) faults->push_back(FaultOf(instance_.source, agreed));
  if (reference_ && !expired_) (*out)["value"] = Value(*reference_, faults);
  for (const ValueReference& part : parts_) (*out)["parts"].push_back(Value(part, faults));
  if (!missing_.empty() && !StillNames(&store_.files, instance_, missing_))
    return Status::NotFound(missing_ + " left the version");
  (*out)["appends"] = appends;
  (*out)["answer"] = found_ ? "found" : "not found";
  return Status::OK();
}

namespace {

Result<uint64_t> TableIdFor(const Instance& instance, const std::string& text) {
  for (const auto& [id, table] : instance.state.tables)
    if (table.name == text || Escape(table.name) == text) return id;
  constexpr std::string_view kById = "id:0x";
  if (text.starts_with(kById)) {
    uint64_t id = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + kById.size(), end, id, 16);
    if (parsed.ec == std::errc() && parsed.ptr == end && id < kTableIdLimit) return id;
  }
  std::string known;
  for (const auto& [id, table] : instance.state.tables)
    known += (known.empty() ? "" : ", ") + Escape(table.name);
  return Status::InvalidArgument("no table '" + text + "' in " + instance.source +
                                 "; there are: " + known);
}

// Reads the instance again as long as files are removed meanwhile.
Status WalkOf(Store* store, Instance* instance, const KeyRequest& request, Show show, Json* out,
              std::vector<Fault>* faults) {
  for (int attempt = 1;; ++attempt) {
    LAVA_ASSIGN_OR_RETURN(const uint64_t table_id, TableIdFor(*instance, request.table));
    KeyPath path(store, *instance, request, table_id, show);
    std::vector<Fault> found;
    const Status status = path.Walk(out, &found);
    if (!status.IsNotFound()) {
      faults->insert(faults->end(), found.begin(), found.end());
      return status;
    }
    (*out)["answer"] = "unknown";
    if (!instance->in_db_directory) {
      faults->push_back(FaultOf(instance->source, status));
      faults->back().code = "Missing";
      return Status::OK();
    }
    Result<Instance> again = ReadDbDirectory(&store->files, instance->directory);
    if (!again.ok()) {
      faults->push_back(FaultOf(instance->source, again.status()));
      return Status::OK();
    }
    const bool changed = again.value().log.bytes != instance->log.bytes ||
                         again.value().manifest_number != instance->manifest_number;
    if (!changed) {  // no process works there, so the file should exist
      faults->push_back(FaultOf(instance->source, status));
      faults->back().code = "Missing";
      return Status::OK();
    }
    if (attempt == kAttemptsMax) {
      store->notes.push_back(instance->source +
                             ": files were removed faster than they could be read; try again");
      return Status::OK();
    }
    *instance = std::move(again).value();
  }
}

}  // namespace

Result<Json> FindKey(Store* store, const KeyRequest& request, Show show) {
  Json json{{"command", "key"}, {"instances", Json::array()}};
  std::vector<Fault> faults = store->faults;
  for (Instance& instance : store->instances) {
    const uint32_t partition_bytes = instance.state.partition_bytes;
    if (request.key.size() < partition_bytes ||
        (request.prefix_bytes &&
         (*request.prefix_bytes < partition_bytes || *request.prefix_bytes > request.key.size())))
      return Status::InvalidArgument("the key, and its prefix, begin with the partition's " +
                                     std::to_string(partition_bytes) + " bytes");
    Json one;
    LAVA_RETURN_IF_ERROR(WalkOf(store, &instance, request, show, &one, &faults));
    json["instances"].push_back(std::move(one));
  }
  if (store->instances.empty() && faults.empty())
    return Status::InvalidArgument("a key is looked for in an instance or a checkpoint");
  json["faults"] = ToJson(faults);
  json["notes"] = store->notes;
  return json;
}

}  // namespace lava::inspect
