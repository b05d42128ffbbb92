// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "db/verify_file.h"
#include "lava/list_format.h"
#include "testing/random.h"
#include "tests/history/lava_store.h"

// LavaStore with a layer above that logs its changes in the instance's log. The layer knows the
// locations of what it logged since the open.
namespace lava::testing {

// number: whether the entry lacks the value's first byte, and whether the value is bound late.
Status LavaStore::PutExternal(const Operation& o) {
  LAVA_ASSIGN_OR_RETURN(Table * table, TableAt(o.table));
  const std::string key = ToStore(o.key);
  const KeyRef ref{key, PrefixOf(o.table)};
  const size_t lacks = std::min<size_t>(o.number / 2 % 2, o.value.size());
  const std::string entry = "set " + Hex(o.key) + " to " + o.value.substr(lacks);
  EntryLocation location;
  if (o.number % 2 == 0) {
    LAVA_RETURN_IF_ERROR(
        Finish([&] { return db_->PutExternal(table, ref, o.value, entry, &location); }));
  } else {
    LAVA_RETURN_IF_ERROR(Finish([&] { return db_->Put(table, ref, o.value); }));
    const Status bound = db_->BindExternal(entry, &location);
    // The put has happened, bound or not.
    if (bound.IsNotFound() || (may_fail_ && !bound.ok())) return Status::OK();
    LAVA_RETURN_IF_ERROR(bound);
  }
  logged_.push_back({location, entry});
  const Status status = CheckExternal(o);
  return may_fail_ && !status.IsInvalidArgument() ? Status::OK() : status;
}

Status LavaStore::AppendExternal(const Operation& o) {
  LAVA_ASSIGN_OR_RETURN(Table * table, TableAt(o.table));
  const std::string key = ToStore(o.key);
  LAVA_RETURN_IF_ERROR(Finish([&] {
    return db_->Append(table, {key, PrefixOf(o.table)}, o.value);
  }));
  Slice rest = o.value, element;
  ListSegment kind;
  if (rest.empty() || !NextListSegment(&rest, &kind, &element).ok()) return Status::OK();
  Logged logged{{}, "add to " + Hex(o.key) + " " + std::string(element)};
  const Status bound = db_->BindExternal(logged.bytes, &logged.location);
  // The append has happened, bound or not.
  if (bound.IsNotFound() || (may_fail_ && !bound.ok())) return Status::OK();
  LAVA_RETURN_IF_ERROR(bound);
  if (!rest.empty()) return Status::InvalidArgument("the first element of several was bound");
  ++TotalsOfAll().external_elements;
  logged_.push_back(std::move(logged));
  return Status::OK();
}

// InvalidArgument if the key has another value.
Status LavaStore::CheckExternal(const Operation& o) {
  const Status other = Status::InvalidArgument("another value is read than was put");
  LAVA_ASSIGN_OR_RETURN(const Value value, Get(o.table, o.key, -1));
  if (value.has_value() ? *value != o.value : !HasTtl(o.table)) return other;
  LAVA_ASSIGN_OR_RETURN(Table * table, TableAt(o.table));
  EntryLocation location;
  const std::string key = ToStore(o.key);
  const Status found = WithFiles([&] {
    return db_->GetExternal(table, {key, PrefixOf(o.table)}, &location);
  });
  // A concurrent job may have rewritten it.
  if (found.IsNotFound()) return Status::OK();
  LAVA_RETURN_IF_ERROR(found);
  std::string alone;
  LAVA_RETURN_IF_ERROR(db_->ReadEntryValue(location, &alone));
  return alone == o.value ? Status::OK() : other;
}

Status LavaStore::ReadEntry(const Logged& logged) {
  std::string bytes;
  LAVA_RETURN_IF_ERROR(db_->ReadEntry(logged.location, &bytes));
  ++TotalsOfAll().entries_read;
  if (bytes == logged.bytes) return Status::OK();
  return Status::InvalidArgument("an entry is read that was not logged there");
}

Status LavaStore::FinishEntries(uint64_t segment) {
  const Status status = db_->FinishEntries(segment);
  if (!status.ok()) {
    // The newest segment may still receive entries.
    const bool newest = segment == logged_.back().location.segment;
    return newest && status.IsInvalidArgument() ? Status::OK() : status;
  }
  return VerifyStoredFile(fs_, directory_ + "/" + db_->ChangelogSegmentName(segment),
                          db_->ListTables());
}

Status LavaStore::Entries(uint64_t number) {
  if (db_ == nullptr) return Status::Closed("the instance could not be opened");
  Random random(number);
  const auto any = [&]() -> const Logged& { return logged_[random.Uniform(logged_.size())]; };
  const uint64_t which = random.Uniform(8);
  if (which < 2 || (logged_.empty() && which > 2)) {
    Logged logged{{}, random.SkewedBytes(300)};
    LAVA_RETURN_IF_ERROR(Finish([&] { return db_->AppendEntry(logged.bytes, &logged.location); }));
    logged_.push_back(std::move(logged));
    return Status::OK();
  }
  switch (which) {
    case 2:
      return db_->RollEntries();
    case 3:
      return FinishEntries(any().location.segment);
    case 4: {
      const uint64_t through = any().location.sequence;
      std::erase_if(logged_, [&](const Logged& l) { return l.location.sequence <= through; });
      return db_->ReleaseEntries(through);
    }
    default:
      return ReadEntry(any());
  }
}

}  // namespace lava::testing
