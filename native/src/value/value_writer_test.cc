// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/value_writer.h"

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/compression.h"
#include "testing/fault_file_system.h"
#include "value/value_test_util.h"

namespace lava::testing {
namespace {

class ValueWriterTest : public ::testing::Test {
 protected:
  ValueWriterTest() { EXPECT_TRUE(files_.CreateDirectory("/v").ok()); }
  std::unique_ptr<ValueWriter> NewWriter(const ValueWriterOptions& options = {}) {
    auto file = files_.Create(kValuePath, 1 << 16);
    EXPECT_TRUE(file.ok());
    return ValueWriter::Create(options, std::move(*file), kValuePath);
  }

  ChosenFileSystem files_;
};

TEST_F(ValueWriterTest, Properties) {
  ValueWriterOptions options;
  options.index_partition_records = 3;
  auto writer = NewWriter(options);
  ASSERT_TRUE(writer->Add("a", BlobFileId(9), std::string(1000, 'x')).ok());
  ASSERT_TRUE(writer->Add("b", BlobFileId(1), "12345678901234567890").ok());
  ASSERT_TRUE(writer->Add("b", BlobFileId(2), "").ok());
  ASSERT_TRUE(writer->Add("c", BlobFileId(1), "7").ok());
  ASSERT_TRUE(writer->Add("d", BlobFileId(1), "8").ok());
  EXPECT_GT(writer->estimated_bytes(), 100u);
  ValueFileProperties p;
  ASSERT_TRUE(writer->Finish(&p).ok());
  EXPECT_EQ(p.records, 5u);
  EXPECT_EQ(p.raw_bytes, 1022u);
  EXPECT_LT(p.stored_bytes, 100u);
  EXPECT_EQ(p.index_partitions, 2u);
  EXPECT_EQ(p.tree_bytes, 10 + 2 + 3 + 10 + 1u);
  EXPECT_EQ(p.lower, "a");
  EXPECT_EQ(p.upper, std::string("d\0", 2));
  ASSERT_EQ(p.blob_files.size(), 3u);
  EXPECT_EQ(p.blob_files[0], (BlobReference{BlobFileId(1), 3, 22}));
  EXPECT_EQ(p.blob_files[1], (BlobReference{BlobFileId(2), 1, 0}));
  EXPECT_EQ(p.blob_files[2], (BlobReference{BlobFileId(9), 1, 1000}));
  const std::string content = *files_.Content(kValuePath);
  EXPECT_EQ(p.file_bytes, content.size());
  EXPECT_EQ(p.file_crc32c, Crc32c(content));

  const auto cache = BlockCache::Create(1 << 20);
  auto reader = OpenValues(&files_, kValuePath, cache.get());
  ASSERT_TRUE(reader.ok());
  const ValueFileProperties& read = (*reader)->properties();
  EXPECT_EQ(read.blob_files, p.blob_files);
  EXPECT_EQ(read.file_bytes, p.file_bytes);
  EXPECT_EQ(read.upper, p.upper);
  EXPECT_EQ(read.tree_bytes, p.tree_bytes);
}

TEST_F(ValueWriterTest, RecordsOutOfOrderAreRefusedAndNotAdded) {
  auto writer = NewWriter();
  ASSERT_TRUE(writer->Add("b", BlobFileId(2), "1").ok());
  EXPECT_TRUE(writer->Add("a", BlobFileId(3), "2").IsInvalidArgument());
  EXPECT_TRUE(writer->Add("b", BlobFileId(2), "3").IsInvalidArgument());
  EXPECT_TRUE(writer->Add("b", BlobFileId(1), "4").IsInvalidArgument());
  EXPECT_TRUE(
      writer->AddStored("a", BlobFileId(3), Compression::kNone, 1, "5").IsInvalidArgument());
  ASSERT_TRUE(writer->Add("b", BlobFileId(3), "6").ok());
  ASSERT_TRUE(writer->Add("c", BlobFileId(1), "7").ok());
  ValueFileProperties p;
  ASSERT_TRUE(writer->Finish(&p).ok());
  EXPECT_EQ(p.records, 3u);
  EXPECT_EQ(p.blob_files.size(), 3u);
  EXPECT_TRUE(writer->Add("d", BlobFileId(1), "8").IsInvalidArgument())
      << "the file is already finished";
  EXPECT_TRUE(writer->Finish(&p).IsInvalidArgument());
}

TEST_F(ValueWriterTest, LimitsAreRefused) {
  auto writer = NewWriter();
  const std::string longest(kKeyBytesMax + 64, 'k');
  EXPECT_TRUE(writer->Add(longest + "k", BlobFileId(1), "v").IsInvalidArgument());
  EXPECT_TRUE(writer->Add(longest, BlobFileId(1), "v").ok());
  // A slice longer than its memory: the writer must not read it.
  const Slice endless(longest.data(), kListBytesMax + 1);
  EXPECT_TRUE(writer->Add("l", BlobFileId(1), endless).IsInvalidArgument());
  ValueFileProperties p;
  ASSERT_TRUE(writer->Finish(&p).ok());
  EXPECT_EQ(p.records, 1u);
  const auto cache = BlockCache::Create(1 << 20);
  auto reader = OpenValues(&files_, kValuePath, cache.get());
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE((*reader)->VerifyAll().ok());
}

TEST_F(ValueWriterTest, ImpossibleStoredValuesAreRefused) {
  auto writer = NewWriter();
  auto refused = [&](Compression codec, uint32_t raw_bytes, Slice stored) {
    return writer->AddStored("k", BlobFileId(1), codec, raw_bytes, stored).IsInvalidArgument();
  };
  EXPECT_TRUE(refused(Compression::kNone, 4, "12345"));
  EXPECT_TRUE(refused(static_cast<Compression>(3), 5, "12345"));
  EXPECT_TRUE(refused(Compression::kLz4, 5 * 255 + 65, "12345"));
  EXPECT_TRUE(refused(Compression::kZstd, 5, "12345"));
  EXPECT_TRUE(refused(Compression::kLz4, UINT32_MAX, "12345"));
  std::string zstd;
  const Compression codec = Compressor(Compression::kZstd).Compress(std::string(99, 'a'), &zstd);
  EXPECT_TRUE(refused(codec, 100, zstd));
  EXPECT_FALSE(refused(codec, 99, zstd));
}

TEST_F(ValueWriterTest, EmptyFile) {
  ValueFileProperties p;
  ASSERT_TRUE(NewWriter()->Finish(&p).ok());
  EXPECT_EQ(p.records, 0u);
  EXPECT_TRUE(p.lower.empty() && p.upper.empty() && p.blob_files.empty());
  const auto cache = BlockCache::Create(1 << 20);
  auto reader = OpenValues(&files_, kValuePath, cache.get());
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_TRUE((*reader)->VerifyAll().ok());
  auto at = (*reader)->NewKeyIterator();
  EXPECT_FALSE(at->Valid());
  EXPECT_TRUE(at->status().ok());
  Slice value;
  std::shared_ptr<const void> pin;
  EXPECT_TRUE((*reader)->Get("", BlobFileId(1), true, &value, &pin).IsNotFound());
}

/// Every call of the file fails once; the writer returns the error from this call and from all
/// later ones.
TEST_F(ValueWriterTest, EveryFailureIsReported) {
  const ValueMap values = SmallValues(40);
  for (const Fault fault : {Fault::kIOError, Fault::kShortWrite}) {
    uint64_t call = 1;
    for (;; ++call) {
      FaultFileSystem faults(&files_);
      auto file = faults.Create(kValuePath, 64);
      ASSERT_TRUE(file.ok());
      ValueWriterOptions options;
      options.sync = true;
      options.index_partition_records = 5;
      auto writer = ValueWriter::Create(options, std::move(*file), kValuePath);
      faults.Arm({.fault = fault, .call = call});
      bool failed = false;
      for (const auto& [name, value] : values) {
        const Status status = writer->Add(name.first, name.second, value);
        EXPECT_TRUE(!failed || !status.ok()) << "the writer must keep returning the first error";
        failed = !status.ok();
        EXPECT_EQ(failed, faults.fired() > 0);
      }
      ValueFileProperties p;
      const Status status = writer->Finish(&p);
      EXPECT_EQ(status.ok(), faults.fired() == 0) << status.ToString();
      EXPECT_EQ(p.records == 0, faults.fired() > 0);
      EXPECT_EQ(faults.syncs_after_failure(), 0u);
      if (faults.fired() == 0) break;
    }
    EXPECT_GT(call, values.size());
  }
}

}  // namespace
}  // namespace lava::testing
