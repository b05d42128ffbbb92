// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "db/verify_file.h"
#include "db_test_util.h"
#include "testing/count.h"
#include "testing/random.h"
#include "testing/variable.h"

// Each byte of a segment shared by two layers is flipped, and the segment is truncated at each
// length. Neither layer reads a wrong value or entry, and a verification reports the damage with
// the file.
namespace lava::testing {
namespace {

const size_t kStep = Variable("LAVA_TEST_STEP", 1);

class EntriesCorruption : public ::testing::Test {
 protected:
  static void Set(SimDB* db) { db->options().collection_garbage_percent = 101; }
  static Table* Map(SimDB* db) {
    return *(*db)->CreateTable("map", {.kind = TableKind::kMap, .separation_bytes = 1});
  }
  static Table* List(SimDB* db) {
    return *(*db)->CreateTable("list", {.kind = TableKind::kList, .separation_bytes = 1});
  }
  static bool IsOfList(const std::string& key) { return key.substr(1).starts_with("l"); }
  void SetUp() override {
    Set(&db_);
    ASSERT_OK(db_.Open());
    for (int i = 0; i < 12; ++i) {
      // Two puts for each key, some entries of the other layer alone, some with a missing byte.
      const std::string key = K(1, "k" + std::to_string(i % 10));
      const std::string value = std::to_string(i) + Random(static_cast<uint64_t>(i) + 1).Bytes(90);
      Log(
          [&](EntryLocation* at, const std::string& entry) {
            return db_->PutExternal(Map(&db_), {key}, value, entry, at);
          },
          "set " + key + " to " + value.substr(i % 3 == 0));
      values_[key] = value;
      if (i % 4 == 0) {
        Log([&](EntryLocation* at,
                const std::string& entry) { return db_->AppendEntry(entry, at); },
            "the change " + std::to_string(i));
      }
    }
    EntryLocation location;
    ASSERT_TRUE(db_->BindExternal("nothing", &location).IsNotFound());
    for (int i = 0; i < 4; ++i) {
      // The first element of each of two lists has the blob file of all other data, the second
      // another one.
      const std::string key = K(1, "l" + std::to_string(i % 2));
      const std::string element = Random(static_cast<uint64_t>(i) + 100).Bytes(90);
      ASSERT_OK(db_->Append(List(&db_), {key}, ListOf({element})));
      Log([&](EntryLocation* at, const std::string& entry) { return db_->BindExternal(entry, at); },
          "add to " + key + ": " + element);
      values_[key] += ListOf({element});
    }
    const uint64_t segment = locations_.back().segment;
    name_ = db_->ChangelogSegmentName(segment);
    path_ = "/db/" + name_;
    ASSERT_OK(db_->RollEntries());
    ASSERT_OK(db_->FinishEntries(segment));
    ASSERT_OK(db_.Flush());
    sound_ = *files_.Content(path_);
    end_ = locations_.back().offset + locations_.back().bytes;
    const std::vector<std::string> paths = files_.Paths();
    ASSERT_EQ(std::count_if(paths.begin(), paths.end(),
                            [](const auto& path) { return path.ends_with(".vsst"); }),
              1)
        << "the segment must be the only value file";
    ASSERT_EQ(db_->statistics().value_files, 1u);
    ASSERT_OK(VerifyStoredFile(&files_, path_, {}));
  }
  template <typename Call>
  void Log(Call call, const std::string& entry) {
    entries_.push_back(entry);
    ASSERT_OK(call(&locations_.emplace_back(), entry));
  }
  void ExpectNamed(const Status& status) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.message().find(name_), Slice::npos) << status.ToString();
  }

