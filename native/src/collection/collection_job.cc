// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "collection/collection_job.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/dictionary.h"
#include "base/file_id.h"
#include "base/list_parts.h"
#include "base/lookup.h"
#include "base/value_reference.h"
#include "fs/gathered_reads.h"
#include "job/job_context.h"
#include "job/value_output.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/blob_locations.h"
#include "manifest/version.h"
#include "os/job_break.h"
#include "read/readers.h"
#include "read/ttl_filter.h"
#include "read/version_lookup.h"
#include "value/value_reader.h"

namespace lava {
namespace {

// The keys for which a version reads a file. Two instances that collected a file separately and
// were united each bring a copy of its values; each copy then serves only its own key range.
class ShownLocations {
 public:
  ShownLocations(const Version& version, const ValueFileMeta* file)
      : version_(version), file_(file) {}

  bool Shows(Slice key, const FileId& id) {
    if (blob_file_ == nullptr || id != id_) {
      const auto it = version_.blob_files.find(id);
      if (it == version_.blob_files.end()) return false;
      blob_file_ = it->second.get();
      id_ = id;
    }
    for (const BlobLocation& location : blob_file_->locations)
      if (location.file.get() == file_ && key >= location.lower && key < location.upper)
        return true;
    return false;
  }

 private:
  const Version& version_;
  const ValueFileMeta* const file_;
  FileId id_;
  const BlobFile* blob_file_ = nullptr;  // of id_
};

// A collection has few inputs (see the picker), so a linear search finds the least key.
class MergedKeys {
 public:
  explicit MergedKeys(const CollectionInput& input) {
    for (const std::shared_ptr<ValueFileMeta>& file : input.files)
      inputs_.push_back({file.get(), ReaderOf(*file)->NewKeyIterator(),
                         ShownLocations(*input.version, file.get())});
  }

  struct Input {
    const ValueFileMeta* file;
    std::unique_ptr<ValueKeyIterator> keys;
    ShownLocations locations;
  };
  /// The input with the least (key, blob file); null at the end or after an error.
  Result<Input*> Least() {
    Input* least = nullptr;
    for (Input& input : inputs_) {
      LAVA_RETURN_IF_ERROR(input.keys->status());
      if (!input.keys->Valid()) continue;
      if (least == nullptr || Before(*input.keys, *least->keys)) least = &input;
    }
    return least;
  }

 private:
  static bool Before(const ValueKeyIterator& a, const ValueKeyIterator& b) {
    const int order = a.key().compare(b.key());
    return order != 0 ? order < 0 : a.blob_file() < b.blob_file();
  }
  std::vector<Input> inputs_;
};

// The references in the installed files to the key's current value; looked up once per key.
class LivingReferences {
 public:
  explicit LivingReferences(const Version& version) : version_(version) {}

  /// Null when the value of (key, blob file) is dead. Valid until the next call.
  Result<const ValueReference*> Find(Slice key, const FileId& blob_file) {
    if (!known_ || key != key_) {
      known_ = false;
      key_ = key;
      LAVA_RETURN_IF_ERROR(Ask());
      known_ = true;
    }
    for (const ValueReference& reference : references_)
      if (reference.blob_file == blob_file) return &reference;
    return nullptr;
  }

 private:
  // The lookup ignores prefix deletes because the length of the deletable prefix is unknown: a
  // deleted value is kept until a compaction drops its reference.
  Status Ask() {
    Lookup lookup(key_, 0);
    lookup.list_bytes_max = UINT64_MAX;  // compactions deal with lists that are too long to read
    LAVA_RETURN_IF_ERROR(LookUpInFiles(version_, &lookup));
    references_.clear();
    if (lookup.malformed())
      return Status::Corruption(
          "a list stands on a reference to a value file: restore from a "
          "checkpoint");
    if (lookup.reference() != nullptr) references_.push_back(*lookup.reference());
    return lookup.has_parts() ? AskParts(&lookup) : Status::OK();
  }
  Status AskParts(Lookup* lookup) {
    lookup->Finish();
    std::vector<ListPart> parts;
    LAVA_RETURN_IF_ERROR(SplitList(lookup->value(), &parts));
    for (const ListPart& part : parts)
      if (part.is_reference) {
        ValueReference& reference = references_.emplace_back();
        LAVA_RETURN_IF_ERROR(ReferenceOf(part, &reference));
        reference.timestamp.reset();  // a read of the list needs it until the list lets go of it
      }
    return Status::OK();
  }

  const Version& version_;
  bool known_ = false;
  std::string key_;
  std::vector<ValueReference> references_;  // several only for a list
};

// Decides which file a live value goes to. A blob file may be split by temperature, but a key may
// have at most one hot and one cold location, because a lookup asks every location. Therefore a
// blob file with locations outside the inputs is not split; its values keep the temperature of
// their input file.
class Temperatures {
 public:
  Temperatures(const JobContext& context, const CollectionInput& input)
      : drops_(context.drop_cache) {
    for (const std::shared_ptr<ValueFileMeta>& file : input.files) inputs_.insert(file.get());
    for (const auto& file : input.files)
      for (const BlobReference& reference : file->blob_files)
        Judge(*input.version, reference.blob_file);
  }
  bool IsHot(Slice key, const FileId& blob_file, const ValueFileMeta& from) const {
    return split_.contains(blob_file) ? drops_->IsHot(key) : from.hot;
  }

