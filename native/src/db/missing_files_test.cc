// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/missing_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "read/readers.h"

namespace lava {
namespace {

using Found = MissingFiles::File;

FileId MissingId(uint64_t number) { return {{5, 6}, number}; }

std::shared_ptr<FileMeta> NewKeyFile(uint64_t number) {
  auto file = std::make_shared<FileMeta>();
  file->id = MissingId(number);
  return file;
}

std::shared_ptr<ValueFileMeta> NewValueFile(uint64_t number) {
  auto file = std::make_shared<ValueFileMeta>();
  file->id = MissingId(number);
  return file;
}

Version VersionWith(const std::shared_ptr<ValueFileMeta>& file) {
  Version version;
  version.value_files.emplace(file->id, {.file = file});
  return version;
}

TEST(MissingFiles, AreNeededByTheirNames) {
  MissingFiles missing;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  missing.Add(keys);
  missing.Add(values);

  EXPECT_EQ(ReaderOf(*keys), nullptr);
  const Status no_keys = RequireReader(*keys).status();
  ASSERT_TRUE(no_keys.IsNeedsFile());
  EXPECT_EQ(no_keys.message(), MissingId(1).FileName());
  EXPECT_EQ(ReaderOf(*values), nullptr);
  const Status no_values = RequireReader(*values).status();
  ASSERT_TRUE(no_values.IsNeedsFile());
  EXPECT_EQ(no_values.message(), MissingId(2).ValueFileName());
}

TEST(MissingFiles, FindsAFileByItsNameOnly) {
  MissingFiles missing;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  missing.Add(keys);
  missing.Add(values);

  const std::optional<Found> key_file = missing.Find(MissingId(1).FileName());
  ASSERT_TRUE(key_file);
  EXPECT_EQ(key_file->id, MissingId(1));
  EXPECT_TRUE(key_file->is_key_file);
  EXPECT_EQ(key_file->key_file.lock(), keys);
  EXPECT_EQ(key_file->value_file.lock(), nullptr);
  const std::optional<Found> value_file = missing.Find(MissingId(2).ValueFileName());
  ASSERT_TRUE(value_file);
  EXPECT_EQ(value_file->id, MissingId(2));
  EXPECT_FALSE(value_file->is_key_file);
  EXPECT_EQ(value_file->value_file.lock(), values);
  EXPECT_EQ(value_file->key_file.lock(), nullptr);

  EXPECT_FALSE(missing.Find(MissingId(1).ValueFileName()))
      << "file 1 is a key file and not a value file";
  EXPECT_FALSE(missing.Find(MissingId(2).FileName()));
  EXPECT_FALSE(missing.Find(MissingId(3).FileName()));
  EXPECT_FALSE(missing.Find(""));
  EXPECT_TRUE(missing.Contains(MissingId(1)));
  EXPECT_TRUE(missing.Contains(MissingId(2)));
  EXPECT_FALSE(missing.Contains(MissingId(3)));
  EXPECT_FALSE(missing.Contains({{5, 7}, 1})) << "the number belongs to a file of another origin";
}

TEST(MissingFiles, AreCountedByKindUntilTheLastIsErased) {
  MissingFiles missing;
  EXPECT_TRUE(missing.empty());
  EXPECT_FALSE(missing.any_key_file());
  EXPECT_FALSE(missing.Contains(MissingId(1)));
  const std::vector<std::shared_ptr<FileMeta>> keys{NewKeyFile(1), NewKeyFile(2)};
  const auto values = NewValueFile(3);
  missing.Add(values);
  EXPECT_FALSE(missing.empty());
  EXPECT_FALSE(missing.any_key_file());
  for (const auto& file : keys) missing.Add(file);
  EXPECT_TRUE(missing.any_key_file());

  missing.Erase(MissingId(1).FileName());
  EXPECT_TRUE(missing.any_key_file());
  EXPECT_FALSE(missing.Contains(MissingId(1)));
  EXPECT_FALSE(missing.Find(MissingId(1).FileName()));
  missing.Erase(MissingId(2).FileName());
  EXPECT_FALSE(missing.any_key_file());
  EXPECT_FALSE(missing.empty());
  missing.Erase(MissingId(3).ValueFileName());
  EXPECT_TRUE(missing.empty());
}

TEST(MissingFiles, AreNotCountedDownByNamesThatAreNotThere) {
  MissingFiles missing;
  const auto keys = NewKeyFile(1);
  missing.Erase(MissingId(1).FileName());
  EXPECT_TRUE(missing.empty());
  missing.Add(keys);
  missing.Erase(MissingId(1).ValueFileName());
  missing.Erase(MissingId(2).FileName());
  EXPECT_TRUE(missing.any_key_file());
  EXPECT_TRUE(missing.Find(MissingId(1).FileName()));
  missing.Erase(MissingId(1).FileName());
  missing.Erase(MissingId(1).FileName());
  EXPECT_TRUE(missing.empty());
  EXPECT_FALSE(missing.any_key_file());
}

TEST(MissingFiles, AFileOfSeveralEntriesIsMissingOnce) {
  MissingFiles missing;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  for (int entry = 0; entry < 3; ++entry) {
    missing.Add(keys);
    missing.Add(values);
  }
  missing.Erase(MissingId(1).FileName());
  EXPECT_FALSE(missing.any_key_file());
  EXPECT_FALSE(missing.empty());
  missing.Erase(MissingId(2).ValueFileName());
  EXPECT_TRUE(missing.empty());

  missing.Add(keys);
  EXPECT_TRUE(missing.any_key_file()) << "an erased file must be able to become missing again";
}

TEST(MissingFiles, KeepNoFileAliveAndStillKnowItsName) {
  MissingFiles missing;
  std::weak_ptr<FileMeta> keys;
  std::weak_ptr<ValueFileMeta> values;
  {
    const auto key_file = NewKeyFile(1);
    const auto value_file = NewValueFile(2);
    missing.Add(key_file);
    missing.Add(value_file);
    keys = key_file;
    values = value_file;
  }
  EXPECT_TRUE(keys.expired());
  EXPECT_TRUE(values.expired());
  // The name is still known, so that the file can be removed when it arrives.
  const std::optional<Found> key_file = missing.Find(MissingId(1).FileName());
  ASSERT_TRUE(key_file);
  EXPECT_TRUE(key_file->is_key_file);
  EXPECT_EQ(key_file->key_file.lock(), nullptr);
  const std::optional<Found> value_file = missing.Find(MissingId(2).ValueFileName());
  ASSERT_TRUE(value_file);
  EXPECT_EQ(value_file->value_file.lock(), nullptr);
  EXPECT_TRUE(missing.any_key_file());
  missing.Erase(MissingId(1).FileName());
  EXPECT_FALSE(missing.any_key_file());
  EXPECT_TRUE(missing.Contains(MissingId(2)));
}

TEST(MissingFiles, AValueFileConcernsOnlyVersionsThatHaveIt) {
  MissingFiles missing;
  const auto values = NewValueFile(2), other = NewValueFile(3);
  EXPECT_FALSE(missing.AnyOf(VersionWith(values)));
  missing.Add(values);
  EXPECT_TRUE(missing.AnyOf(VersionWith(values)));
  EXPECT_FALSE(missing.AnyOf(VersionWith(other)));
  EXPECT_FALSE(missing.AnyOf(Version()));
  missing.Add(other);
  EXPECT_TRUE(missing.AnyOf(VersionWith(other)));
  missing.Erase(MissingId(2).ValueFileName());
  EXPECT_FALSE(missing.AnyOf(VersionWith(values)));
  EXPECT_TRUE(missing.AnyOf(VersionWith(other)));
}

TEST(MissingFiles, AKeyFileConcernsEveryVersion) {
  MissingFiles missing;
  const auto keys = NewKeyFile(1);
  missing.Add(keys);
  EXPECT_TRUE(missing.AnyOf(Version()));
  missing.Erase(MissingId(1).FileName());
  EXPECT_FALSE(missing.AnyOf(Version()));
}

TEST(MissingFiles, ClearForgetsAllOfThem) {
  MissingFiles missing;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  missing.Add(keys);
  missing.Add(values);
  missing.Clear();
  EXPECT_TRUE(missing.empty());
  EXPECT_FALSE(missing.any_key_file());
  EXPECT_FALSE(missing.Contains(MissingId(1)));
  EXPECT_FALSE(missing.Find(MissingId(1).FileName()));
  EXPECT_FALSE(missing.Find(MissingId(2).ValueFileName()));
  EXPECT_FALSE(missing.AnyOf(VersionWith(values)));
  missing.Erase(MissingId(1).FileName());
  EXPECT_TRUE(missing.empty());
  missing.Add(keys);
  EXPECT_TRUE(missing.Contains(MissingId(1)));
  EXPECT_TRUE(missing.any_key_file());
}

// Adds and erases the files of this number and the next one, so that nothing remains.
void ComeAndGo(MissingFiles* missing, uint64_t number) {
  const auto keys = NewKeyFile(number);
  const auto values = NewValueFile(number + 1);
  for (int round = 0; round < 500; ++round) {
    missing->Add(keys);
    missing->Add(values);
    EXPECT_TRUE(missing->any_key_file());
    EXPECT_TRUE(missing->Contains(keys->id));
    EXPECT_TRUE(missing->Find(values->id.ValueFileName()));
    missing->Erase(values->id.ValueFileName());
    EXPECT_FALSE(missing->Contains(values->id));
    missing->Erase(keys->id.FileName());
    EXPECT_FALSE(missing->Find(keys->id.FileName()));
  }
}

TEST(MissingFiles, ThreadsAddEraseAndLookAtOnce) {
  MissingFiles missing;
  const auto stays = NewValueFile(1);
  missing.Add(stays);
  const Version version = VersionWith(stays);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      EXPECT_FALSE(missing.empty());
      EXPECT_TRUE(missing.Contains(stays->id));
      EXPECT_TRUE(missing.AnyOf(version));
    }
  });
  std::vector<std::thread> writers;
  for (uint64_t number = 10; number < 40; number += 10)
    writers.emplace_back([&missing, number] { ComeAndGo(&missing, number); });
  for (std::thread& writer : writers) writer.join();
  stop = true;
  reader.join();
  EXPECT_FALSE(missing.any_key_file()) << "the counts must include the changes of all threads";
  missing.Erase(stays->id.ValueFileName());
  EXPECT_TRUE(missing.empty());
}

}  // namespace
}  // namespace lava
