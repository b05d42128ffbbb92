// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

#include "base/mutex.h"
#include "db/db_impl.h"
#include "db/table_impl.h"
#include "db/table_registry.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

// Writes the creation and the drop of tables to the manifest and to the write-ahead log.
// TableRegistry does the rest.
namespace lava {

Result<Table*> DBImpl::CreateTable(std::string_view name, const TableOptions& options) {
  LAVA_RETURN_IF_ERROR(TableRegistry::Validate(name, options));
  const TableRegistration table{std::string(name),
                                components_.instance.environment.table_id_of_name(name), options};
  MutexLock install(components_.tree.versions.install_mutex());
  if (components_.instance.closed.load()) return Status::Closed("the instance was closed");
  LAVA_ASSIGN_OR_RETURN(const TableRegistry::Difference difference,
                        components_.tables.Compare(table));
  // The manifest keeps a dropped table until a flush has written the table's range tombstones.
  const bool was_dropped = difference == TableRegistry::Difference::kNew &&
                           components_.tree.versions.state().tables.contains(table.id);
  if (difference != TableRegistry::Difference::kNone) LAVA_RETURN_IF_ERROR(LogTable(table));
  // Without this record a replay of the log would drop the new table together with the old one.
  if (was_dropped) LAVA_RETURN_IF_ERROR(components_.writer.LogCreated(table));
  return static_cast<Table*>(
      components_.tables.Register(table, components_.instance.lease->capacity_bytes()));
}

Status DBImpl::LogTable(const TableRegistration& table) {
  VersionEdit edit;
  edit.registered.push_back(table);
  return components_.tree.Log(edit);
}

Status DBImpl::SetTableOptions(Table* table, const TableOptions& options) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(components_.tables.Check(table, &impl));
  return CreateTable(impl->name(), options).status();
}

// Range tombstones delete the data, and the flush that writes them also removes the registration
// from the manifest. A crash before that flush therefore undoes the whole drop, never only one of
// the two. With a write-ahead log it undoes nothing, because one record of the log repeats both.
Status DBImpl::DropTable(Table* table) {
  TableImpl* impl;
  LAVA_RETURN_IF_ERROR(components_.tables.Check(table, &impl));
  {
    MutexLock install(components_.tree.versions.install_mutex());
    LAVA_RETURN_IF_ERROR(components_.writer.DropTable(impl));
  }
  components_.instance.notifier->Deliver();
  return Status::OK();
}

}  // namespace lava
