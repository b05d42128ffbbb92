// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db_value_test_util.h"

// Failures of jobs, which no call reports: a damaged file, a full or missing disk.
namespace lava::testing {
namespace {

/// Inline values in "a", separated values in "b".
class DamageTest : public ::testing::Test {
 protected:
  DamageTest() {
    db_.options().compression = Compression::kNone;
    db_.environment().retry_us_min = 1000;
    EXPECT_OK(db_.Open());
    a_ = *db_->CreateTable("a", {.kind = TableKind::kMap});
  }
  void Put(Table* table, int i, const std::string& value) {
    ASSERT_OK(db_.Finish([&] { return db_->Put(table, {K(1, Key(i))}, value); }));
  }
  static std::string Key(int i) { return "key" + std::to_string(1000 + i); }
  static std::string Value(int i) { return Large("value" + std::to_string(i), 500); }
  void Fill(Table* table, int from, int to) {
    for (int i = from; i < to; ++i) Put(table, i, Value(i));
    ASSERT_OK(db_.Flush());
  }
  // The last file in the directory whose path ends with the text.
  std::string FileOf(const std::string& end) {
    std::string found;
    for (const std::string& path : db_.files.Paths())
      if (path.starts_with("/db/") && path.ends_with(end)) found = path;
    return found;
  }
  void FlipByteOf(const std::string& path, Slice in) {
    std::string content = *db_.files.Content(path);
    const size_t at = content.find(in);
    ASSERT_NE(at, std::string::npos);
    content[at] = static_cast<char>(content[at] ^ 1);
    ASSERT_OK(db_.files.SetContent(path, content));
  }
  // Runs jobs repeatedly while time advances; jobs that do not run at first may run later.
  void LetTimePass() {
    for (int i = 0; i < 20; ++i) {
      db_.clock().Advance(10'000);
      static_cast<void>(db_.CompactAll());
      db_->SetValuePolicy(ValuePolicy::kAutomatic);  // triggers a search for jobs
      ASSERT_OK(db_.RunJobs());
    }
  }
  Status Checkpoint() {
    const auto snapshot = db_->TakeSnapshot();
    LAVA_RETURN_IF_ERROR(snapshot.status());
    LAVA_RETURN_IF_ERROR(db_.FlushSnapshot(snapshot->get()));
    std::vector<Snapshot::File> files;
    std::string metadata;
    return (*snapshot)->Files(&files, &metadata);
  }
  static std::string Name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  ValueDB db_;
  Table* a_ = nullptr;
};

TEST_F(DamageTest, AFileThatACompactionFindsDamagedIsToldOnceAndFailsTheCheckpoint) {
  Fill(a_, 0, 20);
  const std::string damaged = FileOf(".ksst");
  FlipByteOf(damaged, Value(7));
  Fill(a_, 20, 40);
  ASSERT_OK(Checkpoint());
  EXPECT_TRUE(db_->TakeBackgroundEvents().empty());

  EXPECT_TRUE(db_.CompactAll().IsCorruption());
  const std::vector<BackgroundEvent> events = db_->TakeBackgroundEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].code, Status::Code::kCorruption);
  EXPECT_FALSE(events[0].over);
  EXPECT_NE(events[0].message.find(damaged), std::string::npos) << events[0].message;
  EXPECT_NE(events[0].message.find("offset"), std::string::npos) << events[0].message;
  EXPECT_EQ(events[0].tables, std::vector<std::string>{"a"});
  EXPECT_EQ(db_->statistics().damaged_files, 1u);
  const Status failed = Checkpoint();
  EXPECT_TRUE(failed.IsCorruption());
  EXPECT_NE(failed.message().find(Name(damaged)), std::string::npos) << failed.ToString();
  EXPECT_NE(failed.message().find("'a'"), std::string::npos) << failed.ToString();

  const uint64_t errors = db_->statistics().background_errors;
  const uint64_t read = db_.faults.calls(FileCall::kRead);
  LetTimePass();
  EXPECT_EQ(db_->statistics().background_errors, errors)
      << "the failed job must not be tried again";
  EXPECT_EQ(db_.faults.calls(FileCall::kRead), read);
  EXPECT_TRUE(db_->TakeBackgroundEvents().empty()) << "the damaged file must not be reported again";
  for (int i = 20; i < 40; ++i) EXPECT_EQ(db_.Get(a_, K(1, Key(i))), Value(i));
  Put(a_, 50, Value(50));
  EXPECT_EQ(db_.Get(a_, K(1, Key(50))), Value(50));
  EXPECT_TRUE(Checkpoint().IsCorruption());
}

// L0 can no longer be compacted, but a write must not wait for ever.
TEST_F(DamageTest, AWriteThatWouldWaitForADamagedFileIsToldOfIt) {
  db_.options().l0_compaction_trigger = 2;
  db_.options().l0_stall_trigger = 4;
  ASSERT_OK(db_.Open());
  a_ = *db_->CreateTable("a", {.kind = TableKind::kMap});
  Fill(a_, 0, 20);
  Fill(a_, 20, 40);
  ASSERT_OK(db_.RunJobs());
  ASSERT_EQ(db_->statistics().files_at_level[1], 1u);
  const std::string damaged = FileOf(".ksst");
  FlipByteOf(damaged, Value(39));
  Status status;
  for (int round = 0; round < 20 && status.ok(); ++round) {
    for (int i = 30; i < 40 && status.ok(); ++i)
      status = db_.Finish([&] { return db_->Put(a_, {K(1, Key(i))}, Value(i)); });
    if (status.ok()) status = db_.Flush();
  }
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.message().find(Name(damaged)), std::string::npos) << status.ToString();
  EXPECT_EQ(db_.Get(a_, K(1, Key(35))), Value(35));
}

