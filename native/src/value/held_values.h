#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "lava/slice.h"
#include "value/format.h"
#include "value/value_writer.h"

namespace lava::vsst {

/// The first values of a file, which wait until they tell whether a dictionary pays: at most 1,024,
/// of 1 MiB before compression, in at most 4 MiB of memory.
/// Threads:    one thread.
class HeldValues {
 public:
  struct Value {
    Slice key;
    FileId birth;
    StoredValue stored;  // without a dictionary
    Slice raw;           // of a sample
    bool is_sample = false;
  };

  bool HasRoom(size_t key_bytes, size_t value_bytes) const;
  /// Whether values are so large that a dictionary is not worth a try.
  bool TooLarge() const;
  /// raw: the value, when it may be compressed anew; null: it stays as it is stored.
  void Add(Slice key, const FileId& birth, const StoredValue& stored, const Slice* raw);

  size_t size() const { return places_.size(); }
  /// Valid until the next Add().
  Value at(size_t i) const;
  Slice last_key() const { return at(size() - 1).key; }
  const FileId& last_birth() const { return places_.back().birth; }
  /// About what they will take in the file.
  uint64_t estimated_bytes() const { return estimated_bytes_; }

  /// The dictionary that pays for a file of values like these, or nothing. About half of the
  /// samples train it, and up to 128 KiB of the others tell what it saves.
  std::string ChooseDictionary(const DictionaryOptions& options) const;

 private:
  struct Place {
    size_t begin = 0;  // of the key; behind it stand the stored value and, unless the same, the raw
    uint32_t key_bytes = 0, stored_bytes = 0, raw_bytes = 0;
    Compression codec = Compression::kNone;
    bool is_sample = false;
    FileId birth;
  };
  std::string Train() const;
  bool Pays(Slice dictionary, uint32_t saving_percent_min) const;

  std::string memory_;
  std::vector<Place> places_;
  uint32_t samples_ = 0;
  uint64_t sample_raw_bytes_ = 0, sample_stored_bytes_ = 0;
  uint64_t estimated_bytes_ = 0;
};

}  // namespace lava::vsst
