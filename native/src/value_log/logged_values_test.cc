// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value_log/logged_values.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lava/list_format.h"
#include "memory/memory_budget.h"
#include "testing/mem_file_system.h"

namespace lava {
namespace {

constexpr size_t kValueBytes = 1000;

/// Notes what LoggedValues keeps.
class NotedOutput final : public SegmentOutput {
 public:
  void Keep(std::unique_ptr<ValueLogWriter> writer) override { kept.push_back(std::move(writer)); }
  void Keep(const ChangelogSegment& segment) override { ended.push_back(&segment); }
  Status AddLogged(Slice key, const ValueReference& reference) override {
    EXPECT_NE(reference.logged_bytes, 0u);
    added.emplace_back(key);
    timestamps.push_back(reference.timestamp);
    return Status::OK();
  }

  std::vector<std::unique_ptr<ValueLogWriter>> kept;
  std::vector<const ChangelogSegment*> ended;
  std::vector<std::string> added;
  std::vector<std::optional<uint64_t>> timestamps;  // of the added references
};

class LoggedValuesTest : public ::testing::Test {
 protected:
  FileId NextId() { return {{1, 2}, std::exchange(number_, number_ + kLogBlobFilesMax)}; }
  std::shared_ptr<ValueLogSegment> NewSegment() {
    const FileId id = NextId();
    segments_.push_back(*ValueLogSegment::Create(&files_, id.ValueFileName(), id,
                                                 {.compression = Compression::kNone}));
    return segments_.back();
  }
  std::shared_ptr<ChangelogSegment> NewChangelogSegment() {
    const FileId id = NextId();
    std::shared_ptr<ChangelogSegment> segment = *ChangelogSegment::Create(
        &files_, id.ValueFileName(), id, {.compression = Compression::kNone}, &counter_);
    segments_.push_back(segment);
    return segment;
  }
  static std::string ValueOf(const std::string& key) { return key + std::string(kValueBytes, 'v'); }
  // The values of these keys, of which the first `living` live.
  void Append(ValueLogSegment* segment, const std::vector<std::string>& keys, size_t living) {
    for (size_t i = 0; i < keys.size(); ++i) {
      ValueReference reference;
      ASSERT_TRUE(segment->Append(keys[i], ValueOf(keys[i]), false, &reference).ok());
      if (i < living) AddReference(keys[i], reference);
    }
  }
  void AppendEntries(ChangelogSegment* segment, const std::vector<std::string>& keys,
                     size_t living) {
    for (size_t i = 0; i < keys.size(); ++i) {
      const std::string value = ValueOf(keys[i]);
      const ChangelogSegment::Value logged{keys[i], value, 0, 7, std::nullopt};
      LoggedRecord entry;
      ValueReference reference;
      ASSERT_TRUE(segment->AppendEntry(i + 1, 0, {}, &logged, false, &entry, &reference).ok());
      if (i < living) AddReference(keys[i], reference);
    }
  }
  void AddReference(const std::string& key, const ValueReference& reference) {
    std::string encoded;
    EncodeReference(reference, &encoded);
    living_.push_back({key, RecordKind::kPutReference, std::move(encoded)});
  }
  // Does the work of a flush. The records are as a flush writes them.
  Status Flush() {
    LoggedValues logged(segments_);
    for (const Living& one : living_) logged.Weigh({one.key, one.kind, 0, one.value});
    logged.Choose(&output_);
    for (const Living& one : living_) {
      Record record{one.key, one.kind, 0, one.value};
      LAVA_RETURN_IF_ERROR(logged.Place(&output_, &record));
      written_.push_back({one.key, record.kind, std::string(record.value)});
    }
    return Status::OK();
  }
  void ExpectReferenceToFile(size_t i, const FileId& id) {
    EXPECT_EQ(written_[i].kind, RecordKind::kPutReference);
    ValueReference reference;
    ASSERT_TRUE(DecodeReference(written_[i].value, &reference));
    EXPECT_FALSE(reference.is_logged());
    EXPECT_EQ(reference.blob_file, id);
  }

