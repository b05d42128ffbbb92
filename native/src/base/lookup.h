#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "lava/options.h"
#include "lava/slice.h"

namespace lava {

/// One point lookup. Runs are asked from the newest to the oldest; each tells the lookup what it
/// holds until done(). A run tells its point record of the key first, then (unless done) any
/// kPrefixDelete of the key's prefix or range tombstone over the key by Hide().
/// Threads:    one thread.
/// Ownership:  key must outlive it; values told to it are copied, or kept alive by their pin.
///             value() borrows from pin() or from the storage: valid as long as that is untouched.
class Lookup {
 public:
  /// storage (borrowed) takes what has to be copied or folded; null: the lookup's own.
  Lookup(Slice key, uint32_t prefix_bytes, std::string* storage = nullptr)
      : key_(key),
        key_hash_(Hash64(key)),
        prefix_bytes_(prefix_bytes),
        storage_(storage == nullptr ? &own_storage_ : storage) {}
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  Slice key() const { return key_; }
  /// Hash64 of the key: made once for all runs.
  uint64_t key_hash() const { return key_hash_; }
  Slice prefix() const { return key_.substr(0, prefix_bytes_); }
  bool has_prefix() const { return prefix_bytes_ != 0; }
  bool done() const { return done_; }

  /// A point record of the key. pin null: the value is copied.
  void Tell(RecordKind kind, Slice value, std::shared_ptr<const void> pin);
  /// A kPutReference record.
  void TellReference(const ValueReference& reference);
  /// All that older runs hold of the key is hidden.
  void Hide() { done_ = true; }

  /// After all runs: whether the key exists, and its value: pinned if one record made it,
  /// else folded (operands oldest first) into the storage.
  bool found() const { return found_; }
  /// The value is where this says; Resolve() takes it unless existence_only. Null: it is known.
  const ValueReference* reference() const { return reference_ ? &*reference_ : nullptr; }
  /// After Finish(): the value is a list of which parts are in value files; Resolve() takes the
  /// whole of it.
  bool has_parts() const { return has_parts_; }
  /// Operands stand on a reference: a list never is one, so some file is damaged.
  bool malformed() const { return reference_ && !operands_.empty(); }
  void Resolve(Slice value, std::shared_ptr<const void> pin) {
    value_ = value;
    pin_ = std::move(pin);
    reference_.reset();
    has_parts_ = false;
  }
  Slice value() const { return value_; }
  /// Keeps value() alive; null when value() is in the storage.
  const std::shared_ptr<const void>& pin() const { return pin_; }
  /// Folds operands into value(); call once, after the last run.
  void Finish();
  /// Set before the first run when only existence matters: values are neither copied nor pinned.
  bool existence_only = false;
  /// A list that would be folded to more becomes a ListSegment::kTooLong.
  uint64_t list_bytes_max = kListBytesMax;

 private:
  // pin null: the bytes are in copy. Never a slice into copy: moving the operand would break it.
  struct Operand {
    Slice pinned;
    std::string copy;
    std::shared_ptr<const void> pin;
    Slice bytes() const { return pin == nullptr ? Slice(copy) : pinned; }
  };
  void Fold();
  void MarkTooLong(uint64_t bytes);

  Slice key_;
  uint64_t key_hash_;
  uint32_t prefix_bytes_;
  bool done_ = false;
  bool found_ = false;
  bool has_parts_ = false;
  Slice value_;
  std::shared_ptr<const void> pin_;
  std::string* storage_;
  std::string own_storage_;
  std::optional<ValueReference> reference_;
  std::vector<Operand> operands_;  // newest first
};

}  // namespace lava
