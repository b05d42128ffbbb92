// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/version_lookup.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/lookup.h"
#include "base/value_reference.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/blob_locations.h"
#include "manifest/version.h"
#include "read/readers.h"
#include "table/table_reader.h"
#include "value/record_pieces.h"
#include "value/value_file.h"
#include "value/value_reader.h"

namespace lava {
namespace {

void Prefetch(const KeyFileEntry& entry, const Lookup& lookup) {
  if (const TableReader* const reader = ReaderOf(entry)) reader->Prefetch(lookup);
}

Status Ask(const KeyFileEntry& entry, Lookup* lookup) {
  const TableReader* const reader = ReaderOf(entry);
  if (reader == nullptr) [[unlikely]]
    return NeedsFile(*entry.file);
  return reader->Get(lookup);
}

// Overlaps the memory accesses to all filters; most runs then need no further work.
void PrefetchFiles(const Version& version, const Lookup& lookup) {
  const Slice key = lookup.key();
  for (const KeyFileEntry& entry : version.levels[0])
    if (key >= entry.lower && key < entry.upper) Prefetch(entry, lookup);
  for (uint32_t n = 1; n < kLevelCountMax; ++n) {
    if (version.levels[n].empty()) continue;
    const KeyFileEntry* entry = FindEntry(version.levels[n], key);
    if (entry != nullptr) Prefetch(*entry, lookup);
  }
}

}  // namespace

Status LookUpInFiles(const Version& version, Lookup* lookup) {
  const Slice key = lookup->key();
  PrefetchFiles(version, *lookup);
  for (const KeyFileEntry& entry : version.levels[0]) {
    if (key < entry.lower || key >= entry.upper) continue;
    LAVA_RETURN_IF_ERROR(Ask(entry, lookup));
    if (lookup->done()) return Status::OK();
  }
  for (uint32_t n = 1; n < kLevelCountMax; ++n) {
    if (version.levels[n].empty()) continue;
    const KeyFileEntry* entry = FindEntry(version.levels[n], key);
    if (entry == nullptr) continue;
    LAVA_RETURN_IF_ERROR(Ask(*entry, lookup));
    if (lookup->done()) return Status::OK();
  }
  return Status::OK();
}

namespace {

// Calls get(file) for each location of the reference's blob file that may hold the key. False if
// the value is in none of them.
template <typename Get>
Result<bool> AskLocations(const Version& version, Slice key, const ValueReference& reference,
                          Get get) {
  const auto blob_file = version.blob_files.find(reference.blob_file);
  if (blob_file == version.blob_files.end()) return false;
  for (const BlobLocation& location : blob_file->second->locations) {
    if (key < location.lower || key >= location.upper) continue;
    uint64_t raw_bytes = 0;
    const Status status = get(*location.file, &raw_bytes);
    if (status.IsNotFound()) continue;
    LAVA_RETURN_IF_ERROR(status);
    if (raw_bytes == reference.raw_bytes) return true;
    return Status::Corruption("value file " + location.file->id.ValueFileName() + ": a value has " +
                              std::to_string(raw_bytes) + " bytes, its reference says " +
                              std::to_string(reference.raw_bytes) + ": restore from a checkpoint");
  }
  return false;
}

}  // namespace

Status ValueIsLost(const ValueReference& reference) {
  return Status::Corruption("a value that was first written in " +
                            reference.blob_file.ValueFileName() +
                            " is in no value file: restore from a checkpoint");
}

Result<bool> FindValue(const Version& version, Slice key, const ValueReference& reference,
                       bool fill_cache, Slice* value, std::shared_ptr<const void>* pin) {
  return AskLocations(version, key, reference, [&](const ValueFileMeta& file, uint64_t* raw_bytes) {
    LAVA_ASSIGN_OR_RETURN(const ValueReader* const reader, RequireReader(file));
    LAVA_RETURN_IF_ERROR(reader->Get(key, reference.blob_file, fill_cache, value, pin));
    *raw_bytes = value->size();
    return Status::OK();
  });
}

Result<bool> ReadValueInPieces(const Version& version, Slice key, const ValueReference& reference,
                               const PiecewiseRead& read) {
  bool done = false;
  LAVA_ASSIGN_OR_RETURN(
      const bool found,
      AskLocations(version, key, reference, [&](const ValueFileMeta& file, uint64_t* raw_bytes) {
        LAVA_ASSIGN_OR_RETURN(const ValueReader* const reader, RequireReader(file));
        LAVA_ASSIGN_OR_RETURN(done, reader->GetInPieces(key, reference.blob_file, read));
        *raw_bytes = read.raw_bytes;
        return Status::OK();
      }));
  return found && done;
}

Status ReadValue(const Version& version, Slice key, const ValueReference& reference,
                 bool fill_cache, Slice* value, std::shared_ptr<const void>* pin) {
  LAVA_ASSIGN_OR_RETURN(const bool found,
                        FindValue(version, key, reference, fill_cache, value, pin));
  return found ? Status::OK() : ValueIsLost(reference);
}

Result<bool> ValueScan::Find(const std::set<const ValueFileMeta*>& files, Slice key,
                             const ValueReference& reference, StoredValue* stored) {
  return AskLocations(version_, key, reference,
                      [&](const ValueFileMeta& file, uint64_t* raw_bytes) {
                        if (!files.contains(&file)) return Status::NotFound();
                        LAVA_ASSIGN_OR_RETURN(last_, ScannerOf(file, key));
                        LAVA_RETURN_IF_ERROR(last_->GetStored(key, reference.blob_file, stored));
                        *raw_bytes = stored->raw_bytes;
                        return Status::OK();
                      });
}

Result<ValueScanner*> ValueScan::ScannerOf(const ValueFileMeta& file, Slice key) {
  const auto known = scanners_.find(&file);
  if (known != scanners_.end()) return known->second.get();
  LAVA_ASSIGN_OR_RETURN(const ValueReader* const reader, RequireReader(file));
  // Drop scanners of files that end before the key, and with them their pieces.
  std::erase_if(scanners_, [&](const auto& it) { return Slice(it.first->upper) <= key; });
  return scanners_.emplace(&file, reader->NewScanner(piece_bytes_max_)).first->second.get();
}

}  // namespace lava