  struct Living {
    std::string key;
    RecordKind kind;
    std::string value;
  };
  testing::MemFileSystem files_;
  MemoryBudget budget_;
  MemoryCounter& counter_ = *budget_.counter(MemoryPurpose::kMemtables);
  uint64_t number_ = 1;
  std::vector<std::shared_ptr<ValueLogSegment>> segments_;
  std::vector<Living> living_, written_;
  NotedOutput output_;
};

TEST_F(LoggedValuesTest, ASegmentThatLivesBecomesAFile) {
  const auto segment = NewSegment();
  Append(segment.get(), {"a", "b", "c", "d"}, 4);
  ASSERT_TRUE(Flush().ok());
  ASSERT_EQ(output_.kept.size(), 1u);
  EXPECT_EQ(output_.kept[0]->id(), segment->id());
  EXPECT_EQ(output_.added, (std::vector<std::string>{"a", "b", "c", "d"}));
  for (size_t i = 0; i < 4; ++i) ExpectReferenceToFile(i, segment->id());
}

TEST_F(LoggedValuesTest, TheValuesOfASegmentThatIsMostlyDeadAreWrittenAnew) {
  const auto dead = NewSegment(), alive = NewSegment();
  Append(dead.get(), {"a", "b", "c", "d"}, 2);
  Append(alive.get(), {"e"}, 1);
  ASSERT_TRUE(Flush().ok());
  ASSERT_EQ(output_.kept.size(), 1u);
  EXPECT_EQ(output_.kept[0]->id(), alive->id());
  EXPECT_EQ(output_.added, (std::vector<std::string>{"e"}));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(written_[i].kind, RecordKind::kPut);
    EXPECT_EQ(written_[i].value, ValueOf(written_[i].key));
  }
  ExpectReferenceToFile(2, alive->id());
}

TEST_F(LoggedValuesTest, AChangelogSegmentStaysIfHalfOfItLives) {
  const auto half = NewChangelogSegment(), less = NewChangelogSegment();
  AppendEntries(half.get(), {"a", "b", "c"}, 2);
  AppendEntries(less.get(), {"d", "e", "f"}, 1);
  ASSERT_TRUE(Flush().ok());
  EXPECT_EQ(output_.ended, (std::vector<const ChangelogSegment*>{half.get()}));
  EXPECT_TRUE(output_.kept.empty());
  EXPECT_TRUE(output_.added.empty()) << "the index of a finished segment is complete";
  ExpectReferenceToFile(0, half->id());
  ExpectReferenceToFile(1, half->id());
  EXPECT_EQ(written_[2].kind, RecordKind::kPut);
  EXPECT_EQ(written_[2].value, ValueOf("d"));
}

TEST_F(LoggedValuesTest, APartOfAListIsPlacedLikeAValue) {
  const auto kept = NewSegment(), dead = NewSegment();
  std::string list;
  ValueReference reference;
  ASSERT_TRUE(kept->Append("list", ValueOf("kept"), false, &reference).ok());
  reference.timestamp = 5;
  AppendListReference(reference, &list);
  Append(dead.get(), {"overwritten"}, 0);
  std::string inline_part;
  AppendListSegment(ListSegment::kElement, ValueOf("moved"), &inline_part);
  ASSERT_TRUE(dead->Append("list", inline_part, false, &reference).ok());
  AppendListReference(reference, &list);
  living_.push_back({"list", RecordKind::kPutParts, list});
  ASSERT_TRUE(Flush().ok());
  ASSERT_EQ(output_.kept.size(), 1u);
  EXPECT_EQ(output_.kept[0]->id(), kept->id());
  EXPECT_EQ(output_.added, (std::vector<std::string>{"list"}));
  EXPECT_EQ(output_.timestamps.at(0), std::nullopt)
      << "the list lives longer than its elements, so the part has no timestamp";
  EXPECT_EQ(written_[0].kind, RecordKind::kPutParts);
  std::vector<ListPart> parts;
  ASSERT_TRUE(SplitList(written_[0].value, &parts).ok());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(parts[0].is_reference);
  ASSERT_TRUE(ReferenceOf(parts[0], &reference).ok());
  EXPECT_FALSE(reference.is_logged());
  EXPECT_EQ(reference.blob_file, kept->id());
  EXPECT_FALSE(parts[1].is_reference);
}

TEST_F(LoggedValuesTest, AReferenceToAnotherSegmentIsCorruption) {
  const auto segment = NewSegment();
  Append(segment.get(), {"a"}, 1);
  segments_.clear();
  EXPECT_TRUE(Flush().IsCorruption());
  living_ = {{"a", RecordKind::kPutReference, "malformed"}};
  EXPECT_TRUE(Flush().IsCorruption());
}

TEST_F(LoggedValuesTest, ASegmentIsFoundByTheBlobFilesThatItHolds) {
  ValueLogSegments segments;
  const auto values = NewSegment();
  const auto entries = NewChangelogSegment();
  segments.all = segments_;
  EXPECT_EQ(segments.Of(values->id()), values);
  FileId blob_file = values->id();
  ++blob_file.number;
  EXPECT_EQ(segments.Of(blob_file), nullptr);
  blob_file = entries->id();
  blob_file.number += kLogBlobFilesMax - 1;
  EXPECT_EQ(segments.Of(blob_file), entries);
  ++blob_file.origin.low;
  EXPECT_EQ(segments.Of(blob_file), nullptr);
}

}  // namespace
}  // namespace lava
