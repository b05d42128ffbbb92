#include "table/late_table_reader.h"

#include "base/lookup.h"
#include "table/table_test_util.h"

namespace lava {
namespace {

using testing::OpenTable;
using testing::OwnedRecord;
using testing::ReadAll;
using testing::SmallRecords;
using testing::WriteTable;

class LateTableReaderTest : public ::testing::Test {
 protected:
  LateTableReaderTest() {
    EXPECT_TRUE(files_.CreateDirectory("/db").ok());
    RangeTombstoneSet tombstones;
    tombstones.Add(testing::InternalKey(0, 7, "a"), testing::InternalKey(0, 7, "b"));
    EXPECT_TRUE(WriteTable(&files_, testing::kPath, records_, tombstones).ok());
  }
  std::shared_ptr<TableReader> Open() { return *OpenTable(&files_, testing::kPath, cache_.get()); }
  static void ExpectNeeded(const Status& status) {
    EXPECT_TRUE(status.IsNeedsFile()) << status.ToString();
    EXPECT_EQ(status.message(), "a-1.ksst");
  }
  std::string PrefixDelete() const { return records_[0].key; }

  testing::ChosenFileSystem files_;
  const std::unique_ptr<BlockCache> cache_ = BlockCache::Create(1 << 20);
  const std::vector<OwnedRecord> records_ = SmallRecords(100);
  LateTableReader late_{"a-1.ksst"};
};

TEST_F(LateTableReaderTest, AnswersNeedsFileUntilItIsThere) {
  ExpectNeeded(late_.Presence());
  Lookup lookup(records_[1].key, 0);
  late_.Prefetch(lookup);
  ExpectNeeded(late_.Get(&lookup));
  ExpectNeeded(late_.MayHavePrefix(PrefixDelete()).status());
  ExpectNeeded(late_.HasPrefixDelete(PrefixDelete()).status());
  ExpectNeeded(ReadAll(late_).status());
  EXPECT_TRUE(late_.range_tombstones().empty());
  EXPECT_EQ(late_.path(), "a-1.ksst");
}

TEST_F(LateTableReaderTest, IsTheReaderThatArrived) {
  const auto reader = Open();
  late_.Arrive(reader);
  EXPECT_TRUE(late_.Presence().ok());
  EXPECT_EQ(*ReadAll(late_), records_);
  Lookup lookup(records_[1].key, 0);
  EXPECT_TRUE(late_.Get(&lookup).ok());
  lookup.Finish();
  EXPECT_TRUE(lookup.found());
  EXPECT_TRUE(*late_.MayHavePrefix(PrefixDelete()));
  EXPECT_TRUE(*late_.HasPrefixDelete(PrefixDelete()));
  EXPECT_FALSE(*late_.HasPrefixDelete(records_[1].key));
  EXPECT_EQ(&late_.range_tombstones(), &reader->range_tombstones());
  EXPECT_EQ(&late_.properties(), &reader->properties());
  EXPECT_EQ(late_.path(), reader->path());
}

TEST_F(LateTableReaderTest, OnlyTheFirstCounts) {
  const auto first = Open();
  late_.Arrive(first);
  late_.Arrive(Open());
  EXPECT_EQ(&late_.properties(), &first->properties());
}

// The file's tombstones were unknown when the iterator was made, so its records must not appear
// either.
TEST_F(LateTableReaderTest, AnIteratorOfBeforeNeverShowsWhatHasArrived) {
  const auto iterator = late_.NewIterator({});
  late_.Arrive(Open());
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  ExpectNeeded(iterator->status());
  iterator->Seek(records_[1].key);
  EXPECT_FALSE(iterator->Valid());
  ExpectNeeded(iterator->status());
}

}  // namespace
}  // namespace lava
