// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Instances on the host's volumes, in a real directory.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "db_real_test_util.h"
#include "fs/read_batch.h"
#include "fs/uring.h"

namespace lava {
namespace {

using testing::K;
using testing::UntilDone;

class DBVolume : public testing::RealDBTest, public ::testing::WithParamInterface<bool> {
 protected:
  DBVolume() {
    volume_options_.capacity_bytes = 512 << 20;
    volume_options_.direct_io = GetParam();
    path_ = "instance";
    if (IsToBeKilled()) {
      std::filesystem::remove(directory_);
      directory_ = getenv(kToBeKilled);
    }
  }
  ~DBVolume() override { db_.reset(); }
  void Mount() {
    auto volume = Host::Get().OpenVolume(Path("volumes"), volume_options_);
    ASSERT_OK(volume.status());
    options_.volume = *volume;
  }
  // Only the options and the instance refer to the volume.
  void Unmount() {
    db_.reset();
    options_.volume.reset();
  }
  // A file takes whole extents of a mebibyte.
  void UseFewFiles() {
    volume_options_.capacity_bytes = 64 << 20;
    volume_options_.capacity_setting = "the capacity's name";
    options_.memtable_bytes = 2 << 20;
    options_.target_file_bytes = options_.level1_bytes = 2 << 20;
    options_.value_file_bytes = 4 << 20;
  }
  size_t VolumesThere() {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(Path("volumes"))) {
      files += entry.is_regular_file();
    }
    return files;
  }

  // Runs this test up to its DieHere() in another process. A fork would share io_uring rings.
  void RunUpToDeath() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string call = std::string(kToBeKilled) + "=" + directory_ + " " +
                             std::filesystem::read_symlink("/proc/self/exe").string() +
                             " --gtest_filter=" + test->test_suite_name() + "." + test->name();
    EXPECT_EQ(std::system(call.c_str()), 0);
  }
  static bool IsToBeKilled() { return getenv(kToBeKilled) != nullptr; }
  [[noreturn]] static void DieHere() { _exit(HasFailure() ? 1 : 0); }

  static constexpr const char* kToBeKilled = "LAVA_TEST_TO_BE_KILLED_IN";
  VolumeOptions volume_options_;
};
INSTANTIATE_TEST_SUITE_P(Direct, DBVolume, ::testing::Values(true, false));

TEST_P(DBVolume, WritesCompactsCollectsAndOpensAgain) {
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_NO_FATAL_FAILURE(WriteCompactCollectAndOpenAgain());
  const std::vector<TableInfo> tables = db_->ListTables();
  UntilDone([&] { return db_->Close(); });
  const auto names = options_.volume->ListFiles(path_);
  ASSERT_OK(names.status());
  size_t files = 0;
  for (const std::string& name : *names) {
    if (!name.ends_with("sst")) continue;
    EXPECT_OK(VerifyFile(path_ + "/" + name, tables, options_.volume.get()));
    ++files;
  }
  EXPECT_GT(files, 2u);
  // Nothing of the instance is outside the volume.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_P(DBVolume, TheInstanceKeepsItsVolume) {
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_NO_FATAL_FAILURE(Open());
  options_.volume.reset();
  ASSERT_NO_FATAL_FAILURE(Overwrite(300));
  EXPECT_EQ(VolumesThere(), 1u);
  db_.reset();
  EXPECT_EQ(VolumesThere(), 0u);
}

TEST_P(DBVolume, InstancesShareItAndEachGoesAlone) {
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(Overwrite(300));
  auto other = DB::Open(options_, "other");
  ASSERT_OK(other.status());
  Table* const table = *(*other)->CreateTable("t", {.separation_bytes = 2000});
  ASSERT_OK((*other)->Put(table, {K(1, "key")}, "another"));
  UntilDone([&, flush = FlushTicket()]() mutable { return (*other)->Flush(100, &flush); });
  EXPECT_TRUE(DB::Open(options_, "other").status().IsBusy());
  UntilDone([&] { return (*other)->Close(); });
  ASSERT_OK(options_.volume->RemoveDirectory("other"));
  UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
  ASSERT_NO_FATAL_FAILURE(ExpectModel());
}

