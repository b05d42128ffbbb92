// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "event_ring.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include "base/mutex.h"
#include "event_figures.h"
#include "lava/event_listener.h"
#include "lava/host.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "packer.h"

namespace lava::jni {
namespace {

constexpr uint8_t kNoCause = 0xff;
constexpr size_t kMessageBytesMax = 512;
constexpr size_t kNameBytesMax = 255;
constexpr size_t kVarintBytesMax = 10;

uint64_t NowMs() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count(), 0));
}

uint64_t ToNumber(uint64_t value) { return value; }
uint64_t ToNumber(int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(value, 0)); }
uint64_t ToNumber(uint32_t value) { return value; }
uint64_t ToNumber(bool value) { return value ? 1 : 0; }

/// Encodes one event: kind, cause and code of the status as bytes; time, number and duration; the
/// figures of the kind; the message of the status; and names up to the end. Numbers are varints,
/// and lengths of texts are, too.
class EventWriter {
 public:
  EventWriter(EventKind kind, uint8_t cause, const Status& status, uint64_t id,
              uint64_t duration_us) {
    Byte(static_cast<uint8_t>(kind));
    Byte(cause);
    Byte(static_cast<uint8_t>(status.code()));
    Number(NowMs());
    Number(id);
    Number(duration_us);
  }
  template <typename Info, typename... Each>
  EventWriter& Figures(const Info& info, const std::tuple<Each...>& figures) {
    std::apply([&](const auto&... figure) { (Number(ToNumber(info.*figure.field)), ...); },
               figures);
    return *this;
  }
  EventWriter& Message(const Status& status) {
    Text(status.message(), kMessageBytesMax);
    return *this;
  }
  /// A name that does not fit any more is left out.
  EventWriter& Name(std::string_view name) {
    if (std::min(name.size(), kNameBytesMax) + kVarintBytesMax <= bytes_.size() - size_)
      Text(name, kNameBytesMax);
    return *this;
  }
  Slice bytes() const { return Slice(bytes_.data(), size_); }

 private:
  void Byte(uint8_t byte) { bytes_[size_++] = static_cast<char>(byte); }
  /// Java's numbers have 63 bits. The reader in Java would refuse a larger number, and all events
  /// that were taken with it.
  void Number(uint64_t number) {
    number = std::min<uint64_t>(number, std::numeric_limits<int64_t>::max());
    for (; number >= 0x80; number >>= 7) Byte(static_cast<uint8_t>(number | 0x80));
    Byte(static_cast<uint8_t>(number));
  }
  void Text(std::string_view text, size_t bytes_max) {
    size_t length = std::min(text.size(), bytes_max);
    // No character is cut in two.
    while (length < text.size() && length > 0 && (text[length] & 0xc0) == 0x80) --length;
    Number(length);
    std::copy_n(text.data(), length, bytes_.data() + size_);  // text may be null and empty
    size_ += length;
  }

  std::array<char, EventRing::kEventBytesMax> bytes_;
  size_t size_ = 0;
};

template <typename... Figures>
constexpr bool FitsAnEvent(const std::tuple<Figures...>&) {
  return 3 + (3 + sizeof...(Figures) + 1) * kVarintBytesMax + kMessageBytesMax <=
         EventRing::kEventBytesMax;
}
static_assert(FitsAnEvent(kFlushEndFigures) && FitsAnEvent(kCompactionEndFigures) &&
              FitsAnEvent(kCollectionEndFigures) && FitsAnEvent(kStallFigures) &&
              FitsAnEvent(kBackgroundErrorFigures) && FitsAnEvent(kSnapshotFigures));

template <typename Info, typename... Figures>
EventWriter Job(EventKind kind, const Info& info, const std::tuple<Figures...>& figures) {
  EventWriter out(kind, static_cast<uint8_t>(info.cause), info.status, info.job, info.duration_us);
  out.Figures(info, figures).Message(info.status);
  return out;
}

