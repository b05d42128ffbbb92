#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "table/table_reader.h"

namespace lava {

/// The reader of a key SST that may not have been fetched yet.
///
/// Until the file has arrived, reads return NeedsFile with the file's name as the message. An
/// iterator made before keeps failing with NeedsFile, even if the file arrives meanwhile.
/// range_tombstones() is empty until then, so callers that apply a file's tombstones must make an
/// iterator first, and stop when it fails.
/// Threads:    any thread.
/// Ownership:  owns the reader that arrived.
/// Errors:     NeedsFile until Arrive(), then those of that reader.
class LateTableReader final : public TableReader {
 public:
  explicit LateTableReader(std::string name) : name_(std::move(name)) {}
  ~LateTableReader() override;

  /// Sets the reader once the file is there. Only the first call counts.
  void Arrive(std::shared_ptr<TableReader> reader);

  Status Presence() const override;
  Status Get(Lookup* lookup) const override;
  void Prefetch(const Lookup& lookup) const override;
  Result<bool> MayHavePrefix(Slice prefix) const override;
  Result<bool> HasPrefixDelete(Slice prefix) const override;
  std::unique_ptr<RecordIterator> NewIterator(const IterateOptions& options) const override;
  void Warm(std::span<const std::string> index_partitions) const override;
  const TableProperties& properties() const override;  // only after Arrive()
  const RangeTombstoneSet& range_tombstones() const override;
  const std::string& path() const override;  // the file's name until it has arrived

 private:
  const TableReader* reader() const { return reader_.load(std::memory_order_acquire); }
  Status NotHere() const { return Status::NeedsFile(name_); }

  const std::string name_;
  std::atomic<const TableReader*> reader_{nullptr};
  std::shared_ptr<TableReader> owned_;  // written by the call that set taken_
  std::atomic<bool> taken_{false};
};

}  // namespace lava