  /// The tree's layer: returns the number of unreadable keys.
  int ReadValues(const std::string& content) {
    const auto image = files_.CrashClone(CrashMode::kAll);
    EXPECT_OK(image->SetContent(path_, content));
    ExpectNamed(VerifyStoredFile(image.get(), path_, {}));
    SimDB again(2, image.get());
    Set(&again);
    const Status opened = again.Open();
    if (!opened.ok()) {
      // The file is shorter than the manifest requires.
      EXPECT_NE(opened.message().find(name_), Slice::npos) << opened.ToString();
      return static_cast<int>(values_.size());
    }
    int told = 0;
    for (const auto& [key, expected] : values_) {
      PinnedValue value;
      Table* const table = IsOfList(key) ? List(&again) : Map(&again);
      const Status status = again->Get(table, {key}, &value);
      EXPECT_TRUE(!status.ok() || value.data() == expected) << "the tree returned a wrong value";
      if (status.ok()) continue;
      ExpectNamed(status);
      ++told;
    }
    return told;
  }
  /// The layer above: reads entries one by one from the instance, and all of them from copied
  /// bytes.
  int ReadEntries(const std::string& content) {
    EXPECT_OK(files_.SetContent(path_, content));
    int told = 0;
    std::string entry;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Status status = db_->ReadEntry(locations_[i], &entry);
      EXPECT_TRUE(!status.ok() || entry == entries_[i]) << "the instance returned a wrong entry";
      // A truncated segment has no such location.
      if (!status.ok() && !status.IsInvalidArgument()) ExpectNamed(status);
      told += !status.ok();
    }
    EXPECT_OK(files_.SetContent(path_, sound_));
    std::vector<std::string> decoded;
    const Status status = DecodeEntries(name_, 0, Slice(content).substr(0, end_), &decoded);
    if (!status.ok()) ExpectNamed(status);
    EXPECT_LE(decoded.size(), entries_.size());
    EXPECT_TRUE(std::equal(decoded.begin(), decoded.end(), entries_.begin()));
    EXPECT_EQ(status.ok() && decoded.size() == entries_.size(), told == 0);
    return told;
  }

  ChosenFileSystem files_;
  SimDB db_{1, &files_};
  std::map<std::string, std::string> values_;
  std::vector<std::string> entries_;
  std::vector<EntryLocation> locations_;
  std::string name_, path_, sound_;
  uint64_t end_ = 0;  // end of the entries
};

TEST_F(EntriesCorruption, EveryFlippedByte) {
  uint64_t flips = 0, values_told = 0;
  for (size_t i = 0; i < sound_.size(); i += kStep, ++flips) {
    SCOPED_TRACE("byte " + std::to_string(i) + " of " + std::to_string(sound_.size()));
    std::string damaged = sound_;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    const int values = ReadValues(damaged), entries = ReadEntries(damaged);
    values_told += static_cast<uint64_t>(values);
    if (i < end_) {
      EXPECT_LE(values, 1) << "a damaged record must affect only its own key";
      EXPECT_EQ(entries, 1);
    } else {
      EXPECT_EQ(entries, 0) << "damage of the index must not affect the layer above";
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(values_told * 2, end_ / kStep);
  Count(flips, "flips of a changelog segment");
}

TEST_F(EntriesCorruption, EveryTruncation) {
  uint64_t cuts = 0;
  for (size_t bytes = 0; bytes < sound_.size(); bytes += kStep, ++cuts) {
    SCOPED_TRACE(std::to_string(bytes) + " of " + std::to_string(sound_.size()) + " bytes");
    EXPECT_EQ(ReadValues(sound_.substr(0, bytes)), static_cast<int>(values_.size()));
    const auto cut = std::count_if(locations_.begin(), locations_.end(),
                                   [&](const auto& at) { return at.offset + at.bytes > bytes; });
    std::string entry;
    ASSERT_OK(files_.SetContent(path_, sound_.substr(0, bytes)));
    int told = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const bool read = db_->ReadEntry(locations_[i], &entry).ok();
      EXPECT_TRUE(!read || entry == entries_[i]);
      told += !read;
    }
    EXPECT_EQ(told, cut);
    ASSERT_OK(files_.SetContent(path_, sound_));
    if (HasFailure()) return;
  }
  Count(cuts, "truncations of a changelog segment");
}

// Bytes of one segment are not valid entries of another one, nor at another offset.
TEST_F(EntriesCorruption, EveryOtherPlace) {
  std::vector<std::string> decoded;
  std::string entry;
  for (size_t i = 0; i < locations_.size(); ++i) {
    const Slice bytes = Slice(sound_).substr(locations_[i].offset, locations_[i].bytes);
    ASSERT_OK(DecodeEntries(name_, locations_[i].offset, bytes, &decoded));
    EXPECT_EQ(decoded, std::vector<std::string>{entries_[i]});
    for (uint64_t offset = 0; offset < end_; ++offset) {
      if (offset == locations_[i].offset) continue;
      ExpectNamed(DecodeEntries(name_, offset, bytes, &decoded));
      EXPECT_FALSE(db_->ReadEntry({locations_[i].segment, offset, bytes.size()}, &entry).ok() &&
                   std::none_of(locations_.begin(), locations_.end(),
                                [&](const auto& at) { return at.offset == offset; }));
    }
    EXPECT_TRUE(DecodeEntries("0-1.vsst", locations_[i].offset, bytes, &decoded).IsCorruption());
  }
}

}  // namespace
}  // namespace lava::testing
