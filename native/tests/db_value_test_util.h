// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db_test_util.h"
#include "job/job_context.h"
#include "testing/fault_file_system.h"
#include "testing/recording_listener.h"
#include "value/value_reader.h"

namespace lava::testing {

struct FaultyFiles {
  ChosenFileSystem files;
  FaultFileSystem faults{&files};
};

/// A SimDB whose tables move values of 100 bytes and more into value files, uncompressed.
/// Compactions happen only with CompactAll(), collections only after CollectFrom().
class ValueDB : public FaultyFiles, public SimDB {
 public:
  explicit ValueDB(uint64_t seed = 1) : SimDB(seed, &faults) {
    options().value_compression = Compression::kNone;
    options().l0_compaction_trigger = 100;
    options().l0_stall_trigger = 200;
    options().collection_garbage_percent = 101;
    options().listeners = {heard_};
  }
  /// Events of all opens.
  RecordingListener& heard() { return *heard_; }
  /// Runs jobs until one more event of the kind is received. False when nothing is left to run.
  bool RunUntilTold(EventKind kind) {
    const size_t before = heard_->count(kind);
    while (heard_->count(kind) == before)
      if (!executor().RunOne()) return false;
    return true;
  }

  static TableOptions Separated(uint64_t bytes = 100) {
    return {.kind = TableKind::kMap, .separation_bytes = bytes};
  }
  Table* Values(const std::string& name = "t", const TableOptions& options = Separated()) {
    Result<Table*> table = get()->CreateTable(name, options);
    EXPECT_OK(table.status());
    return table.ok() ? *table : nullptr;
  }

  /// Reopens with this collection_garbage_percent; due jobs wait in the executor.
  Status CollectFrom(uint32_t percent, const std::string& path = "/db") {
    options().collection_garbage_percent = percent;
    return Open({}, path);
  }
  Status Settle() {
    LAVA_RETURN_IF_ERROR(CompactAll());
    executor().RunUntilIdle();
    return Status::OK();
  }

  /// From now on no byte of a value file can be read; faults.fired() counts the attempts.
  void ForbidValueReads() {
    faults.Arm({.fault = Fault::kIOError,
                .call = 1,
                .forever = true,
                .only = FileCall::kRead,
                .path_contains = ".vsst"});
  }

  std::vector<std::string> ValueFileNames(const std::string& path = "/db") {
    std::vector<std::string> names;
    for (const std::string& name : files.Paths())
      if (name.starts_with(path + "/") && name.ends_with(".vsst")) names.push_back(name);
    return names;
  }

  /// A checkpoint: returns the metadata, and links the files into another directory.
  std::string TakeTo(const std::string& to, const std::string& from = "/db") {
    Result<std::shared_ptr<Snapshot>> snapshot = get()->TakeSnapshot();
    EXPECT_OK(snapshot.status());
    EXPECT_OK(FlushSnapshot(snapshot->get()));
    std::vector<Snapshot::File> named;
    std::string metadata;
    EXPECT_OK((*snapshot)->Files(&named, &metadata));
    EXPECT_OK(files.CreateDirectory(to));
    for (const Snapshot::File& file : named) {
      if (!*files.Exists(to + "/" + file.name)) {
        EXPECT_OK(files.Link(from + "/" + file.name, to + "/" + file.name));
      }
    }
    return metadata;
  }

 private:
  const std::shared_ptr<RecordingListener> heard_ = std::make_shared<RecordingListener>();
};

/// A separated value that is different from every other.
inline std::string Large(const std::string& tag, size_t bytes = 1000) {
  std::string value = tag + "|";
  value.resize(std::max(bytes, value.size()), 'v');
  return value;
}

struct RecordLocation {
  std::string path;
  uint64_t offset = 0, bytes = 0;
};
/// The location in the value file of the record of a key, identified by the key's last bytes.
inline RecordLocation LocationOf(CrashableFileSystem* files, const std::string& path,
                                 Slice key_end) {
  const std::unique_ptr<BlockCache> cache = BlockCache::Create(0);
  const std::shared_ptr<ValueReader> reader =
      *ValueReader::Open(std::move(files->OpenRandom(path)).value(), cache.get(), nullptr, nullptr);
  const auto at = reader->NewKeyIterator();
  for (; at->Valid(); at->Next())
    if (at->key().ends_with(key_end)) return {path, at->record_offset(), at->record_bytes()};
  return {};
}

}  // namespace lava::testing
