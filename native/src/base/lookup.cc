// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/lookup.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/list_parts.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "lava/list_format.h"
#include "lava/slice.h"

namespace lava {

void Lookup::Tell(RecordKind kind, Slice value, std::shared_ptr<const void> pin) {
  LAVA_DCHECK(!done_);
  if (done_) return;
  switch (kind) {
    case RecordKind::kPutParts:
      has_parts_ = true;
      [[fallthrough]];
    case RecordKind::kPut:
      done_ = true;
      found_ = true;
      if (existence_only) return;
      if (pin == nullptr) {
        storage_->assign(value);
        value_ = *storage_;
      } else {
        value_ = value;
        pin_ = std::move(pin);
      }
      return;
    case RecordKind::kDelete:
    case RecordKind::kPrefixDelete:
      done_ = true;
      return;
    case RecordKind::kAppendParts:
      has_parts_ = true;
      [[fallthrough]];
    case RecordKind::kAppend: {
      found_ = true;
      if (existence_only) {
        done_ = true;
        return;
      }
      Operand& operand = operands_.emplace_back();
      if (pin == nullptr) {
        operand.copy.assign(value);
      } else {
        operand.pinned = value;
        operand.pin = std::move(pin);
      }
      return;
    }
    case RecordKind::kPutReference:
      break;
  }
  // Readers reject unknown kinds, so an unknown kind here is a bug in the engine.
  LAVA_CHECK(kind != RecordKind::kPutReference && "references are told by TellReference");
  LAVA_CHECK(false && "unknown record kind");
}

void Lookup::TellReference(const ValueReference& reference) {
  LAVA_DCHECK(!done_);
  done_ = true;
  found_ = true;
  reference_ = reference;
}

void Lookup::Finish() {
  Fold();
  uint64_t whole = 0;
  // The caller that resolves the parts reports a malformed list.
  if (has_parts_ && WholeListBytes(value_, &whole).ok() && whole > list_bytes_max)
    MarkTooLong(whole);
}

void Lookup::Fold() {
  done_ = true;
  if (operands_.empty()) return;
  // Only a kPut gives a base value: Tell() then set pin_ or pointed value_ at the storage.
  const bool base_pinned = pin_ != nullptr;
  const bool base_copied = !base_pinned && value_.data() != nullptr;
  if (!base_pinned && !base_copied && operands_.size() == 1) {
    Operand& only = operands_.front();
    if (only.pin != nullptr) {
      value_ = only.pinned;
      pin_ = std::move(only.pin);
    } else {
      *storage_ = std::move(only.copy);
      value_ = *storage_;
    }
    operands_.clear();
    return;
  }
  size_t total = value_.size();
  for (const Operand& operand : operands_) total += operand.bytes().size();
  if (total > list_bytes_max) return MarkTooLong(total);
  if (!base_copied) storage_->clear();
  storage_->reserve(total);
  if (base_pinned) storage_->append(value_);
  for (size_t i = operands_.size(); i > 0; --i) storage_->append(operands_[i - 1].bytes());
  LAVA_CHECK(storage_->size() == total);
  value_ = *storage_;
  pin_.reset();
  operands_.clear();
}

void Lookup::MarkTooLong(uint64_t bytes) {
  storage_->clear();
  AppendTooLongSegment(bytes, list_bytes_max, storage_);
  value_ = *storage_;
  pin_.reset();
  operands_.clear();
  has_parts_ = false;
}

}  // namespace lava
