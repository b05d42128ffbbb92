#include "fs/read_batch.h"

#include <algorithm>
#include <utility>

#include "fs/uring.h"

namespace lava::fs {
namespace {

constexpr uint32_t kAlignmentMin = 64;

// A file's descriptor for as long as it is read from.
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

bool CanBeRead(const RandomFile& file, uint64_t offset, size_t length) {
  constexpr size_t kLengthMax = size_t{1} << 30;  // of one request to the kernel
  return length > 0 && length <= kLengthMax && length <= file.size() &&
         offset <= file.size() - length;
}

}  // namespace

ReadBatch::~ReadBatch() = default;

void ReadBatch::Clear() {
  pieces_.clear();
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

bool ReadBatch::ReadBesideEachOther() {
  const std::unique_ptr<Uring> ring = Uring::Take();
  if (ring == nullptr) return false;
  std::vector<UringCall> reads;
  std::vector<DescriptorUse> uses;
  std::vector<Piece*> started;
  std::vector<uint64_t> before;  // bytes that are read ahead of each piece
  reads.reserve(pieces_.size());
  uses.reserve(pieces_.size());
  started.reserve(pieces_.size());
  before.reserve(pieces_.size());
  for (Piece& piece : pieces_) {
    if (!CanBeRead(*piece.file, piece.offset, piece.length)) {
      ReadAlone(&piece);
      continue;
    }
    DescriptorUse use(piece.file);
    uint64_t at = 0;
    if (!use.is_shared() || !piece.file->Locate(piece.offset, piece.length, &at)) {
      ReadAlone(&piece);
      continue;
    }
    const uint32_t alignment = std::max((*use).alignment, 1u);
    const uint64_t from = RoundDown(at, alignment);
    const uint64_t bytes = RoundUp(at + piece.length, alignment) - from;
    piece.memory = AlignedBuffer(bytes, std::max(alignment, kAlignmentMin));
    reads.push_back(
        {(*use).descriptor, from, static_cast<uint32_t>(bytes), piece.memory.data(), 0});
    uses.push_back(std::move(use));
    started.push_back(&piece);
    before.push_back(at - from);
  }
  if (ring->Run(reads) == Uring::Outcome::kLost) {
    for (Piece* piece : started) piece->memory.Leak();
    uses.clear();
    for (Piece* piece : started) ReadAlone(piece);
    return true;
  }
  uses.clear();
  for (size_t i = 0; i < reads.size(); ++i) {
    Piece* piece = started[i];
    // What came short or not at all is read again the usual way, which says what is wrong with it.
    if (reads[i].result < 0 || static_cast<uint64_t>(reads[i].result) < before[i] + piece->length)
      ReadAlone(piece);
    else
      piece->bytes = Slice(piece->memory.data() + before[i], piece->length);
  }
  return true;
}

void ReadBatch::Run() {
  if (mode_ == Mode::kBesideEachOther && pieces_.size() > 1 && ReadBesideEachOther()) return;
  for (Piece& piece : pieces_) ReadAlone(&piece);
}

bool ReadBatch::IsParallel() { return Uring::Take() != nullptr; }

}  // namespace lava::fs
