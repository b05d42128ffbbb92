#pragma once

#include "db/read_context.h"

namespace lava {

class ListLayout;
class Lookup;
struct ValueReference;

/// Asks the runs of the view, from the newest to the oldest, until the lookup knows enough.
Status LookUpIn(const ReadView& view, Lookup* lookup);
/// Whether the newest record that the lookup found is a reference to a value that has expired.
bool HasExpired(const ReadView& view, const TableImpl& table, const Lookup& lookup);

/// Answers questions about single keys.
/// Threads:    any.
/// Ownership:  borrows the context.
/// Errors:     see the functions of the same names in lava/db.h.
class PointReader {
 public:
  explicit PointReader(const ReadContext* context) : context_(*context) {}

  /// sink: takes a value that is larger than context.whole_bytes_max, in pieces; may be null.
  Status Get(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
             Snapshot* snapshot) const;
  Status Contains(Table* table, KeyRef key, Snapshot* snapshot) const;

 private:
  // Replace a reference that the lookup found by the value that it refers to.
  Status ResolveReference(const ReadView& view, Lookup* lookup, ValueSink* sink) const;
  Status ResolveInFile(const ReadView& view, const ValueReference& reference, Lookup* lookup,
                       ValueSink* sink) const;
  Status ResolveList(const ReadView& view, Lookup* lookup, ValueSink* sink) const;

  bool GoesInPieces(uint64_t bytes, const ValueSink* sink) const {
    return bytes > context_.whole_bytes_max && sink != nullptr;
  }
  // Hand the value to the sink; the lookup has an empty value then.
  Status AddInPieces(const ReadView& view, const ValueReference& reference, Lookup* lookup,
                     ValueSink* sink) const;
  Status AddInPieces(const ReadView& view, const ListLayout& list, Lookup* lookup,
                     ValueSink* sink) const;

  const ReadContext& context_;
};

}  // namespace lava
