// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// One point lookup. Runs are asked from the newest to the oldest until done(). A run first passes
/// its point record of the key to Tell(), then (unless done) calls Hide() if it has a kPrefixDelete
/// of the key's prefix or a range tombstone over the key.
/// Threads:    one thread.
/// Ownership:  key must outlive the lookup. Values passed to it are copied, or kept alive by their
///             pin. value() borrows from pin() or from the storage: valid while the pin lives or
///             the storage is unchanged.
class Lookup {
 public:
  /// storage (borrowed) receives copied and folded values; null: the lookup uses its own.
  Lookup(Slice key, uint32_t prefix_bytes, std::string* storage = nullptr)
      : key_(key),
        key_hash_(Hash64(key)),
        prefix_bytes_(prefix_bytes),
        storage_(storage == nullptr ? &own_storage_ : storage) {}
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  Slice key() const { return key_; }
  /// Hash64 of the key, computed once for all runs.
  uint64_t key_hash() const { return key_hash_; }
  Slice prefix() const { return key_.substr(0, prefix_bytes_); }
  bool has_prefix() const { return prefix_bytes_ != 0; }
  bool done() const { return done_; }

  /// Adds a point record of the key. pin null: the value is copied.
  void Tell(RecordKind kind, Slice value, std::shared_ptr<const void> pin);
  /// Adds a kPutReference record.
  void TellReference(const ValueReference& reference);
  /// Hides the key's records in older runs.
  void Hide() { done_ = true; }

  /// After all runs: whether the key exists. The value is pinned if a single record holds it;
  /// otherwise it is folded (operands oldest first) into the storage.
  bool found() const { return found_; }
  /// Non-null: the value is in a value file, and the caller passes it to Resolve() unless
  /// existence_only.
  const ValueReference* reference() const { return reference_ ? &*reference_ : nullptr; }
  /// After Finish(): the value is a list with parts in value files; the caller passes the complete
  /// list to Resolve().
  bool has_parts() const { return has_parts_; }
  /// List operands follow a reference. A list is never a reference, so a file is damaged.
  bool malformed() const { return reference_ && !operands_.empty(); }
  void Resolve(Slice value, std::shared_ptr<const void> pin) {
    value_ = value;
    pin_ = std::move(pin);
    reference_.reset();
    has_parts_ = false;
  }
  Slice value() const { return value_; }
  /// Keeps value() alive; null if value() is in the storage.
  const std::shared_ptr<const void>& pin() const { return pin_; }
  /// Folds operands into value(); call once, after the last run.
  void Finish();
  /// Set before the first run when only existence matters: values are neither copied nor pinned.
  bool existence_only = false;
  /// A list whose folded size exceeds this limit becomes a ListSegment::kTooLong.
  uint64_t list_bytes_max = kListBytesMax;

 private:
  // pin null: the bytes are in copy. pinned never points into copy: moving the operand would
  // invalidate the slice.
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
