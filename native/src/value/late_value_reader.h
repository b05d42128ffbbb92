#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "value/value_reader.h"

namespace lava {

/// The reader of a value SST that may not have been fetched yet: see LateTableReader. Until the
/// file has arrived, calls return NeedsFile; calls without a Status may only be made afterwards.
/// Threads:    any thread.
/// Ownership:  owns the reader that arrived.
/// Errors:     NeedsFile until Arrive(), then those of that reader.
class LateValueReader final : public ValueReader {
 public:
  explicit LateValueReader(std::string name) : name_(std::move(name)) {}
  ~LateValueReader() override;

  /// Sets the reader once the file is there. Only the first call counts.
  void Arrive(std::shared_ptr<ValueReader> reader);

  Status Presence() const override;
  Status Get(Slice key, const FileId& blob_file, bool fill_cache, Slice* value,
             std::shared_ptr<const void>* pin) const override;
  Result<bool> GetInPieces(Slice key, const FileId& blob_file,
                           const PiecewiseRead& read) const override;
  std::unique_ptr<ValueScanner> NewScanner(uint64_t piece_bytes_max) const override;
  Status Locate(Slice key, const FileId& blob_file, ValueHandle* handle) const override;
  Result<bool> CopyCached(const ValueHandle& handle, Slice key, const FileId& blob_file,
                          uint64_t raw_bytes, char* to) const override;
  Status CopyFrom(Slice records, const ValueHandle& handle, Slice key, const FileId& blob_file,
                  bool fill_cache, uint64_t raw_bytes, char* to) const override;
  const fs::RandomFile& file() const override;
  ScanAhead* ahead() const override;
  void CountReads(uint64_t reads, uint64_t bytes) const override;
  std::unique_ptr<ValueKeyIterator> NewKeyIterator() const override;
  Status TakeStored(Slice key, const KeyIndexEntry& at, Slice record, Compression* codec,
                    Slice* stored) const override;
  Status DecodeStored(const KeyIndexEntry& at, Compression codec, Slice stored,
                      std::string* raw) const override;
  Status VerifyAll() const override;
  const ValueFileProperties& properties() const override;
  const std::string& path() const override;  // the file's name until it has arrived

 private:
  const ValueReader* reader() const { return reader_.load(std::memory_order_acquire); }
  const ValueReader& Here() const;
  Status NotHere() const { return Status::NeedsFile(name_); }

  const std::string name_;
  std::atomic<const ValueReader*> reader_{nullptr};
  std::shared_ptr<ValueReader> owned_;  // written by the call that set taken_
  std::atomic<bool> taken_{false};
};

}  // namespace lava
