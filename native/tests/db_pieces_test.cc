// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// Large values that are written and read in pieces: they are correct, whatever fails in between,
// and the required memory does not grow with them.

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "base/coding.h"
#include "db/verify_file.h"
#include "db_real_test_util.h"
#include "db_value_test_util.h"

namespace {

std::atomic<uint64_t> live_bytes{0}, peak_bytes{0};

void* Allocate(size_t bytes, size_t alignment) {
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const uint64_t live = live_bytes += malloc_usable_size(memory);
  for (uint64_t peak = peak_bytes; live > peak && !peak_bytes.compare_exchange_weak(peak, live);) {
  }
  return memory;
}
void Free(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// All operators are replaced, because a sanitizer's own would not match the others.
void* operator new(size_t n) { return Allocate(n, 1); }
void* operator new[](size_t n) { return Allocate(n, 1); }
void* operator new(size_t n, std::align_val_t a) { return Allocate(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, std::align_val_t a) { return Allocate(n, static_cast<size_t>(a)); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return Allocate(n, 1); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return Allocate(n, 1); }
void operator delete(void* p) noexcept { Free(p); }
void operator delete[](void* p) noexcept { Free(p); }
void operator delete(void* p, size_t) noexcept { Free(p); }
void operator delete[](void* p, size_t) noexcept { Free(p); }
void operator delete(void* p, std::align_val_t) noexcept { Free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { Free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { Free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { Free(p); }

namespace lava::testing {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Returns a string's bytes in order; each may be read only once per call.
class StringSource : public ValueSource {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  Status Read(uint64_t offset, size_t length, char* to) override {
    EXPECT_LE(length, kPieceBytes);
    EXPECT_EQ(offset, asked_ % size()) << "pieces must be read in order";
    if (asked_ + length > fails_at) return Status::IOError("the source fails");
    asked_ += length;
    std::copy_n(bytes_.data() + offset, length, to);
    return Status::OK();
  }
  void Restart() { asked_ = 0; }
  uint64_t asked() const { return asked_; }
  uint64_t fails_at = UINT64_MAX;

 private:
  const std::string bytes_;
  uint64_t asked_ = 0;
};

class StringSink : public ValueSink {
 public:
  bool Begin(uint64_t byte_count) override {
    EXPECT_FALSE(begun) << "Begin() must be called only once";
    begun = true;
    expected = byte_count;
    return wants;
  }
  Status Add(Slice piece) override {
    EXPECT_TRUE(begun && wants);
    if (pieces++ == fails_at) return Status::IOError("the sink fails");
    piece_bytes_max = std::max(piece_bytes_max, piece.size());
    bytes.append(piece);
    return Status::OK();
  }
  bool begun = false, wants = true;
  uint64_t expected = 0, pieces = 0, fails_at = UINT64_MAX;
  size_t piece_bytes_max = 0;
  std::string bytes;
};

// A value of any size without memory for it: a front, and then repeated bytes.
class Endless {
 public:
  Endless(uint64_t size, std::string front) : size_(size), front_(std::move(front)) {}
  uint64_t size() const { return size_; }
  // The contiguous bytes from this offset on.
  Slice From(uint64_t at) const {
    static const std::string bytes = Random(9).Bytes(1'000'003);
    const Slice whole = at < front_.size() ? Slice(front_) : Slice(bytes);
    const uint64_t skipped = at < front_.size() ? at : (at - front_.size()) % bytes.size();
    return whole.substr(skipped).substr(0, size_ - at);
  }

 private:
  const uint64_t size_;
  const std::string front_;
};

class EndlessSource : public ValueSource {
 public:
  EndlessSource(Endless value, std::function<void()> look)
      : value_(std::move(value)), look_(std::move(look)) {}
  uint64_t size() const override { return value_.size(); }
  Status Read(uint64_t offset, size_t length, char* to) override {
    for (size_t done = 0; done < length;) {
      const Slice more = value_.From(offset + done).substr(0, length - done);
      std::copy(more.begin(), more.end(), to + done);
      done += more.size();
    }
    look_();
    return Status::OK();
  }

 private:
  const Endless value_;
  const std::function<void()> look_;
};

// Compares the received bytes with the repeated value.
class EndlessSink : public ValueSink {
 public:
  EndlessSink(Endless value, std::function<void()> look)
      : value_(std::move(value)), look_(std::move(look)) {}
  bool Begin(uint64_t bytes) override {
    expected = bytes;
    return true;
  }
  Status Add(Slice piece) override {
    while (!piece.empty()) {
      const Slice more = value_.From(came % value_.size()).substr(0, piece.size());
      right &= piece.substr(0, more.size()) == more;
      came += more.size();
      piece.remove_prefix(more.size());
    }
    look_();
    return Status::OK();
  }
  uint64_t expected = 0, came = 0;
  bool right = true;

 private:
  const Endless value_;
  const std::function<void()> look_;
};

enum class Storage { kFiles, kDirect, kVolume };

class DBPiecesMemory : public RealDBTest,
                       public ::testing::WithParamInterface<std::pair<Storage, WalMode>> {
 protected:
  static constexpr uint64_t kLeaseBytes = 16 * kMiB;
  // A piece, buffers of files, a memtable's first pages: far less than any value here.
  static constexpr uint64_t kPeakBytesMax = 6 * kMiB;
  DBPiecesMemory() {
    const auto [storage, wal] = GetParam();
    options_ = {};
    options_.lease = *Host::Get().Acquire(kLeaseBytes, 0.5);
    options_.use_direct_reads = options_.use_direct_io_for_flush_and_compaction =
        storage == Storage::kDirect;
    options_.wal = wal;
    if (storage != Storage::kVolume) return;
    VolumeOptions volume;
    volume.capacity_bytes = 1024 * kMiB;
    options_.volume = *Host::Get().OpenVolume(Path("volumes"), volume);
    path_ = "instance";
  }
  ~DBPiecesMemory() override { db_.reset(); }
  void Look() { charged_ = std::max(charged_, options_.lease->used_bytes()); }
  // Checks the call's peak memory, both on the heap and charged to the lease.
  void ExpectBounded(const std::string& what, const std::function<void()>& call) {
    const uint64_t charged_before = options_.lease->used_bytes(), live_before = live_bytes;
    peak_bytes = live_before;
    charged_ = 0;
    call();
    EXPECT_LT(peak_bytes - live_before, kPeakBytesMax) << what;
    EXPECT_LT(charged_, charged_before + kPeakBytesMax) << what;
    // While jobs run, their memory changes as well.
    if (settled_) {
      EXPECT_GE(charged_, charged_before + kPieceBytes) << what;
    }
  }
  void ExpectValue(Table* table, const std::string& key, const Endless& value, uint64_t times,
                   const std::string& when, Snapshot* snapshot) {
    EndlessSink sink(value, [this] { Look(); });
    ExpectBounded("get " + when, [&] {
      PinnedValue small;
      EXPECT_OK(db_->GetTo(table, {key}, &small, &sink, snapshot));
      EXPECT_TRUE(small.data().empty());
    });
    EXPECT_EQ(sink.expected, value.size() * times) << when;
    EXPECT_EQ(sink.came, value.size() * times) << when;
    EXPECT_TRUE(sink.right) << when;
  }

  uint64_t charged_ = 0;
  bool settled_ = false;  // no job runs
};

TEST_P(DBPiecesMemory, DoesNotGrowWithValuesAndLists) {
  constexpr uint64_t kElementBytes = 40 * kMiB;
  Open();
  Table* list = *db_->CreateTable("list", {.kind = TableKind::kList});
  std::string head;
  PutVarint64(&head, kElementBytes << 2);
  const Endless large(256 * kMiB, ""), element(head.size() + kElementBytes, head);
  EndlessSource value(large, [this] { Look(); }), segment(element, [this] { Look(); });
  const auto append = [&](const std::string& key) {
    UntilDone([&] { return db_->AppendFrom(list, {key}, &segment); });
  };
  ExpectBounded("put",
                [&] { UntilDone([&] { return db_->PutFrom(table_, {K(1, "k")}, &value); }); });
  append(K(1, "m"));
  append(K(1, "l"));
  // A log's record contains the whole appended data.
  if (options_.wal == WalMode::kNone)
    ExpectBounded("append", [&] { append(K(1, "l")); });
  else
    append(K(1, "l"));
  const auto expect_all = [&](const std::string& when, Snapshot* snapshot) {
    ExpectValue(table_, K(1, "k"), large, 1, when, snapshot);
    ExpectValue(list, K(1, "m"), element, 1, when, snapshot);
    ExpectValue(list, K(1, "l"), element, 2, when, snapshot);
  };
  expect_all("in memory", nullptr);
  auto snapshot = db_->TakeSnapshot();
  ASSERT_OK(snapshot.status());
  UntilDone([&] { return db_->Delete(table_, {K(1, "k")}); });
  Settle();
  settled_ = true;
  expect_all("of a snapshot", snapshot->get());
  PinnedValue none;
  StringSink sink;
  EXPECT_TRUE(db_->GetTo(table_, {K(1, "k")}, &none, &sink).IsNotFound());
  EXPECT_FALSE(sink.begun);
}

INSTANTIATE_TEST_SUITE_P(Storages, DBPiecesMemory,
                         ::testing::Values(std::pair{Storage::kFiles, WalMode::kNone},
                                           std::pair{Storage::kDirect, WalMode::kNone},
                                           std::pair{Storage::kVolume, WalMode::kNone},
                                           std::pair{Storage::kFiles, WalMode::kWalSync}));

class DBPieces : public ::testing::TestWithParam<WalMode> {
 protected:
  DBPieces() {
    db_.options().lease = *Host::Get().Acquire(16 * kMiB, 0.5);
    db_.options().wal = GetParam();
    EXPECT_OK(db_.Open());
  }
  Table* Values() { return db_.Values("v", {.kind = TableKind::kMap}); }
  Table* Lists() { return db_.Values("l", {.kind = TableKind::kList}); }
  static std::string Bytes(uint64_t bytes, uint64_t seed) { return Random(seed).Bytes(bytes); }
  Status Put(Table* table, const std::string& key, const std::string& value) {
    StringSource source(value);
    return db_.Finish([&] {
      source.Restart();
      return db_->PutFrom(table, {key}, &source);
    });
  }
  Status Append(Table* table, const std::string& key, const std::string& segments) {
    StringSource source(segments);
    return db_.Finish([&] {
      source.Restart();
      return db_->AppendFrom(table, {key}, &source);
    });
  }
  Status GetTo(Table* table, const std::string& key, StringSink* sink,
               Snapshot* snapshot = nullptr) {
    PinnedValue value;
    LAVA_RETURN_IF_ERROR(db_->GetTo(table, {key}, &value, sink, snapshot));
    if (!sink->begun) sink->bytes = value.data();
    return Status::OK();
  }
  void ExpectValue(Table* table, const std::string& key, const std::string& expected,
                   const std::string& when) {
    StringSink sink;
    const Status status = GetTo(table, key, &sink);
    EXPECT_TRUE(status.ok()) << when << ": " << status.ToString();
    EXPECT_EQ(sink.begun, expected.size() > kWholeBytesMax) << when;
    if (sink.begun) {
      EXPECT_EQ(sink.expected, expected.size()) << when;
    }
    EXPECT_TRUE(sink.bytes == expected) << when << ": " << expected.size() << " bytes";
    EXPECT_TRUE(db_.Get(table, key) == expected) << when << ": as a whole";
  }
  void ExpectSame(Table* table, const std::string& key, const std::string& when) {
    StringSink sink;
    PinnedValue value;
    const Status whole = db_->Get(table, {key}, &value);
    const Status pieces = GetTo(table, key, &sink);
    EXPECT_TRUE(whole.IsCorruption()) << when << ": " << whole.ToString();
    EXPECT_EQ(pieces.ToString(), whole.ToString()) << when;
  }
  void VerifyFiles() {
    for (const std::string& path : db_.files.Paths())
      if (path.ends_with(".ksst") || path.ends_with(".vsst")) {
        EXPECT_OK(VerifyStoredFile(&db_.files, path, {}));
      }
  }
  uint64_t ValueFileBytes() {
    uint64_t bytes = 0;
    for (const std::string& name : db_.ValueFileNames()) bytes += *db_.files.FileSize(name);
    return bytes;
  }

  ValueDB db_;
};

TEST_P(DBPieces, AreTheWholeAtEverySize) {
  std::map<std::string, std::string> values, lists;
  const uint64_t sizes[] = {
      100,          kWholeBytesMax,  kWholeBytesMax + 1,   2 * kMiB,        2 * kMiB + 1,
      4 * kMiB - 1, 5 * kPieceBytes, 5 * kPieceBytes + 13, 9 * kMiB + 12345};
  for (const uint64_t size : sizes) {
    const std::string key = K(1, std::to_string(size));
    values[key] = Bytes(size, size);
    ASSERT_OK(Put(Values(), key, values[key]));
    const std::string first = ListOf({Bytes(size, 1), "", "small"});
    const std::string more = ListOf({"a", Bytes(size / 2, 2)});
    ASSERT_OK(Put(Lists(), key, first));
    ASSERT_OK(Append(Lists(), key, more));
    ASSERT_OK(Append(Lists(), key, ListOf({"end"})));
    lists[key] = first + more + ListOf({"end"});
  }
  const auto expect_all = [&](const std::string& when) {
    for (const auto& [key, value] : values) ExpectValue(Values(), key, value, when);
    for (const auto& [key, value] : lists) ExpectValue(Lists(), key, value, when);
  };
  expect_all("in memory");
  ASSERT_OK(db_.Flush());
  expect_all("flushed");
  const Result<std::shared_ptr<Snapshot>> snapshot = db_->TakeSnapshot();
  ASSERT_OK(snapshot.status());
  const std::string key = K(1, std::to_string(sizes[8]));
  const std::string before = std::exchange(values[key], Bytes(3 * kMiB, 77));
  ASSERT_OK(Put(Values(), key, values[key]));
  StringSink sink;
  EXPECT_OK(GetTo(Values(), key, &sink, snapshot->get()));
  EXPECT_TRUE(sink.bytes == before);
  EXPECT_LE(sink.piece_bytes_max, kPieceBytes);
  ASSERT_OK(db_.CompactAll());
  ASSERT_OK(db_.CollectFrom(1));
  Values();
  Lists();
  db_.executor().RunUntilIdle();
  expect_all("compacted, collected and opened again");
  VerifyFiles();
}

// A list of many parts of all sizes; the small ones are read together.
TEST_P(DBPieces, AListComesInTheOrderOfItsParts) {
  std::string list;
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const uint64_t sizes[] = {10, 30'000, 300'000, 2 * kMiB + random.Uniform(kMiB)};
    const std::string segments = ListOf({Bytes(sizes[random.Uniform(4)], i)});
    ASSERT_OK(Append(Lists(), K(1, "l"), segments));
    list += segments;
    if (i % 20 == 7) ASSERT_OK(db_.Flush());
    if (i % 15 == 14) ExpectValue(Lists(), K(1, "l"), list, "after " + std::to_string(i));
  }
  ASSERT_OK(db_.CompactAll());
  ExpectValue(Lists(), K(1, "l"), list, "compacted");
}

TEST_P(DBPieces, WhatFailsInTheMiddleLeavesNothingBehind) {
  const std::string value = Bytes(5 * kMiB + 7, 1), list = ListOf({Bytes(5 * kMiB, 2)});
  ASSERT_OK(Put(Values(), K(1, "there"), value));
  ASSERT_OK(Put(Lists(), K(1, "there"), list));
  ASSERT_OK(db_.Flush());
  const uint64_t files_before = db_.ValueFileNames().size(), bytes_before = ValueFileBytes();
  for (uint64_t at = 0; at < value.size(); at += kPieceBytes) {
    for (const std::string key : {"there", "new"}) {
      StringSource source(value);
      source.fails_at = at + 1;
      const Status failed =
          db_.Finish([&] { return db_->PutFrom(Values(), {K(1, key)}, &source); });
      EXPECT_NE(failed.ToString().find("the source fails"), std::string::npos) << failed.ToString();
      StringSource segments(list);
      segments.fails_at = at + 1;
      EXPECT_FALSE(
          db_.Finish([&] { return db_->AppendFrom(Lists(), {K(1, key)}, &segments); }).ok());
    }
    ExpectValue(Values(), K(1, "there"), value, "a source failed");
    ExpectValue(Lists(), K(1, "there"), list, "a source failed");
    EXPECT_EQ(db_.Get(Values(), K(1, "new")), "NotFound");
    EXPECT_EQ(db_.Get(Lists(), K(1, "new")), "NotFound");
  }
  // A segment lasts as long as the memtable for which it was begun.
  ASSERT_OK(db_.Finish([&] { return db_->Put(Values(), {K(1, "small")}, "small"); }));
  ASSERT_OK(db_.Flush());
  ASSERT_OK(db_.Open());
  EXPECT_EQ(db_.Get(Values(), K(1, "new")), "NotFound");
  EXPECT_EQ(db_.ValueFileNames().size(), files_before);
  EXPECT_EQ(ValueFileBytes(), bytes_before);
  ASSERT_OK(Put(Values(), K(1, "new"), value));
  ExpectValue(Values(), K(1, "new"), value, "at last");
  ExpectValue(Values(), K(1, "there"), value, "at last");
}

TEST_P(DBPieces, FaultsOfFilesAreTold) {
  const std::string value = Bytes(3 * kMiB + 5, 1), other = Bytes(3 * kMiB, 2);
  ASSERT_OK(Put(Values(), K(1, "k"), other));
  for (const Fault fault : {Fault::kIOError, Fault::kNoSpace, Fault::kShortWrite}) {
    for (uint64_t call = 1; call <= 9; ++call) {
      const std::string when =
          "fault " + std::to_string(static_cast<int>(fault)) + ", call " + std::to_string(call);
      ASSERT_OK(db_.Finish([&] { return db_->Put(Values(), {K(1, "small")}, when); }));
      db_.faults.Arm(
          {.fault = fault, .call = call, .only = FileCall::kAppend, .path_contains = ".vsst"});
      StringSource source(value);
      const Status status = db_->PutFrom(Values(), {K(1, "k")}, &source);
      const bool fired = db_.faults.fired() > 0;
      db_.faults.Disarm();
      if (status.IsBusy()) continue;
      EXPECT_EQ(status.ok(), !fired) << when << ": " << status.ToString();
      ExpectValue(Values(), K(1, "k"), fired ? other : value, when);
      EXPECT_EQ(db_.Get(Values(), K(1, "small")), when);
      ASSERT_OK(Put(Values(), K(1, "k"), other));
    }
  }
  const auto read_all = [&](const std::string& where) {
    for (const Fault fault : {Fault::kIOError, Fault::kShortRead, Fault::kBitFlip}) {
      for (uint64_t call = 1; call <= 12; ++call) {
        db_.faults.Arm({.fault = fault,
                        .call = call,
                        .only = FileCall::kRead,
                        .path_contains = ".vsst",
                        .seed = call});
        StringSink sink;
        const Status status = GetTo(Values(), K(1, "k"), &sink);
        const bool fired = db_.faults.fired() > 0;
        db_.faults.Disarm();
        const std::string when = where + ", fault " + std::to_string(static_cast<int>(fault)) +
                                 ", read " + std::to_string(call) + ": " + status.ToString();
        // An error before the value is reported when the whole value is read; the value may then be
        // correct.
        if (status.ok())
          EXPECT_TRUE(sink.bytes == other) << when;
        else
          EXPECT_TRUE(fired) << when;
        EXPECT_TRUE(!fired || call <= 2 || !status.ok()) << when;
      }
    }
  };
  ASSERT_OK(Put(Values(), K(1, "k"), other));
  read_all("in memory");
  ASSERT_OK(db_.Flush());
  read_all("flushed");
  StringSink sink;
  sink.fails_at = 3;
  EXPECT_NE(GetTo(Values(), K(1, "k"), &sink).ToString().find("the sink fails"), std::string::npos);
  StringSink unwilling;
  unwilling.wants = false;
  EXPECT_OK(GetTo(Values(), K(1, "k"), &unwilling));
  EXPECT_EQ(unwilling.expected, other.size());
}

TEST_P(DBPieces, ADamagedByteIsFoundInAnyPiece) {
  const auto damage_all = [&](const std::string& value, const std::string& when) {
    for (const std::string& path : db_.ValueFileNames()) {
      const std::string content = *db_.files.Content(path);
      const size_t begin = content.find(value.substr(0, 100));
      if (begin == std::string::npos) continue;
      // The record is the first one in its file: lengths and key before the value, a trailer after
      // it.
      ASSERT_LT(begin, 30u);
      std::vector<size_t> offsets;
      for (size_t at = 0; at < begin; ++at) offsets.push_back(at);
      for (size_t at = 0; at < 13; ++at) offsets.push_back(begin + value.size() + at);
      for (size_t at = 0; at < value.size(); at += kPieceBytes / 2 + 1)
        offsets.push_back(begin + at);
      offsets.push_back(begin + value.size() - 1);
      for (const size_t at : offsets) {
        std::string damaged = content;
        damaged[at] = static_cast<char>(damaged[at] ^ 4);
        ASSERT_OK(db_.files.SetContent(path, damaged));
        ExpectSame(Values(), K(1, "k"), when + ", byte " + std::to_string(at));
      }
      ASSERT_OK(db_.files.SetContent(path, content));
      ExpectValue(Values(), K(1, "k"), value, when);
      return;
    }
    ADD_FAILURE() << "no file contains the value";
  };
  // Each has its own file. Damaged data is not copied.
  const std::string first = Bytes(5 * kMiB + 5, 1), second = Bytes(5 * kMiB + 5, 2);
  ASSERT_OK(Put(Values(), K(1, "k"), first));
  damage_all(first, "in memory");
  ASSERT_OK(Put(Values(), K(1, "k"), second));
  ASSERT_OK(db_.Flush());
  damage_all(second, "flushed");
}

TEST_P(DBPieces, WhatIsNoListIsRefused) {
  const std::string list = ListOf({Bytes(3 * kMiB, 1)});
  ASSERT_OK(Put(Lists(), K(1, "l"), list));
  std::string reference = list;
  AppendListSegment(ListSegment::kReference, "of the engine's", &reference);
  for (const std::string& wrong : {list.substr(0, list.size() - 1), list + '\x80', reference}) {
    EXPECT_TRUE(Put(Lists(), K(1, "l"), wrong).IsInvalidArgument());
    EXPECT_TRUE(Append(Lists(), K(1, "l"), wrong).IsInvalidArgument());
    EXPECT_TRUE(Append(Values(), K(1, "l"), list).IsInvalidArgument());
  }
  ExpectValue(Lists(), K(1, "l"), list, "afterwards");
}

// Compressed values are read as a whole; values too large for the lease are not compressed.
TEST_P(DBPieces, AreCompressedOnlyWhereTheyFit) {
  db_.options().value_compression = Compression::kLz4;
  db_.options().lease = *Host::Get().Acquire(64 * kMiB, 0.5);
  db_.environment().value_in_memory_bytes_max = kMiB;
  ASSERT_OK(db_.Open({}, "/compressed"));
  const std::string fits(6 * kMiB, 'f'), large(9 * kMiB, 'l');
  ASSERT_OK(Put(Values(), K(1, "fits"), fits));
  ASSERT_OK(Append(Lists(), K(1, "fits"), ListOf({fits})));
  const auto stored = [&] {
    uint64_t bytes = 0;
    for (const std::string& name : db_.ValueFileNames("/compressed"))
      bytes += *db_.files.FileSize(name);
    return bytes;
  };
  EXPECT_LT(stored(), kMiB);
  ASSERT_OK(Put(Values(), K(1, "large"), large));
  EXPECT_GT(stored(), 9 * kMiB);
  for (const char* when : {"in memory", "flushed"}) {
    ExpectValue(Values(), K(1, "fits"), fits, when);
    ExpectValue(Lists(), K(1, "fits"), ListOf({fits}), when);
    ExpectValue(Values(), K(1, "large"), large, when);
    ASSERT_OK(db_.Flush());
  }
  StringSink sink;
  EXPECT_OK(GetTo(Values(), K(1, "large"), &sink));
  EXPECT_LE(sink.piece_bytes_max, kPieceBytes);
}

// Timestamps work as for values that are in memory as a whole.
TEST_P(DBPieces, ExpireAsWholeValuesDo) {
  const int64_t begin = db_.clock().WallMillis();
  const auto stamped = [](int64_t written_ms, uint64_t bytes) {
    std::string value;
    PutBigEndian(&value, static_cast<uint64_t>(written_ms), 8);
    return value + Bytes(bytes, 5);
  };
  const TableOptions value_options = {
      .kind = TableKind::kMap, .ttl_layout = TtlLayout::kValue, .ttl_ms = 1000};
  const TableOptions list_options = {
      .kind = TableKind::kList, .ttl_layout = TtlLayout::kList, .ttl_ms = 1000};
  Table* const values = db_.Values("ttl", value_options);
  Table* const lists = db_.Values("ttl list", list_options);
  // The newest element crosses a boundary of pieces.
  const std::string list = ListOf({stamped(begin, kPieceBytes - 20), stamped(begin + 500, kMiB),
                                   stamped(begin + 100, 2 * kMiB)});
  ASSERT_OK(Put(values, K(1, "v"), stamped(begin, 3 * kMiB)));
  ASSERT_OK(Append(lists, K(1, "l"), list));
  ASSERT_OK(db_.CompactAll());
  const auto at = [&](int64_t ms) {
    db_.clock().Advance(static_cast<uint64_t>(begin + ms - db_.clock().WallMillis()));
    ASSERT_OK(Put(values, K(1, "z"), stamped(begin + ms, 10)));
    ASSERT_OK(Put(lists, K(1, "z"), ListOf({stamped(begin + ms, 10)})));
    ASSERT_OK(db_.CompactAll());
    db_.executor().RunUntilIdle();
  };
  at(900);
  ExpectValue(values, K(1, "v"), stamped(begin, 3 * kMiB), "before it expires");
  at(1400);
  EXPECT_EQ(db_.Get(values, K(1, "v")), "NotFound");
  ExpectValue(lists, K(1, "l"), list, "before its newest element expires");
  at(1600);
  EXPECT_EQ(db_.Get(lists, K(1, "l")), "NotFound");
}

INSTANTIATE_TEST_SUITE_P(Modes, DBPieces, ::testing::Values(WalMode::kNone, WalMode::kWalSync));

// With a write-ahead log, acknowledged data is recovered.
TEST(DBPiecesWal, BringsThemBack) {
  ValueDB db;
  db.options().lease = *Host::Get().Acquire(16 * kMiB, 0.5);
  db.options().wal = WalMode::kWalSync;
  ASSERT_OK(db.Open());
  const auto values = [&] { return db.Values("v", {.kind = TableKind::kMap}); };
  const auto lists = [&] { return db.Values("l", {.kind = TableKind::kList}); };
  StringSource value(std::string(3 * kMiB, 'v')), segments(ListOf({std::string(3 * kMiB, 's')}));
  StringSource lost(std::string(3 * kMiB, 'x'));
  lost.fails_at = 2 * kMiB;
  ASSERT_OK(db->PutFrom(values(), {K(1, "k")}, &value));
  ASSERT_OK(db->AppendFrom(lists(), {K(1, "l")}, &segments));
  EXPECT_FALSE(db->PutFrom(values(), {K(1, "k")}, &lost).ok());
  ASSERT_OK(db.Open());
  EXPECT_EQ(db.Get(values(), K(1, "k")), std::string(3 * kMiB, 'v'));
  EXPECT_EQ(db.Get(lists(), K(1, "l")), ListOf({std::string(3 * kMiB, 's')}));
}

}  // namespace
}  // namespace lava::testing
