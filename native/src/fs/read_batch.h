#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {

/// Reads pieces of several files beside each other where the system can (io_uring), else one after
/// another: a device answers many requests in little more time than one.
/// Threads:    one thread.
/// Ownership:  holds the memory of what it read until Clear() or its end; the files of Add() must
///             outlive Run().
/// Errors:     of each piece by itself, as RandomFile::Read().
class ReadBatch {
 public:
  enum class Mode { kBesideEachOther, kOneByOne };
  explicit ReadBatch(Mode mode = Mode::kBesideEachOther);
  ~ReadBatch();
  ReadBatch(const ReadBatch&) = delete;
  ReadBatch& operator=(const ReadBatch&) = delete;

  /// The number of the piece: 0, 1, ...
  size_t Add(const RandomFile& file, uint64_t offset, size_t length);
  /// Reads all that was added; once between two Clear().
  void Run() {
    Begin();
    Finish();
  }
  /// The two halves of Run(): between them the reads go on beside the caller, where the system can.
  void Begin();
  void Finish();
  const Status& status(size_t piece) const { return pieces_[piece].status; }
  /// As many bytes as were asked for, if the status is OK; valid until Clear().
  Slice bytes(size_t piece) const { return pieces_[piece].bytes; }
  size_t pieces() const { return pieces_.size(); }
  uint64_t bytes_wanted() const { return bytes_wanted_; }
  void Clear();

  /// Whether this process reads beside each other; false once the system refused to.
  static bool IsParallel();

 private:
  struct Piece {
    const RandomFile* file;
    uint64_t offset;
    size_t length;
    AlignedBuffer memory;  // of a piece that is read alone
    Status status;
    Slice bytes;
  };
  struct Started;
  static void ReadAlone(Piece* piece);
  bool BeginBesideEachOther();

  const Mode mode_;
  std::vector<Piece> pieces_;
  AlignedBuffer memory_;              // of all pieces that are read beside each other
  std::unique_ptr<Started> started_;  // between Begin() and Finish()
  uint64_t bytes_wanted_ = 0;
};

}  // namespace lava::fs
