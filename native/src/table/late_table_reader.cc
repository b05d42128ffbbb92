#include "table/late_table_reader.h"

#include "base/check.h"

namespace lava {
namespace {

// Iterator that was made before its file had arrived.
class FailedIterator final : public RecordIterator {
 public:
  explicit FailedIterator(Status status) : status_(std::move(status)) {}
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void Seek(Slice) override {}
  void Next() override {}
  const Record& record() const override { return record_; }
  Status status() const override { return status_; }

 private:
  const Status status_;
  const Record record_;
};

}  // namespace

LateTableReader::~LateTableReader() = default;

void LateTableReader::Arrive(std::shared_ptr<TableReader> reader) {
  LAVA_CHECK(reader != nullptr);
  if (taken_.exchange(true)) return;
  owned_ = std::move(reader);
  reader_.store(owned_.get(), std::memory_order_release);
}

Status LateTableReader::Presence() const { return reader() != nullptr ? Status::OK() : NotHere(); }

Status LateTableReader::Get(Lookup* lookup) const {
  const TableReader* here = reader();
  return here != nullptr ? here->Get(lookup) : NotHere();
}

void LateTableReader::Prefetch(const Lookup& lookup) const {
  if (const TableReader* here = reader()) here->Prefetch(lookup);
}

Result<bool> LateTableReader::MayHavePrefix(Slice prefix) const {
  const TableReader* here = reader();
  if (here == nullptr) return NotHere();
  return here->MayHavePrefix(prefix);
}

Result<bool> LateTableReader::HasPrefixDelete(Slice prefix) const {
  const TableReader* here = reader();
  if (here == nullptr) return NotHere();
  return here->HasPrefixDelete(prefix);
}

std::unique_ptr<RecordIterator> LateTableReader::NewIterator(const IterateOptions& options) const {
  const TableReader* here = reader();
  if (here == nullptr) return std::make_unique<FailedIterator>(NotHere());
  return here->NewIterator(options);
}

void LateTableReader::Warm(std::span<const std::string> index_partitions) const {
  if (const TableReader* here = reader()) here->Warm(index_partitions);
}

const TableProperties& LateTableReader::properties() const {
  const TableReader* here = reader();
  LAVA_CHECK(here != nullptr);
  return here->properties();
}

const RangeTombstoneSet& LateTableReader::range_tombstones() const {
  static const RangeTombstoneSet none;
  const TableReader* here = reader();
  return here != nullptr ? here->range_tombstones() : none;
}

const std::string& LateTableReader::path() const {
  const TableReader* here = reader();
  return here != nullptr ? here->path() : name_;
}

}  // namespace lava
