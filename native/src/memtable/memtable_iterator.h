// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "base/record.h"

namespace lava {

class MemTable;
class MemTableImpl;

/// Walks a sealed run in place: records refer to the arena. The table must outlive the iterator.
std::unique_ptr<RecordIterator> NewSealedIterator(const MemTableImpl* table);
/// Walks an active run by copying pages of growing size. The table must outlive the iterator.
std::unique_ptr<RecordIterator> NewPagingIterator(const MemTable* table, bool keys_only);

}  // namespace lava
