// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/lookup.h"
#include "compaction/compaction_job.h"
#include "compaction/compaction_scope.h"
#include "compaction/flush_job.h"
#include "lava/list_format.h"
#include "manifest/version_edit.h"
#include "read/list_layout.h"
#include "read/merging_iterator.h"
#include "read/readers.h"
#include "read/version_lookup.h"
#include "testing/chosen_file_system.h"

namespace lava {

/// A tree without a database: memtables, files and a version in memory, built run by run, and a map
/// with the user's expected view. For tests of this folder.
class TreeForTest {
 public:
  TreeForTest() : cache_(BlockCache::Create(1 << 20)) {
    context_.file_system = &file_system_;
    context_.directory = "/db";
    context_.cache = cache_.get();
    context_.counter = &counter_;
    context_.next_file = [this] { return FileId{{1, 2}, ++last_file_}; };
    context_.writer.block_bytes = 256;
    context_.writer.index_partition_bytes = 512;
    EXPECT_TRUE(file_system_.CreateDirectory("/db").ok());
    NewActive();
  }

  // Internal keys: partition, table id, two bytes of state key, the rest.
  static std::string Key(uint8_t partition, uint64_t table, std::string_view rest) {
    std::string key(1, static_cast<char>(partition));
    PutBigEndian(&key, table, kTableIdBytes);
    return key.append(rest);
  }
  static constexpr uint32_t kPrefixBytes = 1 + kTableIdBytes + 2;
  static std::string Segment(std::string_view bytes) {
    std::string segment;
    AppendListSegment(ListSegment::kElement, bytes, &segment);
    return segment;
  }

  void Put(const std::string& key, const std::string& value, uint32_t prefix = 0) {
    active_->Put(key, prefix, value);
    model_[key] = value;
  }
  void Delete(const std::string& key, uint32_t prefix = 0) {
    active_->Delete(key, prefix);
    model_.erase(key);
  }
  void Append(const std::string& key, const std::string& segments) {
    active_->Append(key, 0, segments);
    model_[key] += segments;
  }
  void DeletePrefix(const std::string& prefix) {
    active_->DeletePrefix(prefix);
    std::erase_if(model_, [&](const auto& e) { return e.first.starts_with(prefix); });
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    active_->DeleteRange(begin, end);
    std::erase_if(model_, [&](const auto& e) { return e.first >= begin && e.first < end; });
  }

  void Seal() {
    active_->Seal();
    sealed_.insert(sealed_.begin(), active_);
    NewActive();
  }
  /// Flushes the oldest `count` sealed runs into one file of L0.
  void Flush(size_t count = 1) {
    FlushInput input;
    input.runs.assign(sealed_.end() - static_cast<ptrdiff_t>(count), sealed_.end());
    input.nothing_older = true;
    for (const auto& level : version_->levels) input.nothing_older &= level.empty();
    input.tables = tables;
    FlushOutput output;
    ASSERT_TRUE(RunFlush(context_, input, &output).ok());
    sealed_.resize(sealed_.size() - count);
    VersionEdit edit;
    if (output.file != nullptr) edit.Add(0, EntryOf(output.file));
    for (const auto& file : output.value_files) edit.AddNewValueFile(file);
    Apply(edit);
  }
  void SealAndFlush() {
    Seal();
    Flush();
  }

  CompactionInput Plan(const std::map<uint32_t, std::vector<size_t>>& files, uint32_t to) const {
    CompactionInput input;
    input.version = version_;
    input.output_level = to;
    input.target_file_bytes = target_file_bytes;
    input.tables = tables;
    input.drop_time = {.older_ms = now_ms, .recent_ms = now_ms};
    for (const auto& [level, indices] : files) {
      CompactionInput::Level& part = input.inputs.emplace_back();
      part.level = level;
      for (const size_t i : indices) part.entries.push_back(version_->levels[level][i]);
    }
    input.version = ScopeOf(input);
    return input;
  }
  /// Plans a compaction of all files of levels first..to into `to`.
  CompactionInput PlanLevels(uint32_t first, uint32_t to) const {
    std::map<uint32_t, std::vector<size_t>> files;
    for (uint32_t level = first; level <= to; ++level)
      for (size_t i = 0; i < version_->levels[level].size(); ++i) files[level].push_back(i);
    return Plan(files, to);
  }
  CompactionOutput Compact(const CompactionInput& input) {
    CompactionOutput output;
    const Status status = RunCompaction(context_, input, &output);
    EXPECT_TRUE(status.ok()) << status.ToString();
    Install(input, output);
    return output;
  }
  void Install(const CompactionInput& input, const CompactionOutput& output) {
    VersionEdit edit;
    for (const auto& part : input.inputs)
      for (const KeyFileEntry& entry : part.entries) edit.Remove(part.level, entry);
    for (const auto& file : output.files) edit.Add(input.output_level, EntryOf(file));
    for (const auto& file : output.value_files) edit.AddNewValueFile(file);
    Apply(edit);
  }
  void Apply(const VersionEdit& edit) {
    auto next = std::make_shared<Version>(*version_);
    const Status status = ApplyToVersion(edit, next.get());
    ASSERT_TRUE(status.ok()) << status.ToString();
    version_ = next;
  }

