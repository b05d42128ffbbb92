#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fs/block_device.h"
#include "fs/direct_io.h"
#include "lavafs/format.h"

namespace lava::lavafs {

/// Writes transactions one behind another: through an extent, and when it is full, on to the next.
/// Threads:    one at a time.
/// Ownership:  the device must outlive it.
/// Errors:     the device's, after which it is useless.
class JournalWriter {
 public:
  struct Identity {
    Uuid uuid = {};
    uint32_t extent_bytes = 0;
    uint64_t mount = 0, boot = 0;  // as in TransactionHeader
  };
  /// Where the next transaction goes, and what it says.
  struct Place {
    JournalStart start = {};
    uint64_t offset = 0;  // within the extent
  };
  JournalWriter(fs::BlockDevice* device, const Identity& identity, const Place& place)
      : device_(device), identity_(identity), place_(place) {}

  /// Whether a payload has room in this extent; if not, Jump() comes first.
  bool Fits(uint64_t payload_bytes) const;
  /// Of one transaction: what fits into an empty extent, and what a device writes in so little time
  /// that others' writes hardly wait.
  uint64_t payload_bytes_max() const;
  /// durable: all up to that sequence was synced. ordered: see TransactionHeader.
  Status Write(Slice payload, uint64_t durable, bool ordered);
  /// Goes on in another extent.
  Status Jump(uint32_t extent, uint64_t durable);
  /// Writes the last transaction of a checkpoint: the journal goes on at `start`.
  Status Resume(const JournalStart& start);

  const Place& place() const { return place_; }
  /// Of the last transaction.
  uint64_t sequence() const { return place_.start.sequence - 1; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  Status Put(Slice payload, uint64_t durable, bool ordered);

  fs::BlockDevice* const device_;
  const Identity identity_;
  Place place_;
  std::string encoded_;
  fs::AlignedBuffer memory_;
  uint64_t bytes_written_ = 0;
};

/// A transaction as it was found.
struct Transaction {
  TransactionHeader header;
  uint64_t offset = 0;  // on the device
  bool checkpoint = false;
  std::string payload = {};
};

/// A whole journal.
struct JournalContent {
  std::vector<Transaction> transactions;
  std::vector<uint32_t> extents;
  JournalWriter::Place end;  // where the next transaction goes
  /// What transactions behind the end, which a crash left alone, say to have been synced.
  uint64_t durable_behind = 0;
};

/// The sequence of the first transaction that another start of the machine writes behind one of
/// `sequence` - 1: far beyond what the starts before can have written and lost. Else what they left
/// in an extent that the journal comes to again, and say there of transactions of the same numbers,
/// would be believed.
constexpr uint64_t SequenceOfNextBoot(uint64_t sequence) { return ((sequence >> 32) + 1) << 32; }

/// Reads from a superblock's start to the first transaction that is not whole, which is where a
/// power cut or nothing at all took it off; or, beside a writer, to the last that had been written,
/// and not a byte further.
/// Errors:     Corruption with the offset: a checkpoint that is not whole, a journal that goes in
///             circles, a damaged transaction of which a later one says that it had been synced.
Result<JournalContent> ReadJournal(fs::BlockDevice* device, const Superblock& superblock,
                                   uint64_t last_sequence = UINT64_MAX);

/// bytes of a device, aligned as it wants them.
Status ReadAligned(fs::BlockDevice* device, uint64_t offset, size_t length, fs::AlignedBuffer* to);

}  // namespace lava::lavafs
