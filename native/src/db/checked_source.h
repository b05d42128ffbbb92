// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "base/list_parts.h"
#include "job/value_output.h"
#include "lava/value_pieces.h"

namespace lava {

/// Passes on the pieces of a source and inspects them. After the last piece, is_writable() and
/// Timestamp() give the results of CheckValue() and TimestampOf() for the whole value. All pieces
/// must be read, in order.
/// Threads:    one.
/// Ownership:  borrows the source.
class CheckedSource final : public ValueSource {
 public:
  CheckedSource(ValueSource* source, TableKind kind)
      : source_(source), is_list_(kind == TableKind::kList) {}
  uint64_t size() const override { return source_->size(); }
  /// Errors: those of the source; InvalidArgument with the last piece if the value should be a list
  /// and is not.
  Status Read(uint64_t offset, size_t length, char* to) override {
    LAVA_RETURN_IF_ERROR(source_->Read(offset, length, to));
    const Slice piece(to, length);
    front_.append(piece.substr(0, kFrontBytes - front_.size()));
    if (!is_list_) return Status::OK();
    list_.Add(piece);
    is_writable_ = list_.is_writable() || offset + length < size();
    return is_writable_ ? Status::OK() : Status::InvalidArgument("not a list");
  }
  /// False: all pieces were read, and the value should be a list and is not.
  bool is_writable() const { return is_writable_; }
  /// The timestamp of the value, after the last piece. No value if the value has no timestamp.
  std::optional<uint64_t> Timestamp(const TableOptions& options) const {
    return options.ttl_layout == TtlLayout::kList ? list_.newest() : TimestampOf(options, front_);
  }

 private:
  // Timestamps of single values lie within this many bytes from the value's begin.
  static constexpr size_t kFrontBytes = 16;
  ValueSource* const source_;
  const bool is_list_;
  bool is_writable_ = true;
  std::string front_;  // the first kFrontBytes of the value
  ListScan list_;
};

}  // namespace lava