  /// The runs of the whole tree, newest first.
  std::vector<std::unique_ptr<MergeRun>> Runs() const {
    std::vector<std::unique_ptr<MergeRun>> runs;
    runs.push_back(NewMemTableRun(active_, false));
    for (const auto& table : sealed_) runs.push_back(NewMemTableRun(table, false));
    for (const KeyFileEntry& e : version_->levels[0]) runs.push_back(NewFileRun(e, {}).value());
    for (uint32_t level = 1; level < kLevelCountMax; ++level)
      if (!version_->levels[level].empty())
        runs.push_back(NewLevelRun(version_->levels[level], {}));
    return runs;
  }
  std::map<std::string, std::string> Scan(const std::string& from = "", uint32_t hint = 0) const {
    MergeOptions options;
    options.prefix_bytes_hint = hint;
    const auto it = NewMergingIterator(Runs(), options);
    std::map<std::string, std::string> seen;
    std::string last;
    from.empty() ? it->SeekToFirst() : it->Seek(from);
    for (; it->Valid(); it->Next()) {
      const Record& r = it->record();
      EXPECT_TRUE(seen.empty() || Slice(last) < r.key);
      last = r.key;
      if (r.kind == RecordKind::kPutReference) {
        ValueReference reference;
        EXPECT_TRUE(DecodeReference(r.value, &reference));
        seen[last] = Fetch(last, reference);
      } else if (r.kind == RecordKind::kPutParts) {
        seen[last] = FetchList(last, r.value);
      } else {
        EXPECT_EQ(r.kind, RecordKind::kPut);
        seen[last] = r.value;
      }
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return seen;
  }
  /// Looks the key up run by run, as DB::Get() does; null when absent.
  std::unique_ptr<std::string> Get(const std::string& key, uint32_t prefix = 0) const {
    Lookup lookup(key, prefix);
    active_->Get(&lookup);
    for (const auto& table : sealed_)
      if (!lookup.done()) table->Get(&lookup);
    for (const auto& level : version_->levels)
      for (const KeyFileEntry& e : level)
        if (!lookup.done() && key >= e.lower && key < e.upper) {
          EXPECT_TRUE(ReaderOf(*e.file)->Get(&lookup).ok());
        }
    if (lookup.reference() != nullptr)
      return std::make_unique<std::string>(Fetch(key, *lookup.reference()));
    lookup.Finish();
    if (!lookup.found()) return nullptr;
    if (lookup.has_parts()) return std::make_unique<std::string>(FetchList(key, lookup.value()));
    return std::make_unique<std::string>(lookup.value());
  }
  /// The whole list, including its parts in value files, or the error text.
  std::string FetchList(Slice key, Slice list) const {
    ListLayout layout;
    Status status = layout.Read(list);
    std::string whole;
    std::vector<ListLayout::Logged> logged;  // only memtables have logged parts
    if (status.ok()) status = layout.Fetch(*version_, key, &whole, &logged);
    LAVA_CHECK(logged.empty());
    return status.ok() ? whole : status.ToString();
  }
  /// The value that a reference in the version refers to, or the error text.
  std::string Fetch(Slice key, const ValueReference& reference) const {
    Slice value;
    std::shared_ptr<const void> pin;
    const Status status = ReadValue(*version_, key, reference, false, &value, &pin);
    return status.ok() ? std::string(value) : status.ToString();
  }
  /// The records of one file, one per line: "put key=value". Keys lack their first six bytes. For a
  /// reference the value is the number of the file in which its value was first written.
  static std::string Dump(const FileMeta& file) {
    std::string text;
    const auto it = ReaderOf(file)->NewIterator({});
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const Record& r = it->record();
      static constexpr const char* kNames[] = {
          "", "put", "delete", "append", "prefix-delete", "reference", "put-parts", "append-parts"};
      text.append(kNames[static_cast<int>(r.kind)]).append(" ");
      text.append(r.key.substr(1 + kTableIdBytes));
      if (ValueReference to; r.kind == RecordKind::kPutReference) {
        EXPECT_TRUE(DecodeReference(r.value, &to));
        text.append("=").append(std::to_string(to.blob_file.number));
      } else if (HasParts(r.kind)) {
        std::vector<ListPart> parts;
        EXPECT_TRUE(SplitList(r.value, &parts).ok());
        for (const ListPart& part : parts) {
          if (part.is_reference) {
            EXPECT_TRUE(ReferenceOf(part, &to).ok());
          }
          text.append(" ").append(part.is_reference ? std::to_string(to.blob_file.number)
                                                    : std::string(part.bytes));
        }
      } else if (!r.value.empty()) {
        text.append("=").append(r.value);
      }
      text.append("\n");
    }
    EXPECT_TRUE(it->status().ok());
    return text;
  }

  static KeyFileEntry EntryOf(const std::shared_ptr<FileMeta>& file) {
    return {file, file->lower, file->upper};
  }
  const std::map<std::string, std::string>& model() const { return model_; }
  const std::shared_ptr<const Version>& version() const { return version_; }
  void set_version(std::shared_ptr<const Version> version) { version_ = std::move(version); }
  size_t sealed_count() const { return sealed_.size(); }
  const std::vector<std::shared_ptr<const MemTable>>& sealed() const { return sealed_; }
  MemTable* active() { return active_.get(); }
  JobContext& context() { return context_; }
  testing::CrashableFileSystem& file_system() { return file_system_; }

  uint64_t target_file_bytes = 1 << 20;
  std::map<uint64_t, TableOptions> tables;
  int64_t now_ms = 0;

 private:
  void NewActive() { active_ = MemTable::Create(&counter_); }

  MemoryCounter counter_;
  testing::ChosenFileSystem file_system_;
  std::unique_ptr<BlockCache> cache_;
  JobContext context_;
  uint64_t last_file_ = 0;
  std::shared_ptr<MemTable> active_;
  std::vector<std::shared_ptr<const MemTable>> sealed_;  // newest first
  std::shared_ptr<const Version> version_ = std::make_shared<Version>();
  std::map<std::string, std::string> model_;
};

/// The key `rest` of a table in partition 1.
inline std::string K(std::string_view rest, uint64_t table = 7) {
  return TreeForTest::Key(1, table, rest);
}

}  // namespace lava
