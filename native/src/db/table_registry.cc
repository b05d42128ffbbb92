// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/table_registry.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "manifest/version.h"

namespace lava {

Status TableRegistry::Validate(std::string_view name, const TableOptions& options) {
  if (name.size() > kTableNameBytesMax)
    return Status::InvalidArgument("a table's name has " + std::to_string(name.size()) +
                                   " bytes, the limit is " + std::to_string(kTableNameBytesMax));
  if (options.ttl_ms < 0)
    return Status::InvalidArgument("table '" + std::string(name) + "': ttl_ms " +
                                   std::to_string(options.ttl_ms) + " is negative");
  if (options.ttl_layout == TtlLayout::kList && options.kind != TableKind::kList)
    return Status::InvalidArgument("table '" + std::string(name) +
                                   "': the ttl layout of lists needs kind list");
  return Status::OK();
}

Status TableRegistry::Refuse(const Table* table) const {
  if (table == nullptr) return Status::InvalidArgument("table is null");
  if (static_cast<const TableImpl*>(table)->registry() != this)
    return Status::InvalidArgument("table '" + table->name() + "' is of another instance");
  return Status::Closed("table '" + table->name() + "' was dropped");
}

void TableRegistry::Recover(std::map<uint64_t, TableRegistration> known) {
  MutexLock lock(&mutex_);
  LAVA_DCHECK(handles_.empty());
  known_ = std::move(known);
}

std::optional<TableRegistration> TableRegistry::ReplayDrop(uint64_t id) {
  MutexLock lock(&mutex_);
  LAVA_DCHECK(handles_.empty());  // no other thread uses the instance yet
  auto node = known_.extract(id);
  if (!node) return std::nullopt;
  return std::move(node.mapped());
}

void TableRegistry::ReplayCreate(const TableRegistration& table) {
  MutexLock lock(&mutex_);
  known_[table.id] = table;
}

Result<TableRegistry::Difference> TableRegistry::Compare(const TableRegistration& table) const {
  MutexLock lock(&mutex_);
  const auto known = known_.find(table.id);
  if (known == known_.end()) return Difference::kNew;
  const TableRegistration& old = known->second;
  if (old.name != table.name)
    return Status::InvalidArgument("tables '" + old.name + "' and '" + table.name +
                                   "' have the same id " + std::to_string(table.id) +
                                   "; rename one of them");
  if (old.options.kind != table.options.kind)
    return Status::InvalidArgument("table '" + old.name + "' is of another kind");
  const bool same = old.options.ttl_layout == table.options.ttl_layout &&
                    old.options.ttl_ms == table.options.ttl_ms;
  return same ? Difference::kNone : Difference::kOptions;
}

TableImpl* TableRegistry::Register(const TableRegistration& table, uint64_t lease_bytes) {
  MutexLock lock(&mutex_);
  known_[table.id] = table;
  const auto found = handles_.find(table.id);
  if (found != handles_.end()) {
    found->second->SetOptions(table.options);
    return found->second.get();
  }
  auto created = std::make_unique<TableImpl>(this, table.name, table.id, table.options);
  created->SetChosenLarge(first_large_bytes_);
  created->dead().Init(dead_ranges_,
                       std::max(kDeadRangeBytesMin, lease_bytes / kDeadRangeLeaseShare));
  return handles_.emplace(table.id, std::move(created)).first->second.get();
}

void TableRegistry::Drop(TableImpl* table) noexcept {
  LAVA_DCHECK(table->registry() == this && !table->dropped());
  table->SetDropped();
  table->dead().Clear();
  MutexLock lock(&mutex_);
  LAVA_DCHECK(known_.contains(table->id()) && handles_.contains(table->id()));
  known_.erase(table->id());
  dropped_.insert(handles_.extract(table->id()));
}

bool TableRegistry::IsKnown(uint64_t id) const {
  MutexLock lock(&mutex_);
  return known_.contains(id);
}

std::map<uint64_t, TableRegistration> TableRegistry::Registrations() const {
  MutexLock lock(&mutex_);
  return known_;
}

std::vector<TableInfo> TableRegistry::List() const {
  MutexLock lock(&mutex_);
  std::vector<TableInfo> tables;
  tables.reserve(known_.size());
  for (const auto& [id, table] : known_) tables.push_back({table.name, id, table.options});
  return tables;
}

std::vector<std::string> TableRegistry::NamesOf(const std::vector<uint64_t>& ids) const {
  MutexLock lock(&mutex_);
  std::vector<std::string> names;
  for (const uint64_t id : ids) {
    const auto known = known_.find(id);
    if (known != known_.end()) names.push_back(known->second.name);
  }
  return names;
}

std::map<uint64_t, TableOptions> TableRegistry::Options() const {
  MutexLock lock(&mutex_);
  std::map<uint64_t, TableOptions> options;
  for (const auto& [id, table] : handles_) {
    LAVA_DCHECK(known_.contains(id));
    TableOptions now = table->options();
    now.separation_bytes = table->separation_now();
    options.emplace_hint(options.end(), id, now);
  }
  return options;
}

std::vector<TableImpl*> TableRegistry::Handles() const {
  MutexLock lock(&mutex_);
  std::vector<TableImpl*> handles;
  handles.reserve(handles_.size());
  for (const auto& [id, table] : handles_) handles.push_back(table.get());
  return handles;
}

void TableRegistry::ForgetDeadRanges() {
  MutexLock lock(&mutex_);
  for (const auto& [id, table] : handles_) table->dead().Clear();
  for (const auto& [id, table] : dropped_) table->dead().Clear();
}

}  // namespace lava
