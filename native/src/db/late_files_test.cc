#include "db/late_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "read/readers.h"

namespace lava {
namespace {

using Late = LateFiles::Late;

FileId LateId(uint64_t number) { return {{5, 6}, number}; }

std::shared_ptr<FileMeta> NewKeyFile(uint64_t number) {
  auto file = std::make_shared<FileMeta>();
  file->id = LateId(number);
  return file;
}

std::shared_ptr<ValueFileMeta> NewValueFile(uint64_t number) {
  auto file = std::make_shared<ValueFileMeta>();
  file->id = LateId(number);
  return file;
}

Version VersionWith(const std::shared_ptr<ValueFileMeta>& file) {
  Version version;
  version.value_files.emplace(file->id, {.file = file});
  return version;
}

TEST(LateFiles, AreNeededByTheirNames) {
  LateFiles late;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  late.Add(keys);
  late.Add(values);

  EXPECT_EQ(ReaderOf(*keys), nullptr);
  const Status no_keys = RequireReader(*keys).status();
  ASSERT_TRUE(no_keys.IsNeedsFile());
  EXPECT_EQ(no_keys.message(), LateId(1).FileName());
  EXPECT_EQ(ReaderOf(*values), nullptr);
  const Status no_values = RequireReader(*values).status();
  ASSERT_TRUE(no_values.IsNeedsFile());
  EXPECT_EQ(no_values.message(), LateId(2).ValueFileName());
}

TEST(LateFiles, FindsAFileByItsNameOnly) {
  LateFiles late;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  late.Add(keys);
  late.Add(values);

  const std::optional<Late> key_file = late.Find(LateId(1).FileName());
  ASSERT_TRUE(key_file);
  EXPECT_EQ(key_file->id, LateId(1));
  EXPECT_TRUE(key_file->is_key_file);
  EXPECT_EQ(key_file->key_file.lock(), keys);
  EXPECT_EQ(key_file->value_file.lock(), nullptr);
  const std::optional<Late> value_file = late.Find(LateId(2).ValueFileName());
  ASSERT_TRUE(value_file);
  EXPECT_EQ(value_file->id, LateId(2));
  EXPECT_FALSE(value_file->is_key_file);
  EXPECT_EQ(value_file->value_file.lock(), values);
  EXPECT_EQ(value_file->key_file.lock(), nullptr);

  EXPECT_FALSE(late.Find(LateId(1).ValueFileName())) << "the file is of the other kind";
  EXPECT_FALSE(late.Find(LateId(2).FileName()));
  EXPECT_FALSE(late.Find(LateId(3).FileName()));
  EXPECT_FALSE(late.Find(""));
  EXPECT_TRUE(late.Contains(LateId(1)));
  EXPECT_TRUE(late.Contains(LateId(2)));
  EXPECT_FALSE(late.Contains(LateId(3)));
  EXPECT_FALSE(late.Contains({{5, 7}, 1})) << "the number is one of another origin";
}

TEST(LateFiles, AreCountedByKindUntilTheLastIsErased) {
  LateFiles late;
  EXPECT_TRUE(late.empty());
  EXPECT_FALSE(late.any_key_file());
  EXPECT_FALSE(late.Contains(LateId(1)));
  const std::vector<std::shared_ptr<FileMeta>> keys{NewKeyFile(1), NewKeyFile(2)};
  const auto values = NewValueFile(3);
  late.Add(values);
  EXPECT_FALSE(late.empty());
  EXPECT_FALSE(late.any_key_file());
  for (const auto& file : keys) late.Add(file);
  EXPECT_TRUE(late.any_key_file());

  late.Erase(LateId(1).FileName());
  EXPECT_TRUE(late.any_key_file());
  EXPECT_FALSE(late.Contains(LateId(1)));
  EXPECT_FALSE(late.Find(LateId(1).FileName()));
  late.Erase(LateId(2).FileName());
  EXPECT_FALSE(late.any_key_file());
  EXPECT_FALSE(late.empty());
  late.Erase(LateId(3).ValueFileName());
  EXPECT_TRUE(late.empty());
}

TEST(LateFiles, AreNotCountedDownByNamesThatAreNotThere) {
  LateFiles late;
  const auto keys = NewKeyFile(1);
  late.Erase(LateId(1).FileName());
  EXPECT_TRUE(late.empty());
  late.Add(keys);
  late.Erase(LateId(1).ValueFileName());
  late.Erase(LateId(2).FileName());
  EXPECT_TRUE(late.any_key_file());
  EXPECT_TRUE(late.Find(LateId(1).FileName()));
  late.Erase(LateId(1).FileName());
  late.Erase(LateId(1).FileName());
  EXPECT_TRUE(late.empty());
  EXPECT_FALSE(late.any_key_file());
}

TEST(LateFiles, AFileOfSeveralEntriesIsMissingOnce) {
  LateFiles late;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  for (int entry = 0; entry < 3; ++entry) {
    late.Add(keys);
    late.Add(values);
  }
  late.Erase(LateId(1).FileName());
  EXPECT_FALSE(late.any_key_file());
  EXPECT_FALSE(late.empty());
  late.Erase(LateId(2).ValueFileName());
  EXPECT_TRUE(late.empty());

  late.Add(keys);
  EXPECT_TRUE(late.any_key_file()) << "an erased file can be missing again";
}

TEST(LateFiles, KeepNoFileAliveAndStillKnowItsName) {
  LateFiles late;
  std::weak_ptr<FileMeta> keys;
  std::weak_ptr<ValueFileMeta> values;
  {
    const auto key_file = NewKeyFile(1);
    const auto value_file = NewValueFile(2);
    late.Add(key_file);
    late.Add(value_file);
    keys = key_file;
    values = value_file;
  }
  EXPECT_TRUE(keys.expired());
  EXPECT_TRUE(values.expired());
  // The name says that the file, once it has come, is to be removed.
  const std::optional<Late> key_file = late.Find(LateId(1).FileName());
  ASSERT_TRUE(key_file);
  EXPECT_TRUE(key_file->is_key_file);
  EXPECT_EQ(key_file->key_file.lock(), nullptr);
  const std::optional<Late> value_file = late.Find(LateId(2).ValueFileName());
  ASSERT_TRUE(value_file);
  EXPECT_EQ(value_file->value_file.lock(), nullptr);
  EXPECT_TRUE(late.any_key_file());
  late.Erase(LateId(1).FileName());
  EXPECT_FALSE(late.any_key_file());
  EXPECT_TRUE(late.Contains(LateId(2)));
}

TEST(LateFiles, AValueFileConcernsOnlyVersionsThatHaveIt) {
  LateFiles late;
  const auto values = NewValueFile(2), other = NewValueFile(3);
  EXPECT_FALSE(late.AnyOf(VersionWith(values)));
  late.Add(values);
  EXPECT_TRUE(late.AnyOf(VersionWith(values)));
  EXPECT_FALSE(late.AnyOf(VersionWith(other)));
  EXPECT_FALSE(late.AnyOf(Version()));
  late.Add(other);
  EXPECT_TRUE(late.AnyOf(VersionWith(other)));
  late.Erase(LateId(2).ValueFileName());
  EXPECT_FALSE(late.AnyOf(VersionWith(values)));
  EXPECT_TRUE(late.AnyOf(VersionWith(other)));
}

TEST(LateFiles, AKeyFileConcernsEveryVersion) {
  LateFiles late;
  const auto keys = NewKeyFile(1);
  late.Add(keys);
  EXPECT_TRUE(late.AnyOf(Version()));
  late.Erase(LateId(1).FileName());
  EXPECT_FALSE(late.AnyOf(Version()));
}

TEST(LateFiles, ClearForgetsAllOfThem) {
  LateFiles late;
  const auto keys = NewKeyFile(1);
  const auto values = NewValueFile(2);
  late.Add(keys);
  late.Add(values);
  late.Clear();
  EXPECT_TRUE(late.empty());
  EXPECT_FALSE(late.any_key_file());
  EXPECT_FALSE(late.Contains(LateId(1)));
  EXPECT_FALSE(late.Find(LateId(1).FileName()));
  EXPECT_FALSE(late.Find(LateId(2).ValueFileName()));
  EXPECT_FALSE(late.AnyOf(VersionWith(values)));
  late.Erase(LateId(1).FileName());
  EXPECT_TRUE(late.empty());
  late.Add(keys);
  EXPECT_TRUE(late.Contains(LateId(1)));
  EXPECT_TRUE(late.any_key_file());
}

// Adds and erases the file of this number, and leaves it as it was.
void ComeAndGo(LateFiles* late, uint64_t number) {
  const auto keys = NewKeyFile(number);
  const auto values = NewValueFile(number + 1);
  for (int round = 0; round < 500; ++round) {
    late->Add(keys);
    late->Add(values);
    EXPECT_TRUE(late->any_key_file());
    EXPECT_TRUE(late->Contains(keys->id));
    EXPECT_TRUE(late->Find(values->id.ValueFileName()));
    late->Erase(values->id.ValueFileName());
    EXPECT_FALSE(late->Contains(values->id));
    late->Erase(keys->id.FileName());
    EXPECT_FALSE(late->Find(keys->id.FileName()));
  }
}

TEST(LateFiles, ThreadsAddEraseAndLookAtOnce) {
  LateFiles late;
  const auto stays = NewValueFile(1);
  late.Add(stays);
  const Version version = VersionWith(stays);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      EXPECT_FALSE(late.empty());
      EXPECT_TRUE(late.Contains(stays->id));
      EXPECT_TRUE(late.AnyOf(version));
    }
  });
  std::vector<std::thread> writers;
  for (uint64_t number = 10; number < 40; number += 10)
    writers.emplace_back([&late, number] { ComeAndGo(&late, number); });
  for (std::thread& writer : writers) writer.join();
  stop = true;
  reader.join();
  EXPECT_FALSE(late.any_key_file()) << "the counts have lost a change";
  late.Erase(stays->id.ValueFileName());
  EXPECT_TRUE(late.empty());
}

}  // namespace
}  // namespace lava
