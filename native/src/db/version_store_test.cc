// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/version_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "testing/chosen_file_system.h"
#include "testing/fault_file_system.h"

namespace lava {
namespace {

using testing::ChosenFileSystem;
using testing::Fault;
using testing::FaultFileSystem;
using testing::FileCall;

std::shared_ptr<FileMeta> File(FileId id) {
  auto file = std::make_shared<FileMeta>();
  file->id = id;
  file->bytes = 10;
  file->records = 1;
  file->lower = "a";
  file->upper = "b";
  return file;
}

VersionEdit Adding(const std::shared_ptr<FileMeta>& file) {
  VersionEdit edit;
  edit.Add(0, {file, "a", "b"});
  return edit;
}

VersionEdit Removing(const std::shared_ptr<FileMeta>& file) {
  VersionEdit edit;
  edit.Remove(0, {file, "a", "b"});
  return edit;
}

class VersionStoreTest : public ::testing::Test {
 protected:
  VersionStoreTest() { EXPECT_TRUE(memory_.CreateDurableDirectory("/v").ok()); }

  std::unique_ptr<VersionStore> Open(bool sync = false) {
    auto store = std::make_unique<VersionStore>(
        VersionStore::Options{.file_system = &faults_, .directory = "/v", .sync = sync},
        &counters_);
    MutexLock install(store->install_mutex());
    const Status recovered = store->Recover();
    if (recovered.IsNotFound()) store->StartFresh();
    EXPECT_TRUE(recovered.ok() || recovered.IsNotFound()) << recovered.ToString();
    VersionEdit first;
    store->DrawOrigin(&first);
    EXPECT_TRUE(store->Begin(first).ok());
    return store;
  }
  static Status Log(VersionStore* store, const VersionEdit& edit) {
    MutexLock install(store->install_mutex());
    return store->Log(edit);
  }
  static size_t FilesOf(const VersionStore& store) { return store.newest()->levels[0].size(); }

