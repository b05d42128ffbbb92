// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "db/read_context.h"

namespace lava {

class ListLayout;
class Lookup;
struct ValueReference;

/// Looks up the key in the runs of the view, from the newest to the oldest, until the lookup is
/// complete.
/// Threads: any. Errors: those of reading files; NeedsFile.
Status LookUpIn(const ReadView& view, Lookup* lookup);
/// Whether the newest record of the lookup is a reference to a value that has expired.
bool HasExpired(const ReadView& view, const TableImpl& table, const Lookup& lookup);

/// Reads single keys.
/// Threads:    any.
/// Ownership:  borrows the context.
/// Errors:     see the functions of the same names in lava/db.h.
class PointReader {
 public:
  explicit PointReader(const ReadContext* context) : context_(*context) {}

  /// sink: receives a value larger than context.whole_bytes_max in pieces; may be null.
  Status Get(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
             Snapshot* snapshot) const;
  Status Contains(Table* table, KeyRef key, Snapshot* snapshot) const;

 private:
  // These functions replace a reference in the lookup by its value.
  Status ResolveReference(const ReadView& view, Lookup* lookup, ValueSink* sink) const;
  Status ResolveInFile(const ReadView& view, const ValueReference& reference, Lookup* lookup,
                       ValueSink* sink) const;
  Status ResolveList(const ReadView& view, Lookup* lookup, ValueSink* sink) const;

  bool GoesInPieces(uint64_t bytes, const ValueSink* sink) const {
    return bytes > context_.whole_bytes_max && sink != nullptr;
  }
  // These functions pass the value to the sink. The value in the lookup is empty afterwards.
  Status AddInPieces(const ReadView& view, const ValueReference& reference, Lookup* lookup,
                     ValueSink* sink) const;
  Status AddInPieces(const ReadView& view, const ListLayout& list, Lookup* lookup,
                     ValueSink* sink) const;

  const ReadContext& context_;
};

}  // namespace lava
