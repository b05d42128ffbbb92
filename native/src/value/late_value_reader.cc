#include "value/late_value_reader.h"

#include "base/check.h"

namespace lava {
namespace {

// Scanner that was made before its file had arrived.
class FailedScanner final : public ValueScanner {
 public:
  explicit FailedScanner(Status status) : status_(std::move(status)) {}
  Status GetStored(Slice, const FileId&, StoredValue*) override { return status_; }
  Status Decode(const StoredValue&, Slice*) override { return status_; }

 private:
  const Status status_;
};

class FailedKeyIterator final : public ValueKeyIterator {
 public:
  explicit FailedKeyIterator(Status status) : status_(std::move(status)) {}
  bool Valid() const override { return false; }
  void Next() override {}
  Slice key() const override { return {}; }
  const FileId& blob_file() const override { return blob_file_; }
  uint64_t raw_bytes() const override { return 0; }
  uint64_t record_offset() const override { return 0; }
  uint64_t record_bytes() const override { return 0; }
  Status status() const override { return status_; }

 private:
  const Status status_;
  const FileId blob_file_;
};

}  // namespace

LateValueReader::~LateValueReader() = default;

void LateValueReader::Arrive(std::shared_ptr<ValueReader> reader) {
  LAVA_CHECK(reader != nullptr);
  if (taken_.exchange(true)) return;
  owned_ = std::move(reader);
  reader_.store(owned_.get(), std::memory_order_release);
}

const ValueReader& LateValueReader::Here() const {
  const ValueReader* here = reader();
  LAVA_CHECK(here != nullptr);
  return *here;
}

Status LateValueReader::Presence() const { return reader() != nullptr ? Status::OK() : NotHere(); }

Status LateValueReader::Get(Slice key, const FileId& blob_file, bool fill_cache, Slice* value,
                            std::shared_ptr<const void>* pin) const {
  const ValueReader* here = reader();
  return here != nullptr ? here->Get(key, blob_file, fill_cache, value, pin) : NotHere();
}

Result<bool> LateValueReader::GetInPieces(Slice key, const FileId& blob_file,
                                          const PiecewiseRead& read) const {
  const ValueReader* here = reader();
  if (here == nullptr) return NotHere();
  return here->GetInPieces(key, blob_file, read);
}

std::unique_ptr<ValueScanner> LateValueReader::NewScanner(uint64_t piece_bytes_max) const {
  const ValueReader* here = reader();
  if (here == nullptr) return std::make_unique<FailedScanner>(NotHere());
  return here->NewScanner(piece_bytes_max);
}

Status LateValueReader::Locate(Slice key, const FileId& blob_file, ValueHandle* handle) const {
  const ValueReader* here = reader();
  return here != nullptr ? here->Locate(key, blob_file, handle) : NotHere();
}

Result<bool> LateValueReader::CopyCached(const ValueHandle& handle, Slice key,
                                         const FileId& blob_file, uint64_t raw_bytes,
                                         char* to) const {
  const ValueReader* here = reader();
  if (here == nullptr) return NotHere();
  return here->CopyCached(handle, key, blob_file, raw_bytes, to);
}

Status LateValueReader::CopyFrom(Slice records, const ValueHandle& handle, Slice key,
                                 const FileId& blob_file, bool fill_cache, uint64_t raw_bytes,
                                 char* to) const {
  const ValueReader* here = reader();
  if (here == nullptr) return NotHere();
  return here->CopyFrom(records, handle, key, blob_file, fill_cache, raw_bytes, to);
}

const fs::RandomFile& LateValueReader::file() const { return Here().file(); }

ScanAhead* LateValueReader::ahead() const { return Here().ahead(); }

void LateValueReader::CountReads(uint64_t reads, uint64_t bytes) const {
  Here().CountReads(reads, bytes);
}

std::unique_ptr<ValueKeyIterator> LateValueReader::NewKeyIterator() const {
  const ValueReader* here = reader();
  if (here == nullptr) return std::make_unique<FailedKeyIterator>(NotHere());
  return here->NewKeyIterator();
}

Status LateValueReader::TakeStored(Slice key, const KeyIndexEntry& at, Slice record,
                                   Compression* codec, Slice* stored) const {
  const ValueReader* here = reader();
  return here != nullptr ? here->TakeStored(key, at, record, codec, stored) : NotHere();
}

Status LateValueReader::DecodeStored(const KeyIndexEntry& at, Compression codec, Slice stored,
                                     std::string* raw) const {
  const ValueReader* here = reader();
  return here != nullptr ? here->DecodeStored(at, codec, stored, raw) : NotHere();
}

Status LateValueReader::VerifyAll() const {
  const ValueReader* here = reader();
  return here != nullptr ? here->VerifyAll() : NotHere();
}

const ValueFileProperties& LateValueReader::properties() const { return Here().properties(); }

const std::string& LateValueReader::path() const {
  const ValueReader* here = reader();
  return here != nullptr ? here->path() : name_;
}

}  // namespace lava