  ChosenFileSystem memory_;
  FaultFileSystem faults_{&memory_};
  Counters counters_;
};

TEST_F(VersionStoreTest, TheNewestVersionIsTheOneOfTheManifest) {
  std::unique_ptr<VersionStore> store = Open();
  const std::shared_ptr<const Version> empty = store->newest();
  const std::shared_ptr<FileMeta> file = File(store->NewFileId());
  ASSERT_TRUE(Log(store.get(), Adding(file)).ok());
  EXPECT_EQ(FilesOf(*store), 1u);
  EXPECT_TRUE(empty->levels[0].empty()) << "a version must not change while it is held";
  EXPECT_EQ(counters_.files_installed.load(), 1u);
  store.reset();
  EXPECT_EQ(FilesOf(*Open()), 1u);
}

TEST_F(VersionStoreTest, EveryRunNamesItsFilesAnew) {
  std::unique_ptr<VersionStore> store = Open();
  const FileId first = store->NewFileId(3), next = store->NewFileId();
  EXPECT_EQ(next.number, first.number + 3);
  EXPECT_EQ(first.origin, store->origin());
  const Origin origin = store->origin();
  store = Open();
  EXPECT_FALSE(store->origin() == origin);
  MutexLock install(store->install_mutex());
  EXPECT_EQ(store->state().origins, (std::vector<Origin>{origin, store->origin()}));
}

TEST_F(VersionStoreTest, AFileThatLeftIsHandedOutOnceNobodyHoldsIt) {
  std::unique_ptr<VersionStore> store = Open();
  std::shared_ptr<FileMeta> file = File(store->NewFileId());
  const std::string name = file->id.FileName();
  ASSERT_TRUE(Log(store.get(), Adding(file)).ok());
  std::shared_ptr<const Version> held = store->newest();
  ASSERT_TRUE(Log(store.get(), Removing(file)).ok());
  file.reset();
  EXPECT_TRUE(store->obsolete_files().TakeUnused().files.empty())
      << "an older version still names the file";
  held.reset();
  EXPECT_EQ(store->obsolete_files().TakeUnused().files.count(name), 1u);
}

TEST_F(VersionStoreTest, AFailedEditChangesNothingAndItsFilesWaitForTheNextSafeEdit) {
  std::unique_ptr<VersionStore> store = Open();
  std::shared_ptr<FileMeta> file = File(store->NewFileId());
  const std::string name = file->id.FileName();
  faults_.Arm({.fault = Fault::kNoSpace, .path_contains = "MANIFEST"});
  EXPECT_TRUE(Log(store.get(), Adding(file)).IsNoSpace());
  faults_.Disarm();
  EXPECT_EQ(FilesOf(*store), 0u);
  EXPECT_FALSE(store->failed());
  file.reset();
  EXPECT_TRUE(store->obsolete_files().TakeUnused().files.empty())
      << "the manifest may name the file";
  ASSERT_TRUE(Log(store.get(), Adding(File(store->NewFileId()))).ok());
  EXPECT_EQ(store->obsolete_files().TakeUnused().files.count(name), 1u);
}

TEST_F(VersionStoreTest, NamesOfNewFilesAreDurableBeforeTheManifestNamesThem) {
  std::unique_ptr<VersionStore> store = Open(/*sync=*/true);
  const uint64_t syncs = faults_.calls(FileCall::kSyncDirectory);
  ASSERT_TRUE(Log(store.get(), Adding(File(store->NewFileId()))).ok());
  EXPECT_EQ(faults_.calls(FileCall::kSyncDirectory), syncs + 1);
  ASSERT_TRUE(Log(store.get(), VersionEdit()).ok());
  EXPECT_EQ(faults_.calls(FileCall::kSyncDirectory), syncs + 1)
      << "the edit names no new file, so there must be no directory sync";

  faults_.Arm({.only = FileCall::kSyncDirectory});
  const size_t files = FilesOf(*store);
  EXPECT_FALSE(Log(store.get(), Adding(File(store->NewFileId()))).ok());
  faults_.Disarm();
  EXPECT_EQ(FilesOf(*store), files);
  EXPECT_FALSE(store->failed()) << "the edit must fail before the manifest is written";
}

TEST_F(VersionStoreTest, AFailedSyncOfTheManifestIsFinal) {
  std::unique_ptr<VersionStore> store = Open(/*sync=*/true);
  ASSERT_TRUE(Log(store.get(), Adding(File(store->NewFileId()))).ok());
  faults_.Arm({.only = FileCall::kSync, .path_contains = "MANIFEST"});
  EXPECT_FALSE(Log(store.get(), Adding(File(store->NewFileId()))).ok());
  faults_.Disarm();
  EXPECT_TRUE(store->failed());
  EXPECT_FALSE(store->status().ok());
  EXPECT_EQ(Log(store.get(), Adding(File(store->NewFileId()))).ToString(),
            store->status().ToString());
  EXPECT_EQ(FilesOf(*store), 1u);
}

// A reader may let go of a file when another instance already has the directory.
TEST_F(VersionStoreTest, AClosedStoreReportsNoFileAsUnused) {
  std::unique_ptr<VersionStore> store = Open();
  std::shared_ptr<FileMeta> file = File(store->NewFileId());
  ASSERT_TRUE(Log(store.get(), Adding(file)).ok());
  std::shared_ptr<const Version> older = store->newest();
  ASSERT_TRUE(Log(store.get(), Removing(file)).ok());
  const std::weak_ptr<FileMeta> kept = std::exchange(file, nullptr);
  MutexLock install(store->install_mutex());
  store->Close();
  ASSERT_FALSE(kept.expired());
  older.reset();
  ASSERT_TRUE(kept.expired());
  EXPECT_TRUE(store->obsolete_files().TakeUnused().files.empty());
  EXPECT_EQ(store->newest()->levels[0].size(), 0u);
}

}  // namespace
}  // namespace lava