 private:
  void Judge(const Version& version, const FileId& blob_file) {
    const auto it = version.blob_files.find(blob_file);
    if (drops_ == nullptr || it == version.blob_files.end()) return;
    for (const BlobLocation& location : it->second->locations)
      if (!inputs_.contains(location.file.get())) return;
    split_.insert(blob_file);
  }

  const DropCache* const drops_;
  std::set<const ValueFileMeta*> inputs_;
  std::set<FileId> split_;
};

// Live values that are read together. Neighbours in a file come in one read, and all reads are
// issued together. Dead values between neighbours are read only up to a limit below a block
// (Scavenger 3.2, lazy read).
class SurvivorBatch {
 public:
  struct Survivor {
    const ValueReader* reader;
    uint64_t key_offset, key_bytes;
    KeyIndexEntry at;
    bool hot;
    std::optional<uint64_t> timestamp;
    size_t range = 0;
  };

  bool Fits(const KeyIndexEntry& entry) const {
    return survivors_.empty() || bytes_ + entry.handle.bytes + kBetweenBytesMax <= kBytesMax;
  }
  void Add(Slice key, Survivor survivor) {
    survivor.key_offset = keys_.size();
    survivor.key_bytes = key.size();
    bytes_ += survivor.at.handle.bytes + kBetweenBytesMax;
    survivors_.push_back(survivor);
    keys_.append(key);
  }
  /// Starts the reads. They run in parallel with the caller until FinishReads().
  void BeginReads() {
    order_.resize(survivors_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::sort(order_.begin(), order_.end(), [this](size_t a, size_t b) {
      const Survivor &x = survivors_[a], &y = survivors_[b];
      return x.reader != y.reader ? std::less<>()(x.reader, y.reader)
                                  : x.at.handle.offset < y.at.handle.offset;
    });
    ranges_.clear();
    for (size_t rank = 0; rank < order_.size(); ++rank) {
      Survivor& survivor = survivors_[order_[rank]];
      survivor.range = rank;
      ranges_.push_back(
          {&survivor.reader->file(), survivor.at.handle.offset, survivor.at.handle.bytes});
    }
    [[maybe_unused]] const size_t begun = reads_.Begin(ranges_);
    LAVA_DCHECK(begun == ranges_.size());
  }
  void FinishReads() { reads_.Finish(); }

  const std::vector<Survivor>& survivors() const { return survivors_; }
  Slice KeyOf(const Survivor& survivor) const {
    return Slice(keys_).substr(survivor.key_offset, survivor.key_bytes);
  }
  Result<Slice> RecordOf(const Survivor& survivor) const {
    LAVA_RETURN_IF_ERROR(reads_.status(survivor.range));
    return reads_.bytes(survivor.range);
  }
  uint64_t bytes_read() const { return reads_.bytes_read(); }
  void Clear() {
    reads_.Clear();
    survivors_.clear();
    keys_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr uint64_t kBytesMax = 1 << 20;
  static constexpr uint64_t kBetweenBytesMax = 4096;  // dead bytes read to save a read
  static constexpr fs::GatherLimits kLimits{.gap_bytes_max = kBetweenBytesMax,
                                            .batch_bytes_max = UINT64_MAX};  // kBytesMax holds
  fs::GatheredReads reads_{kLimits};
  std::string keys_;
  std::vector<Survivor> survivors_;
  std::vector<size_t> order_;  // indexes into survivors_, by file and offset
  std::vector<fs::FileRange> ranges_;
  uint64_t bytes_ = 0;
};

// Copies live values: while one batch is copied, the next is read.
class SurvivorCopy {
 public:
  SurvivorCopy(JobBreak* job_break, ValueOutput* out) : break_(*job_break), out_(*out) {}

  /// Call in ascending order of (key, blob file).
  Status Add(const ValueFileMeta& from, const ValueKeyIterator& at, bool hot,
             std::optional<uint64_t> timestamp) {
    const KeyIndexEntry entry = at.index_entry();
    if (!next_->Fits(entry)) LAVA_RETURN_IF_ERROR(TurnOver());
    next_->Add(at.key(), {ReaderOf(from), 0, 0, entry, hot, timestamp});
    return Status::OK();
  }
  Status Finish() {
    LAVA_RETURN_IF_ERROR(TurnOver());
    return CopyRead();
  }
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  Status TurnOver() {
    next_->BeginReads();
    LAVA_RETURN_IF_ERROR(CopyRead());
    std::swap(next_, read_);
    LAVA_DCHECK(next_->survivors().empty());
    return Status::OK();
  }
  Status CopyRead() {
    read_->FinishReads();
    bytes_read_ += read_->bytes_read();
    for (const SurvivorBatch::Survivor& survivor : read_->survivors())
      LAVA_RETURN_IF_ERROR(Copy(survivor));
    read_->Clear();
    return Status::OK();
  }
  Status Copy(const SurvivorBatch::Survivor& survivor) {
    const KeyIndexEntry& at = survivor.at;
    LAVA_RETURN_IF_ERROR(break_.Look(at.handle.bytes));
    LAVA_ASSIGN_OR_RETURN(const Slice record, read_->RecordOf(survivor));
    const Slice key = read_->KeyOf(survivor);
    Compression codec;
    Slice stored;
    LAVA_RETURN_IF_ERROR(survivor.reader->TakeStored(key, at, record, &codec, &stored));
    if (codec == kZstdDictionary) {  // only readable with the dictionary of its file
      LAVA_RETURN_IF_ERROR(survivor.reader->DecodeStored(at, codec, stored, &raw_));
      return out_.Add(key, at.blob_file, survivor.hot, raw_, survivor.timestamp);
    }
    return out_.AddStored(key, at.blob_file, survivor.hot, codec,
                          static_cast<uint32_t>(at.raw_bytes), stored, survivor.timestamp);
  }

  JobBreak& break_;
  ValueOutput& out_;
  SurvivorBatch batches_[2];
  SurvivorBatch* next_ = &batches_[0];  // being filled
  SurvivorBatch* read_ = &batches_[1];  // being read, then copied
  uint64_t bytes_read_ = 0;
  std::string raw_;
};

// The highest level of the inputs: compactions of that level may have to put the values in order.
uint32_t HighestLevel(const CollectionInput& input) {
  uint32_t level = kLevelCountMax - 1;
  for (const std::shared_ptr<ValueFileMeta>& file : input.files)
    level = std::min(level, file->level);
  return level;
}

bool AreDistinct(const std::vector<std::shared_ptr<ValueFileMeta>>& files) {
  return std::set<std::shared_ptr<ValueFileMeta>>(files.begin(), files.end()).size() ==
         files.size();
}

// One run of the collector.
class Collection {
 public:
  Collection(const JobContext& context, const CollectionInput& input, CollectionOutput* output)
      : break_(context.cancelled, context.pacer),
        input_(input),
        output_(*output),
        tables_(input.tables, context.writer.partition_bytes),
        values_(context, input.tables, HighestLevel(input)),
        copy_(&break_, &values_),
        living_(*input.version),
        temperatures_(context, input) {}

  Status Run() {
    for (const std::shared_ptr<ValueFileMeta>& file : input_.files)
      LAVA_RETURN_IF_ERROR(RequireReader(*file).status());
    MergedKeys keys(input_);
    while (true) {
      LAVA_ASSIGN_OR_RETURN(MergedKeys::Input * at, keys.Least());
      if (at == nullptr) break;
      LAVA_RETURN_IF_ERROR(break_.Look(at->keys->key().size()));
      LAVA_RETURN_IF_ERROR(Judge(at));
      at->keys->Next();
    }
    LAVA_RETURN_IF_ERROR(copy_.Finish());
    LAVA_RETURN_IF_ERROR(values_.Finish(&output_.files));
    output_.bytes_read = copy_.bytes_read();
    output_.bytes_written = values_.bytes_written();
    return Status::OK();
  }

 private:
  Status Judge(MergedKeys::Input* at) {
    const Slice key = at->keys->key();
    const FileId& blob_file = at->keys->blob_file();
    const ValueReference* reference = nullptr;
    if (at->locations.Shows(key, blob_file)) {
      LAVA_ASSIGN_OR_RETURN(reference, living_.Find(key, blob_file));
    }
    if (reference == nullptr) {
      ++output_.values_dead;
      return Status::OK();
    }
    if (HasExpired(tables_.OptionsOf(key), reference->timestamp, input_.now_ms)) {
      const auto written_ms = static_cast<int64_t>(*reference->timestamp);
      const auto [noted, is_new] =
          output_.blob_files_expired.try_emplace({blob_file, *tables_.IdOf(key)}, written_ms);
      if (!is_new) noted->second = std::max(noted->second, written_ms);
      ++output_.values_expired;
      return Status::OK();
    }
    ++output_.values_live;
    return copy_.Add(*at->file, *at->keys, temperatures_.IsHot(key, blob_file, *at->file),
                     reference->timestamp);
  }

  JobBreak break_;
  const CollectionInput& input_;
  CollectionOutput& output_;
  const TablesByKey tables_;
  ValueOutput values_;
  SurvivorCopy copy_;
  LivingReferences living_;
  const Temperatures temperatures_;
};

}  // namespace

Status RunCollection(const JobContext& context, const CollectionInput& input,
                     CollectionOutput* output) {
  *output = {};
  LAVA_DCHECK(input.version != nullptr && AreDistinct(input.files));
  return Collection(context, input, output).Run();
}

}  // namespace lava