EventWriter Stall(EventKind kind, const StallInfo& info) {
  EventWriter out(kind, static_cast<uint8_t>(info.cause), info.status, info.stall,
                  info.duration_us);
  out.Figures(info, kStallFigures).Message(info.status);
  return out;
}

EventWriter BackgroundError(EventKind kind, const BackgroundErrorInfo& info) {
  EventWriter out(kind, kNoCause, info.status, /*id=*/0, /*duration_us=*/0);
  out.Figures(info, kBackgroundErrorFigures).Message(info.status);
  return out;
}

EventWriter OfSnapshot(EventKind kind, uint8_t cause, const SnapshotInfo& info) {
  EventWriter out(kind, cause, Status::OK(), info.snapshot, info.held_us);
  out.Figures(info, kSnapshotFigures).Message(Status::OK());
  return out;
}

EventWriter Named(EventKind kind, const Status& status, std::string_view name) {
  EventWriter out(kind, kNoCause, status, /*id=*/0, /*duration_us=*/0);
  out.Message(status).Name(name);
  return out;
}

}  // namespace

EventRing::EventRing(size_t bytes)
    : capacity_(std::clamp(bytes, kEventBytesMax + kLengthBytes, kBytesMax)), bytes_(capacity_) {
  Host::Get().CountBindingBytes(static_cast<int64_t>(capacity_));
}

EventRing::~EventRing() { Host::Get().CountBindingBytes(-static_cast<int64_t>(capacity_)); }

std::string EventRing::Take() {
  Packer head;
  std::string taken;
  MutexLock lock(&mutex_);
  head.Int64(dropped_);
  taken.reserve(head.bytes().size() + used_);
  taken = head.bytes();
  const size_t first = std::min(used_, capacity_ - begin_);
  taken.append(bytes_.data() + begin_, first);
  taken.append(bytes_.data(), used_ - first);
  begin_ = used_ = 0;
  dropped_ = 0;
  return taken;
}

void EventRing::Add(Slice event) {
  const char length[kLengthBytes] = {static_cast<char>(event.size() >> 8),
                                     static_cast<char>(event.size())};
  MutexLock lock(&mutex_);
  while (capacity_ - used_ < kLengthBytes + event.size()) DropOldest();
  Append(Slice(length, kLengthBytes));
  Append(event);
}

void EventRing::DropOldest() {
  const auto high = static_cast<uint8_t>(bytes_[begin_]);
  const auto low = static_cast<uint8_t>(bytes_[(begin_ + 1) % capacity_]);
  const size_t bytes = kLengthBytes + (size_t{high} << 8 | low);
  begin_ = (begin_ + bytes) % capacity_;
  used_ -= bytes;
  ++dropped_;
}

void EventRing::Append(Slice bytes) {
  const size_t end = (begin_ + used_) % capacity_;
  const size_t first = std::min(bytes.size(), capacity_ - end);
  std::memcpy(bytes_.data() + end, bytes.data(), first);
  std::memcpy(bytes_.data(), bytes.data() + first, bytes.size() - first);
  used_ += bytes.size();
}

void EventRing::OnFlushBegin(const FlushInfo& info) {
  Add(Job(EventKind::kFlushBegin, info, kFlushBeginFigures).bytes());
}

void EventRing::OnFlushEnd(const FlushInfo& info) {
  Add(Job(EventKind::kFlushEnd, info, kFlushEndFigures).bytes());
}

void EventRing::OnCompactionBegin(const CompactionInfo& info) {
  Add(Job(EventKind::kCompactionBegin, info, kCompactionBeginFigures).bytes());
}

void EventRing::OnCompactionEnd(const CompactionInfo& info) {
  Add(Job(EventKind::kCompactionEnd, info, kCompactionEndFigures).bytes());
}

void EventRing::OnCollectionBegin(const CollectionInfo& info) {
  Add(Job(EventKind::kCollectionBegin, info, kCollectionBeginFigures).bytes());
}

