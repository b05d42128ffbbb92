// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compaction/tree_for_test.h"
#include "db/read_context.h"
#include "lava/value_pieces.h"
#include "value_log/value_log_segment.h"

namespace lava {

/// The objects that the reads of an instance use, without the instance: a tree, tables, and a
/// context. Reads see the tree as of the last Publish(), Seal() or SealAndFlush(). For tests of
/// this folder. Threads: one thread changes the tree. Other threads may read until the next flush.
class ReadsForTest : public TreeForTest {
 public:
  static constexpr uint64_t kMapId = 7, kListId = 9;
  static constexpr uint32_t kLastPartition = 3;
  static constexpr uint64_t kSeparated = 100;

  explicit ReadsForTest(Compression compression = Compression::kNone) {
    context().value_writer.compression = compression;
    tables[kMapId] = {.kind = TableKind::kMap, .separation_bytes = kSeparated};
    tables[kListId] = {.kind = TableKind::kList, .separation_bytes = kSeparated};
    map_ = Register(kMapId, "map");
    list_ = Register(kListId, "list");
    EXPECT_TRUE(closed_->Close(std::chrono::milliseconds(0)));
    Publish();
  }

  TableImpl* map() const { return map_; }
  TableImpl* list() const { return list_; }
  TableImpl* Register(uint64_t id, const std::string& name) {
    return registry_.Register({name, id, tables[id]}, 1 << 20);
  }
  TableRegistry& registry() { return registry_; }
  ReadContext& reads() { return reads_; }
  Counters& counters() { return counters_; }
  MemoryBudget& memory() { return memory_; }
  uint64_t scan_bytes() const { return memory_.counter(MemoryPurpose::kScans).used(); }
  /// The charge for values that callers keep.
  uint64_t lease_bytes() const { return reads_.lease->used_bytes(); }

  /// From now on, reads without a snapshot see the current tree, and later writes to its active
  /// memtable.
  void Publish() {
    auto view = NewView();
    view->active = std::shared_ptr<MemTable>(std::shared_ptr<void>(), active());
    newest_.Set(ViewRef(view.release()));
  }
  void Seal() {
    TreeForTest::Seal();
    Publish();
  }
  void SealAndFlush() {
    TreeForTest::SealAndFlush();
    Publish();
  }
  void Close() { newest_.Set(ViewRef()); }
  std::shared_ptr<SnapshotImpl> TakeSnapshot() {
    Seal();
    return std::make_shared<SnapshotImpl>(nullptr, closed_, snapshots_,
                                          ViewRef(NewView().release()),
                                          std::map<uint64_t, TableRegistration>(), 0);
  }
  /// Makes the newest file of L0 a missing file.
  void LoseNewestFile() { version()->levels[0][0].file->reader.TakeForTest(); }
  void LoseValueFiles() {
    for (const auto& [id, entry] : version()->value_files) entry.file->reader.TakeForTest();
  }

  /// Makes a segment of the value log to which the active memtable may refer.
  std::shared_ptr<ValueLogSegment> BeginSegment() {
    std::shared_ptr<ValueLogSegment> segment = NewSegment();
    auto segments = std::make_shared<ValueLogSegments>();
    segments->all.push_back(segment);
    active()->Attach(segments);
    return segment;
  }
  /// Makes a segment that no memtable has.
  std::shared_ptr<ValueLogSegment> NewSegment() {
    const FileId id{{1, 3}, ++last_segment_ * kLogBlobFilesMax};
    return *ValueLogSegment::Create(&file_system(), "/db/" + id.ValueFileName(), id,
                                    {.compression = Compression::kNone});
  }
  static ValueReference LogTo(ValueLogSegment* segment, const std::string& key, Slice value) {
    ValueReference reference;
    EXPECT_TRUE(segment->Append(key, value, /*synced=*/false, &reference).ok());
    return reference;
  }
  static ValueReference ReferenceTo(const FileId& blob_file, uint64_t raw_bytes,
                                    std::optional<uint64_t> timestamp = {}) {
    ValueReference reference;
    reference.blob_file = blob_file;
    reference.raw_bytes = raw_bytes;
    reference.timestamp = timestamp;
    return reference;
  }
  static std::string Encoded(const ValueReference& reference) {
    std::string bytes;
    EncodeReference(reference, &bytes);
    return bytes;
  }
  /// Marks values of the blob file with timestamps up to timestamp_ms as expired in the version.
  void Expire(const FileId& blob_file, uint64_t table, int64_t timestamp_ms) {
    auto expired = std::make_shared<BlobFile>();
    expired->expired_to_ms[table] = timestamp_ms;
    auto next = std::make_shared<Version>(*version());
    next->blob_files.emplace(blob_file, std::move(expired));
    set_version(std::move(next));
    Publish();
  }

 private:
  std::unique_ptr<ReadView> NewView() const {
    auto view = std::make_unique<ReadView>();
    for (const std::shared_ptr<const MemTable>& memtable : sealed()) {
      view->sealed.push_back(std::make_shared<SealedRun>());
      view->sealed.back()->memtable = std::const_pointer_cast<MemTable>(memtable);
    }
    view->version = version();
    view->totals = TotalsOf(*version());
    return view;
  }
  static DBOptions Options() {
    DBOptions options;
    options.partition_last = kLastPartition;
    return options;
  }

  MemoryBudget memory_;
  MemoryCounter dead_ranges_;
  SpaceQuota quota_;
  Counters counters_;
  const PartitionRange partitions_{Options()};
  TableRegistry registry_{&dead_ranges_, 12 << 10};
  ViewCell newest_;
  const std::shared_ptr<CloseGuard> closed_ = std::make_shared<CloseGuard>();
  const std::shared_ptr<SnapshotRegistry> snapshots_ = std::make_shared<SnapshotRegistry>(
      &quota_,
      std::make_shared<EventNotifier>(std::vector<std::shared_ptr<EventListener>>(), "/db"));
  ReadContext reads_{&partitions_,
                     &registry_,
                     &newest_,
                     snapshots_.get(),
                     &counters_,
                     memory_.counter(MemoryPurpose::kScans),
                     Host::Get().Acquire(64 << 20, 0.5).value(),
                     kWholeBytesMax};
  TableImpl *map_, *list_;
  uint64_t last_segment_ = 0;
};

/// Returns a user key.
inline std::string UserKey(uint8_t partition, std::string_view rest) {
  return std::string(1, static_cast<char>(partition)).append(rest);
}

}  // namespace lava
