// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include "inspect/report.h"
#include "lava/slice.h"
#include "manifest/version_edit.h"

namespace lava::inspect {

/// Describes an internal key as far as it may be shown: by default its partition and table, the
/// length of the rest, and a hash that identifies equal keys; the bytes only on request.
/// Threads:    any.
/// Ownership:  state must outlive it.
class KeyNames {
 public:
  KeyNames(const ManifestState& state, Show show) : state_(state), show_(show) {}
  /// Without a description: tables have only ids.
  KeyNames(uint32_t partition_bytes, Show show);
  KeyNames(const KeyNames&) = delete;  // may refer to itself
  KeyNames& operator=(const KeyNames&) = delete;

  Json Of(Slice internal_key) const;
  /// For [lower, upper).
  Json Bounds(Slice lower, Slice upper) const;
  /// A table's name, or its id if the name is unknown.
  std::string TableName(uint64_t id) const;
  Json Value(Slice value) const;

 private:
  ManifestState own_;
  const ManifestState& state_;
  Show show_;
};

/// A table's id as in files and reports: "0123456789".
std::string TableIdText(uint64_t id);
const char* NameOf(TableKind kind);
const char* NameOf(TtlLayout layout);
/// The results of Of() and Bounds() as one line of text.
std::string KeyText(const Json& key);
std::string BoundsText(const Json& bounds);

}  // namespace lava::inspect
