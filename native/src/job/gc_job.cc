#include "job/gc_job.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/dictionary.h"
#include "job/ttl_filter.h"
#include "job/value_output.h"
#include "job/version_lookup.h"

namespace lava {
namespace {

// What a version lets a file show: two files may hold copies of one value when their owners
// collected it apart and were united since, and each then stands for its part of the keys.
class ShownPlaces {
 public:
  ShownPlaces(const Version& version, const ValueFileMeta* file) : version_(version), file_(file) {}

  bool Shows(Slice key, const FileId& id) {
    if (birth_ == nullptr || id != id_) {
      const auto it = version_.births.find(id);
      if (it == version_.births.end()) return false;
      birth_ = it->second.get();
      id_ = id;
    }
    for (const Placement& place : birth_->places)
      if (place.file.get() == file_ && key >= place.lower && key < place.upper) return true;
    return false;
  }

 private:
  const Version& version_;
  const ValueFileMeta* const file_;
  FileId id_;
  const Birth* birth_ = nullptr;  // of id_
};

// Inputs are few (see the picker), so the least key is found by looking at all.
class MergedKeys {
 public:
  explicit MergedKeys(const GcInput& input) {
    for (const std::shared_ptr<ValueFileMeta>& file : input.files)
      inputs_.push_back({file.get(), ReaderOf(*file)->NewKeyIterator(),
                         ReaderOf(*file)->NewStoredReader(),
                         ShownPlaces(*input.version, file.get())});
  }

  struct Input {
    const ValueFileMeta* file;
    std::unique_ptr<ValueKeyIterator> keys;
    std::unique_ptr<StoredValueReader> values;
    ShownPlaces places;
  };
  /// The input at the least (key, birth); null at the end or after an error.
  Result<Input*> Least() {
    Input* least = nullptr;
    for (Input& input : inputs_) {
      LAVA_RETURN_IF_ERROR(input.keys->status());
      if (!input.keys->Valid()) continue;
      if (least == nullptr || Before(*input.keys, *least->keys)) least = &input;
    }
    return least;
  }
  uint64_t value_bytes_read() const {
    uint64_t bytes = 0;
    for (const Input& input : inputs_) bytes += input.values->bytes_read();
    return bytes;
  }

 private:
  static bool Before(const ValueKeyIterator& a, const ValueKeyIterator& b) {
    const int order = a.key().compare(b.key());
    return order != 0 ? order < 0 : a.birth() < b.birth();
  }
  std::vector<Input> inputs_;
};

// The reference under which the installed files know the key's value now, asked once a key.
class LivingReferences {
 public:
  explicit LivingReferences(const Version& version) : version_(version) {}

  /// Null when the value of (key, birth) is dead. Valid until the next call.
  Result<const ValueReference*> Find(Slice key, const FileId& birth) {
    if (!known_ || key != key_) {
      known_ = false;
      key_ = key;
      LAVA_RETURN_IF_ERROR(Ask());
      known_ = true;
    }
    return reference_ && reference_->birth == birth ? &*reference_ : nullptr;
  }

 private:
  // Without the length of a deletable prefix a prefix delete does not count: a value under it is
  // kept until a compaction drops its reference.
  Status Ask() {
    Lookup lookup(key_, 0);
    LAVA_RETURN_IF_ERROR(LookUpInFiles(version_, &lookup));
    reference_.reset();
    if (lookup.malformed())
      return Status::Corruption(
          "a list stands on a reference to a value file: restore from a "
          "checkpoint");
    if (lookup.reference() != nullptr) reference_ = *lookup.reference();
    return Status::OK();
  }

  const Version& version_;
  bool known_ = false;
  std::string key_;
  std::optional<ValueReference> reference_;
};

// Which file a survivor goes to. Values of one birth may be apart by temperature, but for one key
// in at most one file of each: lookups ask as many. So a birth that has places outside the inputs
// is not split again, but stays as warm as the file that it comes from.
class Temperatures {
 public:
  Temperatures(const JobContext& context, const GcInput& input) : drops_(context.drop_cache) {
    for (const std::shared_ptr<ValueFileMeta>& file : input.files) inputs_.insert(file.get());
    for (const auto& file : input.files)
      for (const BirthShare& share : file->births) Judge(*input.version, share.birth);
  }
  bool IsHot(Slice key, const FileId& birth, const ValueFileMeta& from) const {
    return split_.contains(birth) ? drops_->IsHot(key) : from.hot;
  }

