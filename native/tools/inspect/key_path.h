#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/commands.h"
#include "inspect/key_names.h"

namespace lava::inspect {

/// One key's way through one instance: which runs a lookup asks, newest first, what each of them
/// holds, and where the value is in the end.
/// Threads:    one.
/// Ownership:  store and instance must outlive it; it hangs readers onto the instance's files.
class KeyPath {
 public:
  KeyPath(Store* store, const Instance& instance, const KeyRequest& request, uint64_t table_id,
          Show show);
  /// Fills *out; what is damaged becomes a fault.
  /// Errors:   NotFound when a key file is not there, or a value file that left the version.
  Status Walk(Json* out, std::vector<Fault>* faults);

 private:
  struct Answer {
    uint32_t level = 0;
    FileMeta* file = nullptr;
    std::optional<RecordKind> kind;
    std::string value;
    bool prefix_delete = false, range_tombstone = false;
  };

  Status AskFiles();
  /// All files at once, and before any is read: what is open cannot be removed under the tool.
  Status Open(uint32_t level, const FileEntry& entry);
  Status Ask(Answer* asked);
  /// After all were asked: records of the key say how long its deletable prefix is.
  Status AskPrefixDeletes();
  Json Say(Answer* answer);
  /// What a list has in it, and what in value files.
  Json Parts(Slice list);
  /// The places of the reference's birth.
  Json Value(const ValueReference& reference, std::vector<Fault>* faults);
  Status ReadPlace(const Placement& placement, const ValueReference& reference, Json* place);
  /// The engine's own way, through indexes and filters, must come to the same.
  Status CheckAgainstLookup();

  Store& store_;
  const Instance& instance_;
  const KeyNames names_;
  const JobContext context_;
  const uint64_t table_id_;
  std::string key_;                       // internal
  std::optional<uint32_t> prefix_bytes_;  // of the internal key
  std::vector<Answer> answers_;           // newest first
  bool done_ = false, found_ = false;
  bool expired_ = false;  // what the reference refers to
  uint64_t appends_ = 0;
  std::optional<ValueReference> reference_;
  std::vector<ValueReference> parts_;  // of a list, newest run first
  std::string missing_;                // a value file that is not there
};

}  // namespace lava::inspect
