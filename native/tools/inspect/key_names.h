#pragma once

#include <map>
#include <string>

#include "inspect/report.h"
#include "lava/slice.h"
#include "manifest/version_edit.h"

namespace lava::inspect {

/// Says of an internal key what may be shown: by default its partition and table, how long the rest
/// is, and a hash that tells equal keys; the bytes only where they were asked for.
/// Threads:    any.
/// Ownership:  state must outlive it.
class KeyNames {
 public:
  KeyNames(const ManifestState& state, Show show) : state_(state), show_(show) {}
  /// Without a description: the tables have ids only.
  KeyNames(uint32_t partition_bytes, Show show);
  KeyNames(const KeyNames&) = delete;  // may refer to itself
  KeyNames& operator=(const KeyNames&) = delete;

  Json Of(Slice internal_key) const;
  /// Of [lower, upper).
  Json Bounds(Slice lower, Slice upper) const;
  /// A table by its name, else by its id.
  std::string TableName(uint64_t id) const;
  Json Value(Slice value) const;

 private:
  ManifestState own_;
  const ManifestState& state_;
  Show show_;
};

/// "0123456789", as files and reports write a table's id.
std::string TableIdText(uint64_t id);
const char* NameOf(TableKind kind);
const char* NameOf(TtlLayout layout);
/// One line of text of what Of() and Bounds() made.
std::string KeyText(const Json& key);
std::string BoundsText(const Json& bounds);

}  // namespace lava::inspect
