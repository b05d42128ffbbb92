// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/journal.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "fs/block_device.h"
#include "fs/direct_io.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/change.h"
#include "lavafs/format.h"

namespace lava::lavafs {

namespace {

// Payload of one transaction, small enough that other writes hardly wait for it.
constexpr uint64_t kPayloadBytesMax = 64 << 10;
constexpr size_t kReadBytesMax = 128 << 10;

}  // namespace

Status ReadAligned(fs::BlockDevice* device, uint64_t offset, size_t length, fs::AlignedBuffer* to) {
  if (to->size() < length) *to = fs::AlignedBuffer(length, kBlockBytes);
  for (size_t done = 0; done < length; done += kReadBytesMax) {
    const size_t piece = std::min(length - done, kReadBytesMax);
    LAVA_RETURN_IF_ERROR(device->Read(offset + done, piece, to->data() + done));
  }
  return Status::OK();
}

bool JournalWriter::Fits(uint64_t payload_bytes) const {
  // The last block is reserved for a jump.
  return position_.offset + TransactionBytes(payload_bytes) + kBlockBytes <= identity_.extent_bytes;
}

// The longest change fits into the smallest extent beside the jump's block.
static_assert(kChangeBytesMax + kTransactionHeaderBytes + kBlockBytes <= kExtentBytesMin);

uint64_t JournalWriter::payload_bytes_max() const {
  return std::min<uint64_t>(kPayloadBytesMax,
                            identity_.extent_bytes - kBlockBytes - kTransactionHeaderBytes);
}

Status JournalWriter::Put(Slice payload, uint64_t durable, bool ordered) {
  LAVA_CHECK(position_.offset + TransactionBytes(payload.size()) <= identity_.extent_bytes);
  encoded_.clear();
  const uint64_t checksum = EncodeTransaction(identity_.uuid,
                                              {.sequence = position_.start.sequence,
                                               .previous = position_.start.previous,
                                               .mount = identity_.mount,
                                               .boot = identity_.boot,
                                               .durable = durable,
                                               .ordered = ordered},
                                              payload, &encoded_);
  if (memory_.size() < encoded_.size()) memory_ = fs::AlignedBuffer(encoded_.size(), kBlockBytes);
  std::memcpy(memory_.data(), encoded_.data(), encoded_.size());
  LAVA_RETURN_IF_ERROR(
      device_->Write(uint64_t{position_.start.extent} * identity_.extent_bytes + position_.offset,
                     {memory_.data(), encoded_.size()}));
  bytes_written_ += encoded_.size();
  position_.offset += encoded_.size();
  position_.start.sequence++;
  position_.start.previous = checksum;
  return Status::OK();
}

Status JournalWriter::Write(Slice payload, uint64_t durable, bool ordered) {
  LAVA_CHECK(Fits(payload.size()));
  return Put(payload, durable, ordered);
}

Status JournalWriter::Jump(uint32_t extent, uint64_t durable) {
  std::string payload;
  EncodeChange({.type = Change::Type::kJump, .extent = extent}, &payload);
  LAVA_RETURN_IF_ERROR(Put(payload, durable, true));
  position_.start.extent = extent;
  position_.offset = 0;
  return Status::OK();
}

Status JournalWriter::Resume(const JournalStart& start) {
  std::string payload;
  EncodeChange({.type = Change::Type::kResume, .start = start}, &payload);
  return Put(payload, 0, true);
}

namespace {

class JournalReader {
 public:
  JournalReader(fs::BlockDevice* device, const Superblock& superblock, uint64_t last_sequence)
      : device_(device),
        superblock_(superblock),
        last_sequence_(last_sequence),
        next_(superblock.journal) {}

  Result<JournalContent> Read() {
    bool more = true;
    LAVA_RETURN_IF_ERROR(Enter(next_.extent));
    while (more) {
      LAVA_ASSIGN_OR_RETURN(more, ReadOne());
    }
    content_.end = {.start = next_, .offset = offset_};
    return std::move(content_);
  }

 private:
  uint64_t At(uint64_t offset) const {
    return uint64_t{next_.extent} * superblock_.extent_bytes + offset;
  }
  Status Broken(uint64_t offset, const std::string& what) const {
    return Status::Corruption("journal of volume " + device_->name() + " at offset " +
                              std::to_string(offset) + ": " + what);
  }