 private:
  void Judge(const Version& version, const FileId& birth) {
    const auto it = version.births.find(birth);
    if (drops_ == nullptr || it == version.births.end()) return;
    for (const Placement& place : it->second->places)
      if (!inputs_.contains(place.file.get())) return;
    split_.insert(birth);
  }

  const DropCache* const drops_;
  std::set<const ValueFileMeta*> inputs_;
  std::set<FileId> split_;
};

// One collection at work.
class Collection {
 public:
  Collection(const JobContext& context, const GcInput& input, GcOutput* output)
      : context_(context),
        input_(input),
        output_(*output),
        tables_(input.tables, context.writer.partition_bytes),
        values_(context, input.tables),
        living_(*input.version),
        temperatures_(context, input) {}

  Status Run() {
    MergedKeys keys(input_);
    while (true) {
      if (context_.cancelled != nullptr && context_.cancelled->load(std::memory_order_relaxed))
        return Status::Aborted("the instance is closing");
      LAVA_ASSIGN_OR_RETURN(MergedKeys::Input * at, keys.Least());
      if (at == nullptr) break;
      LAVA_RETURN_IF_ERROR(Judge(at));
      at->keys->Next();
    }
    LAVA_RETURN_IF_ERROR(values_.Finish(&output_.files));
    output_.bytes_read = keys.value_bytes_read();
    output_.bytes_written = values_.bytes_written();
    return Status::OK();
  }

 private:
  Status Judge(MergedKeys::Input* at) {
    const Slice key = at->keys->key();
    const FileId& birth = at->keys->birth();
    const ValueReference* reference = nullptr;
    if (at->places.Shows(key, birth)) {
      LAVA_ASSIGN_OR_RETURN(reference, living_.Find(key, birth));
    }
    if (reference == nullptr) {
      ++output_.values_dead;
      return Status::OK();
    }
    if (HasExpired(tables_.OptionsOf(key), reference->timestamp, input_.now_ms)) {
      const auto written_ms = static_cast<int64_t>(*reference->timestamp);
      const auto [noted, is_new] =
          output_.births_expired.try_emplace({birth, *tables_.IdOf(key)}, written_ms);
      if (!is_new) noted->second = std::max(noted->second, written_ms);
      ++output_.values_expired;
      return Status::OK();
    }
    return Copy(*at, reference->timestamp);
  }

  Status Copy(const MergedKeys::Input& at, std::optional<uint64_t> timestamp) {
    Compression codec;
    uint32_t raw_bytes = 0;
    Slice stored;
    LAVA_RETURN_IF_ERROR(at.values->Read(*at.keys, &codec, &raw_bytes, &stored));
    const bool hot = temperatures_.IsHot(at.keys->key(), at.keys->birth(), *at.file);
    if (codec == kZstdDictionary) {  // only its own file's dictionary can read that
      LAVA_RETURN_IF_ERROR(
          ReaderOf(*at.file)->DecodeStored(*at.keys, codec, raw_bytes, stored, &raw_));
      LAVA_RETURN_IF_ERROR(values_.Add(at.keys->key(), at.keys->birth(), hot, raw_, timestamp));
    } else {
      LAVA_RETURN_IF_ERROR(values_.AddStored(at.keys->key(), at.keys->birth(), hot, codec,
                                             raw_bytes, stored, timestamp));
    }
    ++output_.values_live;
    return Status::OK();
  }

  const JobContext& context_;
  const GcInput& input_;
  GcOutput& output_;
  const TablesByKey tables_;
  ValueOutput values_;
  LivingReferences living_;
  const Temperatures temperatures_;
  std::string raw_;
};

}  // namespace

Status RunGc(const JobContext& context, const GcInput& input, GcOutput* output) {
  *output = {};
  return Collection(context, input, output).Run();
}

}  // namespace lava
