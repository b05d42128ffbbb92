#include "value/late_value_reader.h"

#include <gtest/gtest.h>

#include "value/value_test_util.h"

namespace lava {
namespace {

using testing::BlobFileId;

class LateValueReaderTest : public ::testing::Test {
 protected:
  LateValueReaderTest() {
    EXPECT_TRUE(files_.CreateDirectory("/v").ok());
    EXPECT_TRUE(testing::WriteValues(&files_, testing::kValuePath, values_).ok());
    for (const auto& [name, value] : values_) {
      if (value.empty() || name.second != BlobFileId(1)) continue;
      key_ = name.first;
      value_ = value;
    }
  }
  std::shared_ptr<ValueReader> Open() {
    return *testing::OpenValues(&files_, testing::kValuePath, cache_.get());
  }
  static void ExpectNeeded(const Status& status) {
    EXPECT_TRUE(status.IsNeedsFile()) << status.ToString();
    EXPECT_EQ(status.message(), "v-1.vsst");
  }

  testing::ChosenFileSystem files_;
  const std::unique_ptr<BlockCache> cache_ = BlockCache::Create(1 << 20);
  const testing::ValueMap values_ = testing::SmallValues(50);
  std::string key_, value_;
  LateValueReader late_{"v-1.vsst"};
  Slice found_;
  std::shared_ptr<const void> pin_;
  ValueHandle handle_;
  std::string copied_ = std::string(4096, '\0');
};

TEST_F(LateValueReaderTest, AnswersNeedsFileUntilItIsThere) {
  ExpectNeeded(late_.Presence());
  ExpectNeeded(late_.Get(key_, BlobFileId(1), true, &found_, &pin_));
  ExpectNeeded(late_.NewScanner(64 << 10)->Get(key_, BlobFileId(1), &found_));
  ExpectNeeded(late_.Locate(key_, BlobFileId(1), &handle_));
  ExpectNeeded(late_.CopyCached(handle_, key_, BlobFileId(1), 5, copied_.data()).status());
  ExpectNeeded(late_.CopyFrom("", handle_, key_, BlobFileId(1), true, 5, copied_.data()));
  const auto keys = late_.NewKeyIterator();
  EXPECT_FALSE(keys->Valid());
  ExpectNeeded(keys->status());
  Compression codec;
  ExpectNeeded(late_.TakeStored(key_, {}, "", &codec, &found_));
  ExpectNeeded(late_.DecodeStored({}, Compression::kLz4, "", &copied_));
  ExpectNeeded(late_.VerifyAll());
  EXPECT_EQ(late_.path(), "v-1.vsst");
}

TEST_F(LateValueReaderTest, IsTheReaderThatArrived) {
  const auto reader = Open();
  late_.Arrive(reader);
  late_.Arrive(Open());
  EXPECT_TRUE(late_.Presence().ok());
  EXPECT_TRUE(late_.Get(key_, BlobFileId(1), true, &found_, &pin_).ok());
  EXPECT_EQ(found_, value_);
  EXPECT_TRUE(late_.NewScanner(64 << 10)->Get(key_, BlobFileId(1), &found_).ok());
  ASSERT_TRUE(late_.Locate(key_, BlobFileId(1), &handle_).ok());
  EXPECT_TRUE(late_.CopyCached(handle_, key_, BlobFileId(1), value_.size(), copied_.data()).ok());
  std::string records(handle_.bytes, '\0');
  ASSERT_TRUE(late_.file().Read(handle_.offset, records.size(), records.data()).ok());
  EXPECT_TRUE(
      late_.CopyFrom(records, handle_, key_, BlobFileId(1), true, value_.size(), copied_.data())
          .ok());
  EXPECT_EQ(copied_.substr(0, value_.size()), value_);
  const auto keys = late_.NewKeyIterator();
  std::string buffer;
  Compression codec;
  EXPECT_TRUE(late_.ReadStored(*keys, &buffer, &codec, &found_).ok());
  EXPECT_TRUE(late_.DecodeStored(keys->index_entry(), codec, found_, &buffer).ok());
  EXPECT_TRUE(late_.VerifyAll().ok());
  EXPECT_EQ(&late_.properties(), &reader->properties()) << "only the first counts";
  EXPECT_EQ(late_.path(), reader->path());
}

// A walk that began before the file arrived never sees the file.
TEST_F(LateValueReaderTest, WalksOfBeforeFailThoughItHasArrived) {
  const auto keys = late_.NewKeyIterator();
  const auto scanner = late_.NewScanner(64 << 10);
  late_.Arrive(Open());
  EXPECT_FALSE(keys->Valid());
  ExpectNeeded(keys->status());
  ExpectNeeded(scanner->Get(key_, BlobFileId(1), &found_));
}

}  // namespace
}  // namespace lava
