#pragma once

#include <atomic>
#include <string>

#include "base/coding.h"
#include "db/internal_key.h"
#include "lava/db.h"

namespace lava {

class DBImpl;

/// A table that this run has registered.
/// Threads:    any.
/// Ownership:  the DB's, until the DB is destroyed.
class TableImpl final : public Table {
 public:
  TableImpl(DBImpl* db, std::string name, uint64_t id, const TableOptions& options)
      : db_(db), name_(std::move(name)), id_(id), kind_(options.kind) {
    EncodeBigEndian(id_bytes_, id, kTableIdBytes);
    SetOptions(options);
  }

  const std::string& name() const override { return name_; }
  uint64_t id() const override { return id_; }
  TableOptions options() const override {
    return {.kind = kind_,
            .ttl_layout = ttl_layout_.load(std::memory_order_relaxed),
            .ttl_ms = ttl_ms_.load(std::memory_order_relaxed),
            .separation_bytes = separation_bytes_.load(std::memory_order_relaxed)};
  }
  /// The kind cannot change.
  void SetOptions(const TableOptions& options) {
    ttl_layout_.store(options.ttl_layout, std::memory_order_relaxed);
    ttl_ms_.store(options.ttl_ms, std::memory_order_relaxed);
    separation_bytes_.store(options.separation_bytes, std::memory_order_relaxed);
  }

  DBImpl* db() const { return db_; }
  TableKind kind() const { return kind_; }
  const char* id_bytes() const { return id_bytes_; }
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }
  void SetDropped() { dropped_.store(true, std::memory_order_release); }

 private:
  DBImpl* const db_;
  const std::string name_;
  const uint64_t id_;
  const TableKind kind_;
  char id_bytes_[kTableIdBytes];
  std::atomic<TtlLayout> ttl_layout_{TtlLayout::kNone};
  std::atomic<int64_t> ttl_ms_{0};
  std::atomic<uint64_t> separation_bytes_{0};
  std::atomic<bool> dropped_{false};
};

}  // namespace lava
