// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fs/read_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "fs/uring.h"

namespace lava::fs {
namespace {

constexpr uint32_t kAlignmentMin = 64;

bool CanBeRead(const RandomFile& file, uint64_t offset, size_t length) {
  constexpr size_t kLengthMax = size_t{1} << 30;  // of one request to the kernel
  return length > 0 && length <= kLengthMax && length <= file.size() &&
         offset <= file.size() - length;
}

}  // namespace

// Running reads, and everything that must stay in place meanwhile.
struct ReadBatch::Started {
  // Keeps a file's descriptor open while it is read from.
  class DescriptorUse {
   public:
    explicit DescriptorUse(const RandomFile* file) : file_(file), shared_(file->Share()) {}
    DescriptorUse(DescriptorUse&& other) noexcept
        : file_(std::exchange(other.file_, nullptr)), shared_(other.shared_) {}
    DescriptorUse& operator=(DescriptorUse&&) = delete;
    ~DescriptorUse() {
      if (file_ != nullptr && is_shared()) file_->EndShare();
    }
    bool is_shared() const { return shared_.descriptor >= 0; }
    const SharedDescriptor& operator*() const { return shared_; }

   private:
    const RandomFile* file_;
    const SharedDescriptor shared_;
  };

  std::unique_ptr<Uring> ring;
  std::vector<UringCall> reads;
  std::vector<DescriptorUse> uses;
  struct Of {
    size_t piece;
    uint64_t before;  // bytes read ahead of the piece, for alignment
  };
  std::vector<Of> of;  // one for each read
};

ReadBatch::ReadBatch(Mode mode) : mode_(mode) {}

ReadBatch::~ReadBatch() {
  if (started_ != nullptr) Finish();
}

void ReadBatch::Clear() {
  if (started_ != nullptr) Finish();
  pieces_.clear();
  memory_ = AlignedBuffer();
  bytes_wanted_ = 0;
}

size_t ReadBatch::Add(const RandomFile& file, uint64_t offset, size_t length) {
  pieces_.push_back({&file, offset, length, {}, {}, {}});
  bytes_wanted_ += length;
  return pieces_.size() - 1;
}

void ReadBatch::ReadAlone(Piece* piece) {
  if (piece->memory.size() < piece->length)
    piece->memory = AlignedBuffer(std::max<size_t>(piece->length, 1), kAlignmentMin);
  piece->status = piece->file->Read(piece->offset, piece->length, piece->memory.data());
  piece->bytes = Slice(piece->memory.data(), piece->length);
}

bool ReadBatch::BeginBesideEachOther() {
  auto started = std::make_unique<Started>();
  started->ring = Uring::Take();
  if (started->ring == nullptr) return false;
  started->reads.reserve(pieces_.size());
  started->uses.reserve(pieces_.size());
  started->of.reserve(pieces_.size());
  uint32_t alignment_max = kAlignmentMin;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    if (!CanBeRead(*piece.file, piece.offset, piece.length)) {
      ReadAlone(&piece);
      continue;
    }
    Started::DescriptorUse use(piece.file);
    uint64_t at = 0;
    if (!use.is_shared() || !piece.file->Locate(piece.offset, piece.length, &at)) {
      ReadAlone(&piece);
      continue;
    }
    const uint32_t alignment = std::max((*use).alignment, 1u);
    alignment_max = std::max(alignment_max, alignment);
    const uint64_t from = RoundDown(at, alignment);
    const uint64_t bytes = RoundUp(at + piece.length, alignment) - from;
    started->reads.push_back({(*use).descriptor, from, static_cast<uint32_t>(bytes), nullptr, 0});
    started->uses.push_back(std::move(use));
    started->of.push_back({i, at - from});
  }
  if (started->reads.empty()) return true;
  // Each piece begins at a multiple of the largest alignment, since all others divide it.
  uint64_t bytes_total = 0;
  for (const UringCall& read : started->reads) bytes_total += RoundUp(read.length, alignment_max);
  memory_ = AlignedBuffer(bytes_total, alignment_max);
  char* to = memory_.data();
  for (UringCall& read : started->reads) {
    read.memory = to;
    to += RoundUp(read.length, alignment_max);
  }
  started->ring->Start(started->reads);
  started_ = std::move(started);
  return true;
}

void ReadBatch::Begin() {
  if (mode_ == Mode::kBesideEachOther && pieces_.size() > 1 && BeginBesideEachOther()) return;
  for (Piece& piece : pieces_) ReadAlone(&piece);
}

void ReadBatch::Finish() {
  if (started_ == nullptr) return;
  const std::unique_ptr<Started> started = std::move(started_);
  const bool lost = started->ring->Complete() == Uring::Outcome::kLost;
  if (lost) memory_.Leak();
  started->uses.clear();
  for (size_t i = 0; i < started->reads.size(); ++i) {
    const auto [number, before] = started->of[i];
    const UringCall& read = started->reads[i];
    Piece* const piece = &pieces_[number];
    // A short or failed read is repeated by a plain read, whose error says what is wrong.
    if (lost || read.result < 0 || static_cast<uint64_t>(read.result) < before + piece->length)
      ReadAlone(piece);
    else
      piece->bytes = Slice(read.memory + before, piece->length);
  }
}

bool ReadBatch::IsParallel() { return Uring::Take() != nullptr; }

}  // namespace lava::fs
