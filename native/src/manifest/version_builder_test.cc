// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/version_builder.h"

#include <gtest/gtest.h>

#include <random>

#include "manifest/blob_files_for_test.h"

namespace lava {
namespace {

/// Random flushes, compactions, moves and collections of a tree. Keys are four-digit numbers.
class RandomTree {
 public:
  explicit RandomTree(uint64_t seed) : random_(seed) { Import(); }

  /// Applies one edit. False if the tree has no files for the chosen kind of edit.
  bool Step() {
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2:
        return Flush();
      case 3:
        return Move();
      case 4:
      case 5:
        return Collect();
      default:
        return Compact();
    }
  }
  const Version& version() const { return *state_.version; }
  std::shared_ptr<const Version> shared() const { return state_.version; }

 private:
  static std::string Key(uint64_t n) { return std::to_string(1000 + n % 9000); }

  void Apply(const VersionEdit& edit) {
    const std::shared_ptr<const Version> before = state_.version;
    const Status status = ApplyEdit(edit, &state_);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectLeft(*before);
  }
  // The version lists exactly the files that have left it.
  void ExpectLeft(const Version& before) {
    std::set<std::string> left, told;
    for (const auto& level : before.levels)
      for (const KeyFileEntry& entry : level)
        if (!HighestStand(version(), *entry.file)) left.insert(entry.file->id.FileName());
    for (const auto& [id, entry] : before.value_files)
      if (!version().value_files.contains(id)) left.insert(id.ValueFileName());
    for (const Version::LeftFile& file : version().left) told.insert(file.name());
    EXPECT_EQ(told, left);
  }

  // One file with two entries, as after two instances that shared a checkpoint were united.
  void Import() {
    VersionEdit edit;
    edit.partition_bytes = 1;
    const auto values = NewValueFile(++number_, 10, 1000, Key(0), Key(8999));
    const auto keys = KeyFileOf(++number_, {{values->id, 10, 1000}}, Key(0), Key(8000));
    edit.Add(2, {keys, Key(0), Key(2000)});
    edit.Add(3, {keys, Key(4000), Key(7000)});
    edit.AddNewValueFile(values);
    Apply(edit);
  }
  bool Flush() {
    const uint64_t begin = random_() % 8000, end = begin + 1 + random_() % 900;
    VersionEdit edit;
    const auto values = NewValueFile(++number_, 10, 1000, Key(begin), Key(end));
    edit.Add(0, WholeOf(KeyFileOf(++number_, {{values->id, 10, 1000}}, Key(begin), Key(end))));
    edit.AddNewValueFile(values);
    Apply(edit);
    return true;
  }
  // An entry of a random level, and the level.
  const KeyFileEntry* Choose(uint32_t* level) {
    *level = random_() % 4;
    const FileList& files = version().levels[*level];
    return files.empty() ? nullptr
                         : &files[*level == 0 ? files.size() - 1 : random_() % files.size()];
  }
  std::vector<KeyFileEntry> Within(uint32_t level, const std::string& lower,
                                   const std::string& upper) {
    std::vector<KeyFileEntry> found;
    for (const KeyFileEntry& entry : version().levels[level])
      if (entry.upper > lower && entry.lower < upper) found.push_back(entry);
    return found;
  }
  bool Move() {
    uint32_t level;
    const KeyFileEntry* const entry = Choose(&level);
    if (entry == nullptr || !Within(level + 1, entry->lower, entry->upper).empty()) return false;
    VersionEdit edit;
    edit.Remove(level, *entry);
    edit.Add(level + 1, *entry);
    Apply(edit);
    return true;
  }
  bool Compact() {
    uint32_t level;
    const KeyFileEntry* const first = Choose(&level);
    if (first == nullptr) return false;
    std::vector<KeyFileEntry> upper{*first}, below;
    std::string from = first->lower, to = first->upper;
    for (size_t known = SIZE_MAX; known != below.size();) {
      known = below.size();
      below = Within(level + 1, from, to);
      for (const KeyFileEntry& entry : below) {
        from = std::min(from, entry.lower);
        to = std::max(to, entry.upper);
      }
    }
    VersionEdit edit;
    std::map<FileId, uint64_t> named;
    for (const KeyFileEntry& entry : upper) edit.Remove(level, entry);
    for (const KeyFileEntry& entry : below) edit.Remove(level + 1, entry);
    for (const auto* entries : {&upper, &below})
      for (const KeyFileEntry& entry : *entries)
        for (const BlobReference& reference : entry.file->blob_references)
          named[reference.blob_file] += reference.raw_bytes;
    // Write several files and let some of the named values die.
    const uint64_t begin = std::stoull(from), end = std::stoull(to);
    const uint64_t files = std::min<uint64_t>(1 + random_() % 3, end - begin);
    for (uint64_t n = 0; n < files; ++n) {
      std::vector<BlobReference> blob_files;
      for (const auto& [id, bytes] : named)
        if (random_() % 4 != 0)
          blob_files.push_back({id, 1, bytes / files * (random_() % 100) / 100 + 1});
      const std::string lower = std::to_string(begin + (end - begin) * n / files);
      const std::string ends = std::to_string(begin + (end - begin) * (n + 1) / files);
      edit.Add(level + 1, WholeOf(KeyFileOf(++number_, std::move(blob_files), lower, ends)));
    }
    Apply(edit);
    return true;
  }
  bool Collect() {
    if (version().value_files.empty()) return false;
    const auto input = version().value_files.begin() +
                       static_cast<ptrdiff_t>(random_() % version().value_files.size());
    const std::shared_ptr<ValueFileMeta> file = input->second.file;
    VersionEdit edit;
    edit.values_removed.push_back(file->id);
    std::vector<BlobReference> blob_files;
    std::vector<VersionEdit::AddedValueFile::Location> locations;
    for (const BlobReference& reference : file->blob_files) {
      const auto blob_file = version().blob_files.find(reference.blob_file);
      if (blob_file == version().blob_files.end()) continue;
      blob_files.push_back({reference.blob_file, 1, reference.raw_bytes / 2 + 1});
      for (const BlobLocation& location : blob_file->second->locations)
        if (location.file == file)
          locations.push_back({reference.blob_file, location.lower, location.upper});
    }
    const auto output = ValueFileOf(++number_, file->lower, file->upper, std::move(blob_files));
    edit.values_added.push_back({output, std::move(locations)});
    if (random_() % 4 == 0)
      edit.blob_files_expired.push_back({file->blob_files[0].blob_file, 5, 70});
    Apply(edit);
    return true;
  }

