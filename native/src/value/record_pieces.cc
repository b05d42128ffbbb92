#include "value/record_pieces.h"

#include <algorithm>
#include <string>

#include "base/block.h"
#include "base/coding.h"
#include "value/format.h"

namespace lava::vsst {
namespace {

// Keys beyond it are rare enough to be read with their values as a whole.
constexpr size_t kPiecesKeyBytesMax = 64 << 10;

struct Front {
  uint32_t birth = 0, stored_bytes = 0;
  size_t bytes = 0;  // before the stored value
  uint64_t record_bytes = 0;
};

// False when it is not one of this key.
bool ParseFront(Slice bytes, uint64_t room, Slice key, Front* front) {
  Slice rest = bytes, found;
  uint32_t key_bytes = 0;
  if (!GetVarint32(&rest, &front->birth) || !GetVarint32(&rest, &key_bytes) ||
      !GetVarint32(&rest, &front->stored_bytes) || !GetBytes(&rest, key_bytes, &found))
    return false;
  front->bytes = bytes.size() - rest.size();
  front->record_bytes = front->bytes + uint64_t{front->stored_bytes} + kBlockTrailerBytes;
  return found == key && front->record_bytes <= room;
}

// The stored value, and with it the record's checksum.
Status AddValue(const fs::RandomFile& file, uint64_t unique_id, uint64_t offset, Slice front_bytes,
                const Front& front, Slice trailer, const PiecewiseRead& read) {
  PieceChecksum checksum(unique_id, offset);
  checksum.Add(front_bytes);
  const uint64_t end = offset + front.bytes + front.stored_bytes;
  for (uint64_t at = offset + front.bytes; at < end;) {
    // Up to where pieces of this size begin in the file, so that direct reads are of whole blocks.
    const uint64_t room = read.buffer.size() - at % read.buffer.size();
    const size_t length = static_cast<size_t>(std::min(room, end - at));
    LAVA_RETURN_IF_ERROR(file.Read(at, length, read.buffer.data()));
    const Slice piece(read.buffer.data(), length);
    checksum.Add(piece);
    LAVA_RETURN_IF_ERROR(read.sink->Add(piece));
    at += length;
  }
  checksum.Add(trailer.substr(0, trailer.size() - 8));
  if (checksum.Sum() == DecodeFixed64(trailer.data() + trailer.size() - 8)) return Status::OK();
  return WrongChecksum(file.path(), offset, front.record_bytes);
}

}  // namespace

Result<bool> ReadInPieces(const fs::RandomFile& file, uint64_t unique_id, uint64_t offset,
                          uint64_t bytes, Slice key, std::optional<uint32_t> birth,
                          const PiecewiseRead& read) {
  if (key.size() > kPiecesKeyBytesMax) return false;
  std::string front_bytes;
  Front front;
  for (uint64_t end = offset + bytes;; offset += front.record_bytes) {
    if (offset >= end) return false;
    front_bytes.resize(std::min<uint64_t>(kRecordFrontBytes + key.size(), end - offset));
    LAVA_RETURN_IF_ERROR(file.Read(offset, front_bytes.size(), front_bytes.data()));
    if (!ParseFront(front_bytes, end - offset, key, &front)) return false;
    if (birth ? front.birth == *birth : front.record_bytes == bytes) break;
    if (!birth) return false;
  }
  char trailer[kBlockTrailerBytes];
  LAVA_RETURN_IF_ERROR(
      file.Read(offset + front.record_bytes - kBlockTrailerBytes, kBlockTrailerBytes, trailer));
  const bool plain = trailer[0] == static_cast<char>(Compression::kNone) &&
                     DecodeFixed32(trailer + 1) == read.raw_bytes &&
                     front.stored_bytes == read.raw_bytes;
  if (!plain) return false;
  front_bytes.resize(front.bytes);
  LAVA_RETURN_IF_ERROR(AddValue(file, unique_id, offset, front_bytes, front,
                                Slice(trailer, kBlockTrailerBytes), read));
  return true;
}

}  // namespace lava::vsst