  Status Enter(uint32_t extent) {
    const uint64_t from = At(offset_);
    const uint64_t end = (uint64_t{extent} + 1) * superblock_.extent_bytes;
    if (extent < kFirstExtent || end > device_->size() || end > superblock_.capacity_bytes) {
      return Broken(
          from, "it goes on in extent " + std::to_string(extent) + ", which is not on the device");
    }
    if (!visited_.insert(extent).second) return Broken(from, "it goes in circles");
    next_.extent = extent;
    offset_ = 0;
    content_.extents.push_back(extent);
    return ReadAligned(device_, At(0), superblock_.extent_bytes, &memory_);
  }

  Slice Bytes(uint64_t offset, uint64_t length) const { return {memory_.data() + offset, length}; }

  // Whether a whole transaction begins there, whichever it is.
  bool WholeAt(uint64_t offset, TransactionHeader* header) const {
    const uint64_t rest_bytes = superblock_.extent_bytes - offset;
    return rest_bytes >= kBlockBytes &&
           PeekTransaction(Bytes(offset, kBlockBytes), rest_bytes, header) &&
           CheckTransaction(superblock_.uuid, *header,
                            Bytes(offset, TransactionBytes(header->payload_bytes)));
  }

  bool Continues(const TransactionHeader& header) const {
    if (header.previous != next_.previous) return false;
    if (header.sequence == next_.sequence) return true;
    if (content_.transactions.empty() || header.sequence != SequenceOfNextBoot(next_.sequence)) {
      return false;
    }
    return header.boot == 0 || header.boot != content_.transactions.back().header.boot;
  }

  // False at the journal's end.
  Result<bool> ReadOne() {
    TransactionHeader header;
    if (!WholeAt(offset_, &header) || !Continues(header)) {
      LAVA_RETURN_IF_ERROR(CheckEnd());
      return false;
    }
    const uint64_t bytes = TransactionBytes(header.payload_bytes);
    Transaction transaction{.header = header, .offset = At(offset_), .checkpoint = !resumed_};
    transaction.payload = Bytes(offset_ + kTransactionHeaderBytes, header.payload_bytes);
    next_.sequence = header.sequence + 1;
    next_.previous = header.checksum;
    offset_ += bytes;
    const bool is_last = resumed_ && header.sequence == last_sequence_;
    content_.transactions.push_back(std::move(transaction));
    if (is_last) return false;
    LAVA_RETURN_IF_ERROR(Follow(content_.transactions.back()));
    return true;
  }

  // Continues where the transaction says that the journal goes on.
  Status Follow(const Transaction& transaction) {
    Slice in = transaction.payload;
    Result<Change> first = in.empty() ? Result<Change>(Change()) : DecodeChange(&in);
    if (!first.ok()) return Broken(transaction.offset, std::string(first.status().message()));
    if (first->type == Change::Type::kJump) return Enter(first->extent);
    if (first->type != Change::Type::kResume) return Status::OK();
    if (resumed_) return Broken(transaction.offset, "a second checkpoint's end");
    resumed_ = true;
    const JournalStart start = first->start;
    LAVA_RETURN_IF_ERROR(Enter(start.extent));
    next_ = start;
    return Status::OK();
  }

  Status CheckEnd() {
    if (!resumed_) return Broken(At(offset_), "the checkpoint is damaged");
    for (uint64_t at = offset_; at < superblock_.extent_bytes; at += kBlockBytes) {
      TransactionHeader later;
      if (!WholeAt(at, &later)) continue;
      if (later.durable < next_.sequence) {
        content_.durable_behind = std::max(content_.durable_behind, later.durable);
        continue;
      }
      return Broken(At(offset_), "transaction " + std::to_string(next_.sequence) +
                                     " is damaged: the one at offset " + std::to_string(At(at)) +
                                     " says that it had been synced");
    }
    return Status::OK();
  }

  fs::BlockDevice* const device_;
  const Superblock& superblock_;
  const uint64_t last_sequence_;  // the last one to read, after the checkpoint
  JournalStart next_;
  uint64_t offset_ = 0;
  bool resumed_ = false;  // the checkpoint has been read
  std::set<uint32_t> visited_;
  fs::AlignedBuffer memory_;
  JournalContent content_;
};

}  // namespace

Result<JournalContent> ReadJournal(fs::BlockDevice* device, const Superblock& superblock,
                                   uint64_t last_sequence) {
  return JournalReader(device, superblock, last_sequence).Read();
}

}  // namespace lava::lavafs
