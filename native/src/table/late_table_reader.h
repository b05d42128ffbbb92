#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "table/table_reader.h"

namespace lava {

/// Stands for the reader of a key SST that is not there yet, and for that reader once it is.
///
/// Before, every read answers NeedsFile, whose message is the file's name; iterators fail with it,
/// also when the file comes while they are in use. There are no range tombstones then: who applies
/// those of a file makes an iterator on it before it asks for them, which fails.
/// Threads:    any thread.
/// Ownership:  owns the reader that arrived.
class LateTableReader final : public TableReader {
 public:
  explicit LateTableReader(std::string name) : name_(std::move(name)) {}
  ~LateTableReader() override;

  /// The file is there. Only the first reader counts.
  void Arrive(std::shared_ptr<TableReader> reader);

  Status Presence() const override;
  Status Get(Lookup* lookup) const override;
  void Prefetch(const Lookup& lookup) const override;
  Status MultiGet(std::span<Lookup*> lookups) const override;
  Result<bool> MayHavePrefix(Slice prefix) const override;
  Result<bool> HasPrefixDelete(Slice prefix) const override;
  std::unique_ptr<RecordIterator> NewIterator(const IterateOptions& options) const override;
  void Warm(std::span<const std::string> partitions) const override;
  const TableProperties& properties() const override;  // only of a file that is there
  const RangeTombstoneSet& range_tombstones() const override;
  const std::string& path() const override;  // its name until it is there

 private:
  const TableReader* reader() const { return reader_.load(std::memory_order_acquire); }
  Status NotHere() const { return Status::NeedsFile(name_); }

  const std::string name_;
  std::atomic<const TableReader*> reader_{nullptr};
  std::shared_ptr<TableReader> owned_;  // written by who won reader_
  std::atomic<bool> taken_{false};
};

}  // namespace lava
