// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/fault_file_system.h"

#include <gtest/gtest.h>

#include <bit>

#include "testing/mem_file_system.h"

namespace lava::testing {
namespace {

class FaultFileSystemTest : public ::testing::Test {
 protected:
  FaultFileSystemTest() {
    EXPECT_TRUE(base_.CreateDirectory("/db").ok());
    EXPECT_TRUE(base_.SetContent("/db/a", "0123456789").ok());
  }

  // Makes one call of each kind.
  Status Workload() {
    LAVA_ASSIGN_OR_RETURN(auto lock, fs_.Lock("/db"));
    LAVA_RETURN_IF_ERROR(fs_.CreateDirectory("/db/d"));
    LAVA_ASSIGN_OR_RETURN(auto out, fs_.Create("/db/b", 4));
    LAVA_RETURN_IF_ERROR(out->Append("content"));
    LAVA_RETURN_IF_ERROR(out->Flush());
    LAVA_RETURN_IF_ERROR(out->Sync());
    LAVA_RETURN_IF_ERROR(out->Close());
    LAVA_RETURN_IF_ERROR(fs_.Link("/db/b", "/db/c"));
    LAVA_RETURN_IF_ERROR(fs_.Rename("/db/b", "/db/e"));
    LAVA_RETURN_IF_ERROR(fs_.SyncDirectory("/db"));
    bool asked = false;
    LAVA_RETURN_IF_ERROR(fs_.SyncFile("/db/e", &asked));
    LAVA_ASSIGN_OR_RETURN(auto in, fs_.OpenRandom("/db/e"));
    char buffer[7];
    LAVA_RETURN_IF_ERROR(in->Read(0, 7, buffer));
    LAVA_RETURN_IF_ERROR(fs_.ReadWhole("/db/e", 100).status());
    LAVA_RETURN_IF_ERROR(fs_.FileSize("/db/e").status());
    LAVA_RETURN_IF_ERROR(fs_.Exists("/db/e").status());
    LAVA_RETURN_IF_ERROR(fs_.List("/db").status());
    LAVA_RETURN_IF_ERROR(fs_.Remove("/db/e"));
    return fs_.Remove("/db/c");
  }

  MemFileSystem base_;
  FaultFileSystem fs_{&base_};
};

TEST_F(FaultFileSystemTest, CountsEveryKind) {
  ASSERT_TRUE(Workload().ok());
  for (size_t kind = 0; kind < kFileCalls; ++kind) {
    const auto call = static_cast<FileCall>(kind);
    EXPECT_EQ(fs_.calls(call), call == FileCall::kRemove ? 2u : 1u) << FileCallName(call);
  }
  EXPECT_EQ(fs_.calls(), kFileCalls + 1);
}

TEST_F(FaultFileSystemTest, FailsEachCallInTurn) {
  uint64_t failures = 0;
  for (uint64_t call = 1;; ++call) {
    fs_.Arm({.fault = Fault::kIOError, .call = call});
    const Status status = Workload();
    const uint64_t fired = fs_.fired();
    fs_.Disarm();
    for (const char* left : {"/db/b", "/db/c", "/db/e"}) (void)fs_.Remove(left);
    if (fired == 0) {
      EXPECT_TRUE(status.ok()) << status.ToString();
      break;
    }
    EXPECT_TRUE(status.IsIOError()) << call;
    EXPECT_NE(status.message().find("injected"), std::string::npos);
    ++failures;
  }
  EXPECT_EQ(failures, kFileCalls + 1);
}

TEST_F(FaultFileSystemTest, NoSpaceStrikesOnlyWhatNeedsSpace) {
  fs_.Arm({.fault = Fault::kNoSpace, .call = 1, .forever = true});
  EXPECT_TRUE(fs_.ReadWhole("/db/a", 100).ok());
  EXPECT_TRUE(fs_.Remove("/db/a").ok());
  EXPECT_EQ(fs_.fired(), 0u);
  EXPECT_TRUE(fs_.Create("/db/b", 0).status().IsNoSpace());
  EXPECT_TRUE(fs_.Create("/db/b", 0).status().IsNoSpace());
  EXPECT_EQ(fs_.fired(), 2u);
  fs_.Disarm();
  EXPECT_TRUE(fs_.Create("/db/b", 0).ok());
}

TEST_F(FaultFileSystemTest, ShortWriteLeavesHalf) {
  auto file = fs_.Create("/db/b", 0);
  ASSERT_TRUE(file.ok());
  fs_.Arm({.fault = Fault::kShortWrite});
  EXPECT_TRUE((*file)->Append("12345678").IsNoSpace());
  EXPECT_EQ(*base_.Content("/db/b"), "1234");
  EXPECT_TRUE((*file)->Append("more").IsNoSpace()) << "the file must be unusable after the error";
  EXPECT_TRUE((*file)->Close().IsNoSpace());
}

TEST_F(FaultFileSystemTest, FailedSyncsMustNotBeRetried) {
  auto file = fs_.Create("/db/b", 0);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(base_.SyncDirectory("/db").ok());
  ASSERT_TRUE((*file)->Append("x").ok());
  fs_.Arm({.fault = Fault::kIOError, .only = FileCall::kSync});
  EXPECT_TRUE((*file)->Sync().IsIOError());
  EXPECT_EQ(fs_.syncs_after_failure(), 0u);
  EXPECT_EQ(*base_.CrashClone(CrashMode::kSyncedOnly)->Content("/db/b"), "");
  EXPECT_TRUE((*file)->Sync().IsIOError());
  EXPECT_EQ(fs_.syncs_after_failure(), 1u);
}

TEST_F(FaultFileSystemTest, BitFlipsAndShortReads) {
  const std::string content = "0123456789";
  auto file = fs_.OpenRandom("/db/a");
  ASSERT_TRUE(file.ok());
  for (uint64_t seed = 0; seed < 20; ++seed) {
    fs_.Arm({.fault = Fault::kBitFlip, .call = 1, .forever = true, .seed = seed});
    std::string bytes(10, '\0');
    ASSERT_TRUE((*file)->Read(0, 10, bytes.data()).ok());
    auto whole = fs_.ReadWhole("/db/a", 10);
    ASSERT_TRUE(whole.ok());
    for (const std::string& damaged : {bytes, *whole}) {
      int bits = 0;
      for (size_t i = 0; i < 10; ++i) {
        bits += std::popcount(static_cast<unsigned char>(damaged[i] ^ content[i]));
      }
      EXPECT_EQ(bits, 1);
    }
  }
  fs_.Arm({.fault = Fault::kShortRead, .call = 1, .forever = true});
  char buffer[10];
  EXPECT_TRUE((*file)->Read(0, 10, buffer).IsCorruption());
  EXPECT_EQ(*fs_.ReadWhole("/db/a", 10), "01234");
}

TEST_F(FaultFileSystemTest, FiltersByKindAndPath) {
  fs_.Arm({.fault = Fault::kIOError, .call = 2, .only = FileCall::kCreate, .path_contains = "sst"});
  EXPECT_TRUE(fs_.Create("/db/1.sst", 0).ok());
  EXPECT_TRUE(fs_.Create("/db/manifest", 0).ok());
  EXPECT_TRUE(fs_.OpenRandom("/db/1.sst").ok());
  EXPECT_TRUE(fs_.Create("/db/2.sst", 0).status().IsIOError());
  EXPECT_TRUE(fs_.Create("/db/3.sst", 0).ok()) << "the fault must strike only once";
}

}  // namespace
}  // namespace lava::testing
