#include "db/db_impl.h"

namespace lava {
namespace {

Status CheckTableOptions(std::string_view name, const TableOptions& options) {
  if (options.ttl_ms < 0)
    return Status::InvalidArgument("table '" + std::string(name) + "': ttl_ms " +
                                   std::to_string(options.ttl_ms) + " is negative");
  if (options.ttl_layout == TtlLayout::kList && options.kind != TableKind::kList)
    return Status::InvalidArgument("table '" + std::string(name) +
                                   "': the ttl layout of lists needs kind list");
  return Status::OK();
}

}  // namespace

Result<Table*> DBImpl::CreateTable(std::string_view name, const TableOptions& options) {
  if (name.size() > kTableNameBytesMax)
    return Status::InvalidArgument("a table's name has " + std::to_string(name.size()) +
                                   " bytes, the limit is " + std::to_string(kTableNameBytesMax));
  LAVA_RETURN_IF_ERROR(CheckTableOptions(name, options));
  const uint64_t id = environment_.table_id_of_name(name);
  MutexLock install(&install_mutex_);
  if (closed_.load()) return Status::Closed("the instance was closed");
  bool log = true, dropped = false;
  {
    MutexLock state(&state_mutex_);
    auto known = known_tables_.find(id);
    if (known != known_tables_.end()) {
      const TableRegistration& old = known->second;
      if (old.name != name)
        return Status::InvalidArgument("tables '" + old.name + "' and '" + std::string(name) +
                                       "' have the same id " + std::to_string(id) +
                                       "; rename one of them");
      if (old.options.kind != options.kind)
        return Status::InvalidArgument("table '" + old.name + "' is of another kind");
      log = old.options.ttl_layout != options.ttl_layout || old.options.ttl_ms != options.ttl_ms;
    } else {
      dropped = manifest_->state().tables.contains(id);
    }
  }
  const TableRegistration registration{std::string(name), id, options};
  if (log) LAVA_RETURN_IF_ERROR(LogTable(registration));
  // Else a replay would drop the table again.
  if (dropped) LAVA_RETURN_IF_ERROR(LogCreate(registration));
  MutexLock state(&state_mutex_);
  known_tables_[id] = registration;
  const auto known = tables_.find(id);
  if (known != tables_.end()) {
    known->second->SetOptions(options);
    return static_cast<Table*>(known->second.get());
  }
  auto table = std::make_unique<TableImpl>(this, std::string(name), id, options);
  table->SetChosenLarge(FirstLarge());
  table->dead().Init(budget_.counter(MemoryPurpose::kReaders), DeadRangeBytesMax());
  return static_cast<Table*>(tables_.emplace(id, std::move(table)).first->second.get());
}

uint64_t DBImpl::DeadRangeBytesMax() const {
  return std::max<uint64_t>(kDeadRangeBytesMin, lease_->capacity_bytes() / kDeadRangeLeaseShare);
}

Status DBImpl::LogTable(const TableRegistration& table) {
  VersionEdit edit;
  edit.registered.push_back(table);
  return Log(edit);
}

Status DBImpl::SetTableOptions(Table* table, const TableOptions& options) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(CheckTable(table, &impl));
  return CreateTable(impl->name(), options).status();
}

// The data goes by range tombstones, and the registration with the flush that writes them: a crash
// before that loses both, never one of them. With a write-ahead log neither is lost: one record has
// both.
Status DBImpl::DropTable(Table* table) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(CheckTable(table, &impl));
  LAVA_RETURN_IF_ERROR(DropNow(impl));
  notifier_->Deliver();
  return Status::OK();
}

Status DBImpl::DropNow(TableImpl* impl) {
  MutexLock install(&install_mutex_);
  MutexLock write(&write_mutex_);
  if (closed_.load()) return Status::Closed("the instance was closed");
  if (impl->dropped()) return Status::Closed("table '" + impl->name() + "' was dropped");
  LAVA_RETURN_IF_ERROR(LogDrop(*impl));
  DeleteRangeLocked(*impl, {}, {});
  dropped_in_active_.push_back(impl->id());
  Wrote(0);
  MutexLock state(&state_mutex_);
  impl->SetDropped();
  impl->dead().Clear();
  known_tables_.erase(impl->id());
  auto it = tables_.find(impl->id());
  dropped_tables_.push_back(std::move(it->second));
  tables_.erase(it);
  notifier_->Queue(&EventListener::OnTableDropped, [impl] {
    TableDroppedInfo info;
    info.table = impl->name();
    return info;
  });
  return Status::OK();
}

std::vector<TableInfo> DBImpl::ListTables() const {
  MutexLock state(&state_mutex_);
  std::vector<TableInfo> tables;
  for (const auto& [id, table] : known_tables_) tables.push_back({table.name, id, table.options});
  return tables;
}

}  // namespace lava