TEST_P(DBVolume, PagesAreReadBesideEachOther) {
  options_.collection_garbage_percent = 101;
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_NO_FATAL_FAILURE(Open());
  // Neighbours in key order are in different files.
  for (int file = 0; file < 4; ++file) {
    for (int i = 0; i < 40; ++i) {
      const std::string key = K(1, "key" + std::to_string(1000 + 4 * i + file));
      model_[key] = random_.Bytes(6'000);
      UntilDone([&] { return db_->Put(table_, {key}, model_[key]); });
    }
    UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
  }
  const uint64_t before = fs::Uring::TotalsNow().reads;
  ASSERT_NO_FATAL_FAILURE(ExpectScan());
  const uint64_t reads = fs::Uring::TotalsNow().reads - before;
  // Without io_uring they are read one after another.
  if (fs::ReadBatch::IsParallel()) {
    EXPECT_GT(reads, 10u);
  } else {
    EXPECT_EQ(reads, 0u);
  }
}

TEST_P(DBVolume, AFullVolumeRefusesWritesUntilThereIsSpace) {
  UseFewFiles();
  ASSERT_NO_FATAL_FAILURE(Mount());
  {
    const auto other = options_.volume->CreateFile("other", "file");
    ASSERT_OK(other.status());
    ASSERT_OK((*other)->Append(std::string(20 << 20, 'x')));
    ASSERT_OK((*other)->Close());
  }
  ASSERT_NO_FATAL_FAILURE(Open());
  Status full;
  int keys = 0;
  const auto put = [&] {
    return db_->Put(table_, {K(1, "key" + std::to_string(keys))}, random_.Bytes(50'000));
  };
  for (; full.ok() || full.IsBusy(); keys += full.ok()) {
    full = put();
    ASSERT_LT(keys, 2000);
  }
  EXPECT_TRUE(full.IsNoSpace()) << full.ToString();
  // The message tells which setting to raise, and to which minimum.
  const std::string told_full = full.ToString();
  EXPECT_NE(told_full.find("raise the capacity's name, which is 67108864 bytes, to at least "),
            std::string::npos)
      << told_full;
  ASSERT_OK(options_.volume->RemoveDirectory("other"));
  // The values take half of the space. Each file takes at least 1 MiB here, and files that wait in
  // L0 take the rest when their compaction is late.
  for (int more = 0; more < 100; ++more, ++keys) {
    SCOPED_TRACE("put " + std::to_string(more) + " after there was space");
    UntilDone(put);
  }
  // A flush may still find the volume full.
  Status told = Status::Busy();
  for (FlushTicket flush; told.IsBusy();) told = db_->Flush(100, &flush);
  EXPECT_TRUE(told.ok() || told.IsNoSpace()) << told.ToString();
  UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
}

// Hidden garbage in L0 fills the volume. A compaction that is not due yet must find it and a
// collection remove it, although both need space themselves.
TEST_P(DBVolume, GarbageOfAFullVolumeIsRemoved) {
  UseFewFiles();
  options_.collection_garbage_percent = 60;
  options_.l0_compaction_trigger = 40;
  options_.l0_stall_trigger = 60;
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_NO_FATAL_FAILURE(Open());
  for (int i = 0; i < 2000; ++i) {
    const std::string key = K(1, "key" + std::to_string(random_.Uniform(100)));
    const std::string value = random_.Bytes(100'000);
    // A writer waits for the compaction and the collection, and never gets an error.
    UntilDone([&] { return db_->Put(table_, {key}, value); });
    if (HasFailure()) return;
    model_[key] = value;
  }
  ASSERT_NO_FATAL_FAILURE(ExpectModel());
}

// Regression: the volume had 96 MiB: 32 initially, and 64 more for an unnecessary reserve.
TEST_P(DBVolume, ASmallInstanceHasASmallVolume) {
  volume_options_.capacity_bytes = 0;
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_LE(options_.volume->figures().device_bytes, 8u << 20);
  // Waits for the jobs of each write: the amount of garbage must not depend on their speed.
  for (int i = 0; i < 600; ++i) {
    UntilDone(
        [&] { return db_->Put(table_, {K(1, "key" + std::to_string(i))}, random_.Bytes(10'000)); });
    if (i % 100 == 99) {
      ASSERT_NO_FATAL_FAILURE(Settle());
    }
  }
  const VolumeFigures figures = options_.volume->figures();
  EXPECT_GE(figures.used_bytes, 6'000'000u);
  EXPECT_LE(figures.used_bytes, 16u << 20);
  EXPECT_LE(figures.device_bytes, 40u << 20)
      << "the volume also had space for the garbage of the writes";
  struct stat file {};
  ASSERT_EQ(stat(options_.volume->path().c_str(), &file), 0);
  EXPECT_EQ(static_cast<uint64_t>(file.st_size), figures.device_bytes);
}

TEST_P(DBVolume, WhatAKilledProcessLeftDoesNotStayAndDoesNotHarm) {
  if (IsToBeKilled()) {
    Mount();
    Open();
    Overwrite(500);
    UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
    Overwrite(100);
    DieHere();
  }
  RunUpToDeath();
  ASSERT_EQ(VolumesThere(), 1u);
  ASSERT_NO_FATAL_FAILURE(Mount());
  EXPECT_EQ(options_.volume->figures().files, 0u);
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(ExpectModel());
  ASSERT_NO_FATAL_FAILURE(Overwrite(500));
  ASSERT_NO_FATAL_FAILURE(Settle());
  ASSERT_NO_FATAL_FAILURE(ExpectModel());
  Unmount();
  EXPECT_EQ(VolumesThere(), 0u);
}

// Local recovery: a checkpoint's files are pinned, the process is killed, the next one adopts them.
TEST_P(DBVolume, ACheckpointIsAdoptedFromItsPin) {
  const std::string marker = Path("marker");
  const std::string metadata_file = Path("metadata");
  const auto take_checkpoint = [&] {
    Overwrite(500);
    auto snapshot = db_->TakeSnapshot();
    ASSERT_OK(snapshot.status());
    UntilDone([&] { return (*snapshot)->WaitFlushed(100); });
    std::vector<Snapshot::File> files;
    std::string metadata;
    ASSERT_OK((*snapshot)->Files(&files, &metadata));
    std::vector<std::string> names;
    for (const Snapshot::File& file : files) names.push_back(file.name);
    ASSERT_OK(options_.volume->Pin(marker, path_, names));
    auto out = fs::FileSystem::Posix()->Create(metadata_file, 4096);
    ASSERT_OK(out.status());
    ASSERT_OK((*out)->Append(metadata));
    ASSERT_OK((*out)->Close());
  };
  if (IsToBeKilled()) {
    Mount();
    Open();
    take_checkpoint();
    Overwrite(500);
    UntilDone([&, flush = FlushTicket()]() mutable { return db_->Flush(100, &flush); });
    DieHere();
  }
  RunUpToDeath();
  // Repeats the draws of the killed process, for the model.
  path_ = Path("scratch");
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(Overwrite(500));
  db_.reset();

  ASSERT_NO_FATAL_FAILURE(Mount());
  path_ = "adopted";
  {
    const auto pinned = Host::Get().OpenPinned(marker, volume_options_);
    ASSERT_OK(pinned.status());
    ASSERT_EQ(pinned->volume, options_.volume);
    const auto names = pinned->volume->ListFiles(pinned->directory);
    ASSERT_OK(names.status());
    for (const std::string& name : *names) {
      ASSERT_OK(pinned->volume->LinkFile(pinned->directory, name, path_, name));
    }
  }
  const auto metadata = fs::FileSystem::Posix()->ReadWhole(metadata_file, 1 << 20);
  ASSERT_OK(metadata.status());
  const ImportSource source{*metadata, 0, 0xff};
  auto db = DB::Open(options_, path_, std::span(&source, 1));
  ASSERT_OK(db.status());
  db_ = std::move(*db);
  table_ = *db_->CreateTable("t", {.separation_bytes = 2000});
  ASSERT_NO_FATAL_FAILURE(ExpectModel());
  ASSERT_EQ(unlink(marker.c_str()), 0);
  ASSERT_OK(options_.volume->DropStalePins());
  ASSERT_NO_FATAL_FAILURE(Overwrite(300));
  ASSERT_NO_FATAL_FAILURE(Settle());
  ASSERT_NO_FATAL_FAILURE(ExpectModel());
  Unmount();
  EXPECT_EQ(VolumesThere(), 0u);
}

}  // namespace
}  // namespace lava
