// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {

/// Reads pieces of several files in parallel where the system supports that (io_uring), otherwise
/// one after another. A device answers many requests in little more time than one.
/// Threads:    one thread.
/// Ownership:  holds the bytes it read until Clear() or destruction; the files of Add() must
///             outlive Run() or Finish().
/// Errors:     per piece, as RandomFile::Read().
class ReadBatch {
 public:
  enum class Mode { kBesideEachOther, kOneByOne };
  explicit ReadBatch(Mode mode = Mode::kBesideEachOther);
  ~ReadBatch();
  ReadBatch(const ReadBatch&) = delete;
  ReadBatch& operator=(const ReadBatch&) = delete;

  /// Returns the number of the piece: 0, 1, ...
  size_t Add(const RandomFile& file, uint64_t offset, size_t length);
  /// Reads all added pieces; once between two Clear().
  void Run() {
    Begin();
    Finish();
  }
  /// The two halves of Run(). Between them the reads run in parallel with the caller where
  /// possible.
  void Begin();
  void Finish();
  const Status& status(size_t piece) const { return pieces_[piece].status; }
  /// The requested bytes, if the status is OK; valid until Clear().
  Slice bytes(size_t piece) const { return pieces_[piece].bytes; }
  size_t pieces() const { return pieces_.size(); }
  uint64_t bytes_wanted() const { return bytes_wanted_; }
  void Clear();

  /// Whether this process can read in parallel; false once the system has refused.
  static bool IsParallel();

 private:
  struct Piece {
    const RandomFile* file;
    uint64_t offset;
    size_t length;
    AlignedBuffer memory;  // if the piece is read alone
    Status status;
    Slice bytes;
  };
  struct Started;
  static void ReadAlone(Piece* piece);
  bool BeginBesideEachOther();

  const Mode mode_;
  std::vector<Piece> pieces_;
  AlignedBuffer memory_;              // of all pieces that are read in parallel
  std::unique_ptr<Started> started_;  // between Begin() and Finish()
  uint64_t bytes_wanted_ = 0;
};

}  // namespace lava::fs
