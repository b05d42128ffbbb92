#pragma once

#include <memory>

#include "base/record.h"

namespace lava {

class MemTable;
class MemTableImpl;

/// Walks a sealed run in place: records refer to the arena. The table must outlive it.
std::unique_ptr<RecordIterator> NewSealedIterator(const MemTableImpl* table);
/// Walks an active run by copies of growing pages. The table must outlive it.
std::unique_ptr<RecordIterator> NewPagingIterator(const MemTable* table, bool keys_only);

}  // namespace lava
