#include "db/db_impl.h"

namespace lava {

Status DBImpl::GetTo(Table* table, KeyRef key, PinnedValue* value, ValueSink* sink,
                     Snapshot* snapshot) {
  return reader_.points().Get(table, key, value, sink, snapshot);
}

Status DBImpl::Contains(Table* table, KeyRef key, Snapshot* snapshot) {
  return reader_.points().Contains(table, key, snapshot);
}

Status DBImpl::ContainsPrefix(Table* table, Slice prefix, Snapshot* snapshot) {
  return reader_.scans().ContainsPrefix(table, prefix, snapshot);
}

Status DBImpl::Scan(Table* table, const ScanRequest& request, ScanPage* page, Snapshot* snapshot) {
  const Status status = reader_.scans().Scan(table, request, page, snapshot);
  if (status.ok() && !request.keys_only) jobs_->LookForOrdering();
  return status;
}

Status DBImpl::ScanTables(const TablesScanRequest& request, TablesScanPage* page,
                          Snapshot* snapshot) {
  const Status status = reader_.scans().ScanTables(request, page, snapshot);
  if (status.ok()) jobs_->LookForOrdering();
  return status;
}

Status DBImpl::MultiGet(Table* table, std::span<const KeyRef> keys, std::span<PinnedValue> values,
                        std::span<bool> found, Snapshot* snapshot) {
  if (values.size() != keys.size() || found.size() != keys.size())
    return Status::InvalidArgument("multi-get: " + std::to_string(keys.size()) + " keys, " +
                                   std::to_string(values.size()) + " values, " +
                                   std::to_string(found.size()) + " flags");
  for (size_t i = 0; i < keys.size(); ++i) {
    const Status status = Get(table, keys[i], &values[i], snapshot);
    if (!status.ok() && !status.IsNotFound()) return status;
    found[i] = status.ok();
  }
  return Status::OK();
}

}  // namespace lava