TEST_F(DamageTest, AFileThatACollectionFindsDamagedIsToldOnceAndFailsTheCheckpoint) {
  Table* const b = db_.Values("b");
  Fill(b, 0, 20);
  const std::string damaged = FileOf(".vsst");
  Fill(b, 0, 15);  // garbage in the first file
  ASSERT_OK(db_.CompactAll());
  FlipByteOf(damaged, Value(17));
  ASSERT_OK(db_.CollectFrom(1));
  Table* const again = db_.Values("b");
  ASSERT_OK(db_.RunJobs());
  const std::vector<BackgroundEvent> events = db_->TakeBackgroundEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].code, Status::Code::kCorruption);
  EXPECT_NE(events[0].message.find(damaged), std::string::npos) << events[0].message;
  EXPECT_NE(events[0].message.find("offset"), std::string::npos) << events[0].message;
  EXPECT_EQ(events[0].tables, std::vector<std::string>{"b"});
  const uint64_t errors = db_->statistics().background_errors;
  LetTimePass();
  EXPECT_EQ(db_->statistics().background_errors, errors)
      << "the failed job must not be tried again";
  EXPECT_TRUE(db_->TakeBackgroundEvents().empty()) << "the damaged file must not be reported again";
  EXPECT_TRUE(Checkpoint().IsCorruption());
  for (int i = 0; i < 15; ++i) EXPECT_EQ(db_.Get(again, K(1, Key(i))), Value(i));
}

TEST_F(DamageTest, BytesThatAreReadWrongOnceAreNoDamage) {
  Fill(a_, 0, 20);
  Fill(a_, 20, 40);
  db_.faults.Arm({.fault = Fault::kBitFlip, .call = 1, .only = FileCall::kRead});
  ASSERT_OK(db_.CompactAll());
  EXPECT_EQ(db_.faults.fired(), 1u);
  EXPECT_TRUE(db_->TakeBackgroundEvents().empty());
  EXPECT_EQ(db_->statistics().damaged_files, 0u);
  EXPECT_OK(Checkpoint());
}

TEST_F(DamageTest, AFullDiskIsToldOnceWhenItBeginsAndOnceWhenItEnds) {
  for (const Fault fault : {Fault::kNoSpace, Fault::kIOError}) {
    Put(a_, 1, Value(1));
    db_.faults.Arm({.fault = fault, .call = 1, .forever = true});
    for (int i = 0; i < 10; ++i) {
      EXPECT_FALSE(db_.Flush().ok());
      db_.clock().Advance(10'000);
    }
    std::vector<BackgroundEvent> events = db_->TakeBackgroundEvents();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].code,
              fault == Fault::kNoSpace ? Status::Code::kNoSpace : Status::Code::kIOError);
    EXPECT_FALSE(events[0].over);
    EXPECT_NE(events[0].message.find("/db"), std::string::npos);
    db_.faults.Disarm();
    ASSERT_OK(db_.Flush());
    db_.clock().Advance(100'000);
    ASSERT_OK(db_.CompactAll());
    events = db_->TakeBackgroundEvents();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_TRUE(events[0].over);
    EXPECT_GE(events[0].failures, 10u);
    EXPECT_OK(Checkpoint());
  }
}

TEST_F(DamageTest, AFileThatCannotBeRemovedIsTold) {
  Fill(a_, 0, 20);
  Fill(a_, 0, 20);
  db_.faults.Arm({.fault = Fault::kIOError,
                  .call = 1,
                  .forever = true,
                  .only = FileCall::kRemove,
                  .path_contains = ".ksst"});
  ASSERT_OK(db_.CompactAll());
  const std::vector<BackgroundEvent> events = db_->TakeBackgroundEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NE(events[0].message.find(".ksst"), std::string::npos);
  db_.faults.Disarm();
  EXPECT_OK(Checkpoint());
}

}  // namespace
}  // namespace lava::testing