  std::mt19937_64 random_;
  uint64_t number_ = 0;
  ManifestState state_;
};

TEST(VersionBuilder, KeepsSumsAndGarbageAsACountOfAllGivesThem) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomTree tree(seed);
    int steps = 0;
    for (int i = 0; i < 600 && !::testing::Test::HasFailure(); ++i) {
      if (!tree.Step()) continue;
      ++steps;
      ExpectSums(tree.version());
    }
    EXPECT_GT(steps, 300);
    EXPECT_GT(tree.version().blob_files.size(), 20u);
  }
}

// The cost of an edit is that of the blob files that it changes.
TEST(VersionBuilder, ABlobFileWhoseCountsRemainIsNotCopied) {
  BlobFilesForTest blob_files;
  const KeyFileEntry input = WholeOf(KeyFileOf(1, {{IdOf(10), 4, 400}, {IdOf(11), 2, 200}}));
  blob_files.Flush(input, {NewValueFile(10, 5, 500), NewValueFile(11, 5, 500)});
  const std::shared_ptr<const Version> before = blob_files.state().version;

  VersionEdit edit;
  edit.Remove(0, input);
  edit.Add(1, WholeOf(KeyFileOf(2, {{IdOf(10), 4, 400}, {IdOf(11), 1, 100}})));
  blob_files.Apply(edit);
  const std::shared_ptr<const Version> after = blob_files.state().version;
  EXPECT_EQ(after->blob_files.at(IdOf(10)), before->blob_files.at(IdOf(10)));
  EXPECT_NE(after->blob_files.at(IdOf(11)), before->blob_files.at(IdOf(11)));
  EXPECT_EQ(after->blob_files.at(IdOf(11))->records, 1u);
  EXPECT_EQ(after->blob_files.at(IdOf(11))->locations.data(),
            before->blob_files.at(IdOf(11))->locations.data())
      << "both versions must share the locations";
}

TEST(VersionBuilder, LeavesOlderVersionsAsTheyWere) {
  RandomTree tree(9);
  std::vector<std::pair<std::shared_ptr<const Version>, std::string>> older;
  for (int i = 0; i < 400; ++i) {
    if (tree.Step() && i % 20 == 0) older.emplace_back(tree.shared(), ValuesOf(tree.version()));
    for (const auto& [version, values] : older) ASSERT_EQ(ValuesOf(*version), values);
  }
  for (const auto& [version, values] : older) ExpectSums(*version);
}

}  // namespace
}  // namespace lava