void EventRing::OnCollectionEnd(const CollectionInfo& info) {
  Add(Job(EventKind::kCollectionEnd, info, kCollectionEndFigures).bytes());
}

void EventRing::OnStallBegin(const StallInfo& info) {
  Add(Stall(EventKind::kStallBegin, info).bytes());
}

void EventRing::OnStallEnd(const StallInfo& info) {
  Add(Stall(EventKind::kStallEnd, info).bytes());
}

void EventRing::OnDamage(const DamageInfo& info) {
  EventWriter out = Named(EventKind::kDamage, info.status, info.file);
  for (const std::string& table : info.tables) out.Name(table);
  Add(out.bytes());
}

void EventRing::OnBackgroundErrorBegin(const BackgroundErrorInfo& info) {
  Add(BackgroundError(EventKind::kBackgroundErrorBegin, info).bytes());
}

void EventRing::OnBackgroundErrorEnd(const BackgroundErrorInfo& info) {
  Add(BackgroundError(EventKind::kBackgroundErrorEnd, info).bytes());
}

void EventRing::OnSnapshotTaken(const SnapshotInfo& info) {
  Add(OfSnapshot(EventKind::kSnapshotTaken, kNoCause, info).bytes());
}

void EventRing::OnSnapshotReleased(const SnapshotInfo& info) {
  Add(OfSnapshot(EventKind::kSnapshotReleased, static_cast<uint8_t>(info.end), info).bytes());
}

void EventRing::OnFileDeleted(const FileDeletedInfo& info) {
  Add(Named(EventKind::kFileDeleted, info.status, info.file).bytes());
}

void EventRing::OnTableDropped(const TableDroppedInfo& info) {
  Add(Named(EventKind::kTableDropped, Status::OK(), info.table).bytes());
}

namespace {

template <typename... Figures>
void PackKind(Packer* out, const char* name, const std::tuple<Figures...>& figures) {
  out->Bytes(Slice(name));
  out->Int32(sizeof...(Figures));
  std::apply([&](const auto&... figure) { (out->Bytes(Slice(figure.name)), ...); }, figures);
}

template <typename Cause>
void PackCauses(Packer* out, const char* name, Cause last) {
  out->Bytes(Slice(name));
  out->Int32(static_cast<uint32_t>(last) + 1);
  for (uint32_t cause = 0; cause <= static_cast<uint32_t>(last); ++cause)
    out->Bytes(NameOf(static_cast<Cause>(cause)));
}

}  // namespace

void PackEventTables(Packer* out) {
  out->Int32(static_cast<uint32_t>(EventKind::kTableDropped) + 1);
  PackKind(out, "flush_begin", kFlushBeginFigures);
  PackKind(out, "flush_end", kFlushEndFigures);
  PackKind(out, "compaction_begin", kCompactionBeginFigures);
  PackKind(out, "compaction_end", kCompactionEndFigures);
  PackKind(out, "collection_begin", kCollectionBeginFigures);
  PackKind(out, "collection_end", kCollectionEndFigures);
  PackKind(out, "stall_begin", kStallFigures);
  PackKind(out, "stall_end", kStallFigures);
  PackKind(out, "damage", kNoFigures);
  PackKind(out, "background_error_begin", kBackgroundErrorFigures);
  PackKind(out, "background_error_end", kBackgroundErrorFigures);
  PackKind(out, "snapshot_taken", kSnapshotFigures);
  PackKind(out, "snapshot_released", kSnapshotFigures);
  PackKind(out, "file_deleted", kNoFigures);
  PackKind(out, "table_dropped", kNoFigures);
  out->Int32(5);
  PackCauses(out, "flush", FlushCause::kReplay);
  PackCauses(out, "compaction", CompactionCause::kManual);
  PackCauses(out, "collection", CollectionCause::kSpace);
  PackCauses(out, "stall", StallCause::kSpaceOfProcess);
  PackCauses(out, "snapshot", SnapshotEnd::kClosed);
}

}  // namespace lava::jni
