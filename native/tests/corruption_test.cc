// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <new>
#include <set>

#include "base/coding.h"
#include "base/internal_key.h"
#include "db/verify_file.h"
#include "db_test_util.h"
#include "manifest/manifest.h"
#include "table/block_loader.h"
#include "table/table_reader.h"
#include "table/verify.h"
#include "testing/count.h"
#include "testing/random.h"
#include "testing/variable.h"

// Every byte of every file of a small but complete instance is flipped, and every file is truncated
// at every length. Each time the damage must be reported with the file and the offset, and all data
// outside the damaged block must be readable as before. No attempt may take more memory than the
// undamaged instance, plus the file's size and 1 MiB.

namespace {

std::atomic<uint64_t> live_bytes{0}, peak_bytes{0};

void* Allocate(size_t bytes, size_t alignment) {
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const uint64_t live = live_bytes += malloc_usable_size(memory);
  if (live > peak_bytes) peak_bytes = live;
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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
/// LAVA_TEST_STEP: only every n-th byte.
const size_t kEvery = Variable("LAVA_TEST_STEP", 1);
const size_t kStep = kEvery * (kSanitized ? 15 : 1);  // for key SSTs, which have most of the bytes
constexpr uint64_t kMemoryAllowance = 1 << 20;
constexpr int kPartitions[] = {0, 3, 7, 8, 12, 15};

struct WrittenKey {
  std::string table, key;
  uint32_t prefix_bytes = 0;
  auto operator<=>(const WrittenKey&) const = default;
};

TableKind KindOf(const std::string& table) {
  return table == "list" ? TableKind::kList : table == "map" ? TableKind::kMap : TableKind::kValue;
}

/// Writes to an instance, and to the model as far as the data is in the given partitions.
class Writer {
 public:
  Writer(SimDB* db, Model* model, std::set<WrittenKey>* keys, int first, int last)
      : db_(*db), model_(model), keys_(keys), first_(first), last_(last) {}

  void Put(const std::string& table, const std::string& key, uint32_t prefix_bytes,
           const std::string& value) {
    Note(table, key, prefix_bytes);
    ASSERT_OK(db_->Put(db_.table(table, KindOf(table)), {key, prefix_bytes}, value));
    if (Counts(key)) model_->Put(table, {key, prefix_bytes}, value);
  }
  void Append(const std::string& key, const std::string& element) {
    Note("list", key, 0);
    ASSERT_OK(db_->Append(db_.table("list", TableKind::kList), {key}, ListOf({element})));
    if (Counts(key)) model_->Append("list", {key}, ListOf({element}));
  }
  void Delete(const std::string& table, const std::string& key, uint32_t prefix_bytes) {
    ASSERT_OK(db_->Delete(db_.table(table, KindOf(table)), {key, prefix_bytes}));
    if (Counts(key)) model_->Delete(table, {key, prefix_bytes});
  }
  void DeletePrefix(const std::string& prefix) {
    ASSERT_OK(db_->DeletePrefix(db_.table("map", TableKind::kMap), prefix));
    if (Counts(prefix)) model_->DeletePrefix("map", prefix);
  }
  /// Both bounds are in one partition.
  void DeleteRange(const std::string& table, const std::string& lower, const std::string& upper) {
    ASSERT_OK(db_->DeleteRange(db_.table(table, KindOf(table)), lower, upper));
    if (Counts(lower)) model_->DeleteRange(table, lower, upper);
  }

 private:
  bool Counts(const std::string& key) const { return key[0] >= first_ && key[0] <= last_; }
  void Note(const std::string& table, const std::string& key, uint32_t prefix_bytes) {
    keys_->insert({table, key, prefix_bytes});
    model_->CreateTable(table);
  }

  SimDB& db_;
  Model* model_;
  std::set<WrittenKey>* keys_;
  int first_, last_;
};

std::string MapPrefix(int partition, int n) { return K(partition, "prefix" + std::to_string(n)); }

/// A block that is read on demand, and the range of its keys: (low, high]. For a block of a
/// partition, the range of the whole partition.
struct Extent {
  uint64_t begin = 0, end = 0;
  bool first = false;
  std::string low, high;
  std::string before;  // the last key of the file before this range
  bool shown = false;  // whether the instance shows any of them

  bool Holds(Slice key) const { return (first || key > low) && key <= high; }
  /// A scan also reads the key after its range, to find out that the range has ended.
  bool Touches(Slice lower, Slice upper) const {
    return lower <= high && (first || before < upper);
  }
};

std::vector<std::string> KeysOf(fs::FileSystem* file_system, const std::string& path) {
  std::vector<std::string> keys;
  const auto cache = BlockCache::Create(1 << 20);
  auto file = file_system->OpenRandom(path);
  auto reader = TableReader::Open(std::move(*file), cache.get(), nullptr, nullptr);
  auto iterator = (*reader)->NewIterator({});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next())
    keys.emplace_back(iterator->record().key);
  EXPECT_OK(iterator->status());
  return keys;
}

/// The extents of the file as /db shows it, which may be parts of it.
std::vector<Extent> ExtentsOf(fs::FileSystem* file_system, const std::string& path) {
  std::vector<Extent> extents;
  auto file = file_system->OpenRandom(path);
  ksst::TableHead head;
  EXPECT_TRUE(file.ok() && ksst::ReadTableHead(std::move(*file), &head).ok()) << path;
  std::string before_index_partition;
  for (uint32_t i = 0; i < head.top.count(); ++i) {
    std::shared_ptr<const ksst::CachedIndexPartition> index_partition;
    const BlockHandle handle = ksst::BlockAt(head.top, i);
    EXPECT_OK(
        head.loader->LoadIndexPartitionAt(handle, head.top.extent_begin(i), &index_partition));
    std::string low = before_index_partition;
    for (uint32_t j = 0; j < index_partition->index.count(); ++j) {
      const BlockHandle block = ksst::BlockAt(index_partition->index, j);
      extents.push_back(
          {block.offset, block.end(), i + j == 0, low, index_partition->index.key(j), {}, false});
      low = extents.back().high;
    }
    extents.push_back(
        {handle.offset, handle.end(), i == 0, before_index_partition, head.top.key(i), {}, false});
    before_index_partition = head.top.key(i);
  }
  auto manifest = Manifest::Recover({.file_system = file_system, .directory = "/db"});
  EXPECT_OK(manifest.status());
  const auto shown = [&](const std::string& key) {
    for (const auto& level : (*manifest)->state().version->levels)
      for (const KeyFileEntry& entry : level)
        if (path.ends_with(entry.file->id.FileName()) && key >= entry.lower && key < entry.upper)
          return true;
    return false;
  };
  for (const std::string& key : KeysOf(file_system, path)) {
    const bool is_shown = shown(key);
    for (Extent& extent : extents) {
      if (!extent.first && key <= extent.low) extent.before = key;
      if (extent.Holds(key)) extent.shown |= is_shown;
    }
  }
  return extents;
}

/// The damage in an attempt.
struct Damage {
  std::string file;                // its name, which errors must contain
  const Extent* extent = nullptr;  // the damaged block; null: the instance cannot be opened
};

class Corruption : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    golden_ = new Golden;
    golden_->Make();
  }
  static void TearDownTestSuite() {
    Count(golden_->flips_detected, "flips detected");
    Count(golden_->flips_harmless, "flips harmless");
    Count(golden_->truncations_detected, "truncations detected");
    Count(golden_->truncations_torn, "truncations taken for a torn tail, with an earlier state");
    delete golden_;
  }

  /// The closed instance: /db, and the last checkpoint.
  struct Golden {
    std::unique_ptr<CrashableFileSystem> files;
    std::set<WrittenKey> keys;
    /// The length of the manifest from which on it describes the model's state.
    std::vector<std::pair<uint64_t, Model>> models;
    std::string current, manifest, metadata;
    std::vector<std::string> tables;  // paths of key SSTs
    uint64_t memory_bytes = 0;        // required for opening and reading it
    uint64_t flips_detected = 0, flips_harmless = 0;
    uint64_t truncations_detected = 0, truncations_torn = 0;

    const Model& model() const { return models.back().second; }
    void Make();
    void MakeSource(int salt, SimDB* db, Model* model);
    void WriteInto(SimDB* db, Model* model);
  };

  static void SmallBlocks(DBOptions* options, Compression compression) {
    options->block_bytes = 200;
    options->index_partition_bytes = 150;
    options->target_file_bytes = 1500;
    options->compression = options->bottom_compression = compression;
    options->l0_compaction_trigger = 10;
  }

  /// The error must name the file and an offset.
  static void ExpectNamed(const Status& status, const std::string& file) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.message().find(file), Slice::npos) << status.ToString();
    EXPECT_NE(status.message().find("offset"), Slice::npos) << status.ToString();
  }

  /// Opens and reads everything in a copy of the files. Returns whether the damage was reported.
  static bool Told(fs::FileSystem* files, const Model& model, const Damage& damage,
                   std::span<const ImportSource> imports = {}) {
    SimDB db(1, files);
    SmallBlocks(&db.options(), Compression::kLz4);
    const Status opened = db.Open(imports);
    if (!opened.ok()) {
      ExpectNamed(opened, damage.file);
      EXPECT_EQ(damage.extent, nullptr) << "damage of a block must not keep the instance closed";
      return true;
    }
    bool told = false;
    for (const std::string& name : model.tables()) told |= TableTold(&db, name, model, damage);
    return told;
  }

  static bool TableTold(SimDB* db, const std::string& name, const Model& model,
                        const Damage& damage) {
    Table* table = db->table(name, KindOf(name));
    bool told = false;
    for (const int partition : kPartitions) {
      const std::string lower = K(partition, ""), upper = K(partition, "\xff");
      ScanRequest request;
      request.lower = lower;
      request.upper = upper;
      const std::vector<Model::Entry> expected = model.Scan(name, request);
      std::vector<Model::Entry> entries;
      const Status status = db->ScanAll(table, request, &entries);
      if (status.ok()) {
        EXPECT_EQ(entries, expected) << "the scan returned wrong content";
        continue;
      }
      told = true;
      ExpectNamed(status, damage.file);
      EXPECT_TRUE(damage.extent != nullptr &&
                  damage.extent->Touches(TableStart(partition, 1, table->id()),
                                         TableStart(partition, 1, table->id() + 1)))
          << "the damage must not affect this scan";
    }
    PinnedValue value;
    for (const WrittenKey& key : golden_->keys) {
      if (key.table != name) continue;
      const Status status = (*db)->Get(table, {key.key, key.prefix_bytes}, &value);
      const std::optional<std::string> expected = model.Get(name, key.key);
      if (status.ok()) {
        EXPECT_TRUE(expected.has_value() && *expected == value.data())
            << "Get() returned a wrong value";
      } else if (status.IsNotFound()) {
        EXPECT_FALSE(expected.has_value()) << "Get() lost the key";
      } else {
        told = true;
        ExpectNamed(status, damage.file);
        const InternalKey internal(1, Id(table).data(), key.key);
        const Slice prefix = internal.slice().substr(0, key.prefix_bytes + kTableIdBytes);
        EXPECT_TRUE(damage.extent != nullptr &&
                    (damage.extent->Holds(internal.slice()) ||
                     (key.prefix_bytes != 0 && damage.extent->Holds(prefix))))
            << "the key is not in the damaged block";
      }
    }
    return told;
  }
  static std::string Id(Table* table) {
    std::string id;
    PutBigEndian(&id, table->id(), kTableIdBytes);
    return id;
  }

  /// Runs an attempt, whose memory must stay within that of the undamaged instance.
  template <typename Attempt>
  static auto Measured(size_t file_bytes, Attempt attempt) {
    const uint64_t before = live_bytes;
    peak_bytes = before;
    const auto result = attempt();
    const uint64_t taken = peak_bytes - before;
    EXPECT_LE(taken, golden_->memory_bytes + file_bytes + kMemoryAllowance);
    return result;
  }

  static std::unique_ptr<CrashableFileSystem> With(const std::string& path, std::string content) {
    auto files = golden_->files->CrashClone(CrashMode::kAll);
    EXPECT_OK(files->SetContent(path, std::move(content)));
    return files;
  }

  static Golden* golden_;
};

Corruption::Golden* Corruption::golden_ = nullptr;

void Corruption::Golden::MakeSource(int salt, SimDB* db, Model* model) {
  SmallBlocks(&db->options(), salt == 1 ? Compression::kNone : Compression::kZstd);
  ASSERT_OK(db->Open());
  Writer writer(db, model, &keys, salt == 1 ? 0 : 8, salt == 1 ? 7 : 15);
  const std::string value = "value of source " + std::to_string(salt) + " number ";
  for (int round = 0; round < 2; ++round) {
    for (const int p : kPartitions) {
      for (int i = round; i < 5; i += 1 + round)
        writer.Put("value", K(p, "key" + std::to_string(i)), 0, value + std::to_string(i + round));
      for (int i = 0; i < 6; ++i) {
        const std::string prefix = MapPrefix(p, i / 3);
        writer.Put("map", prefix + "/" + std::to_string(i + round),
                   static_cast<uint32_t>(prefix.size()), value);
      }
      for (int i = 0; i < 2; ++i) writer.Append(K(p, "list" + std::to_string(i)), value);
    }
    // The first round goes to the last level, the second stays in L0 above it.
    ASSERT_OK(round == 0 ? db->CompactAll() : db->Flush());
  }
}

void Corruption::Golden::WriteInto(SimDB* db, Model* model) {
  Writer writer(db, model, &keys, 0, 15);
  for (const int p : kPartitions) {
    writer.Put("value", K(p, "key1"), 0, "written after the import");
    writer.Delete("value", K(p, "key2"), 0);
    writer.Append(K(p, "list1"), "appended after the import");
    writer.DeletePrefix(MapPrefix(p, 1));
    const std::string prefix = MapPrefix(p, 0);
    writer.Delete("map", prefix + "/1", static_cast<uint32_t>(prefix.size()));
  }
  writer.DeleteRange("value", K(3, "key3"), K(3, "key9"));
  writer.DeleteRange("map", K(12, ""), K(12, "prefix0/2"));
  ASSERT_OK(db->Flush());
}

void Corruption::Golden::Make() {
  files = std::make_unique<ChosenFileSystem>();
  ASSERT_OK(files->CreateDirectory("/db"));
  Model model;
  std::vector<ImportSource> imports;
  for (const int salt : {1, 2}) {
    SimDB source(salt);
    MakeSource(salt, &source, &model);
    auto snapshot = *source->TakeSnapshot();
    ASSERT_OK(source.FlushSnapshot(snapshot.get()));
    std::vector<Snapshot::File> names;
    ImportSource import{"", salt == 1 ? 0u : 8u, salt == 1 ? 7u : 15u};
    ASSERT_OK(snapshot->Files(&names, &import.metadata));
    EXPECT_GT(names.size(), 2u);
    for (const Snapshot::File& file : names)
      ASSERT_OK(
          files->SetContent("/db/" + file.name, *source.memory().Content("/db/" + file.name)));
    imports.push_back(import);
  }
  SimDB db(3, files.get());
  SmallBlocks(&db.options(), Compression::kLz4);
  ASSERT_OK(db.Open(imports));
  WriteInto(&db, &model);
  // The next open writes a manifest whose snapshot is durable; edits follow it.
  ASSERT_OK(db.Open());
  model.CreateTable("late");
  for (const std::string& path : files->Paths())
    if (path.find("MANIFEST-") != std::string::npos) manifest = path;
  models.emplace_back(files->Content(manifest)->size(), model);
  Writer writer(&db, &model, &keys, 0, 15);
  writer.Put("late", K(7, "key"), 0, "late");
  writer.Put("value", K(7, "key1"), 0, "late");
  ASSERT_OK(db.Flush());
  models.emplace_back(files->Content(manifest)->size(), model);
  auto snapshot = *db->TakeSnapshot();
  std::vector<Snapshot::File> names;
  ASSERT_OK(db.FlushSnapshot(snapshot.get()));
  ASSERT_OK(snapshot->Files(&names, &metadata));
  for (const Snapshot::File& file : names) tables.push_back("/db/" + file.name);
  uint64_t levels = 0;
  for (const uint64_t count : db->statistics().files_at_level) levels += count != 0;
  EXPECT_GE(levels, 2u);
  snapshot.reset();
  db.CloseDB();
  current = "/db/CURRENT";

  const uint64_t before = live_bytes;
  peak_bytes = before;
  EXPECT_FALSE(Told(files->CrashClone(CrashMode::kAll).get(), this->model(), {"nothing"}));
  memory_bytes = peak_bytes - before;
  for (const std::string& path : tables) EXPECT_OK(VerifyTableFile(files.get(), path, {}));
}

/// The changes of a byte that are tried.
std::vector<uint8_t> AllBits() {
  if (kSanitized) return {1, 128, 255};
  return {1, 2, 4, 8, 16, 32, 64, 128, 255};
}

TEST_F(Corruption, EveryFlippedBitOfCurrentAndManifest) {
  for (const std::string& path : {golden_->current, golden_->manifest}) {
    const std::string sound = *golden_->files->Content(path);
    for (size_t i = 0; i < sound.size(); i += kEvery) {
      for (const uint8_t change : AllBits()) {
        SCOPED_TRACE(path + " byte " + std::to_string(i) + " ^ " + std::to_string(change));
        std::string damaged = sound;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        const bool told = Measured(sound.size(), [&] {
          return Told(With(path, damaged).get(), golden_->model(), {path});
        });
        // A record's header protects its length. Therefore even the last record, which was not
        // synced, is not mistaken for a torn tail.
        EXPECT_TRUE(told);
        golden_->flips_detected += told;
        golden_->flips_harmless += !told;
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Corruption, EveryTruncationOfCurrentAndManifest) {
  const std::string current = *golden_->files->Content(golden_->current);
  for (size_t length = 0; length < current.size(); length += kEvery) {
    SCOPED_TRACE("CURRENT cut to " + std::to_string(length));
    EXPECT_TRUE(Measured(current.size(), [&] {
      return Told(With(golden_->current, current.substr(0, length)).get(), golden_->model(),
                  {golden_->current});
    }));
    ++golden_->truncations_detected;
  }
  const std::string manifest = *golden_->files->Content(golden_->manifest);
  const uint64_t durable = golden_->models.front().first;
  ASSERT_LT(durable, manifest.size());
  for (size_t length = 0; length < manifest.size(); length += kEvery) {
    SCOPED_TRACE("manifest cut to " + std::to_string(length));
    // Bytes missing after the part that was written before CURRENT named the manifest look like a
    // kill during a write: the state is that of the last complete edit.
    const Model& expected = golden_->models.front().second;
    const bool told = Measured(manifest.size(), [&] {
      return Told(With(golden_->manifest, manifest.substr(0, length)).get(), expected,
                  {golden_->manifest});
    });
    EXPECT_EQ(told, length < durable);
    ++(told ? golden_->truncations_detected : golden_->truncations_torn);
    if (HasFailure()) return;
  }
}

TEST_F(Corruption, EveryByteOfKeySsts) {
  Random random(5);
  uint64_t only_verified = 0;
  for (const std::string& path : golden_->tables) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::string sound = *golden_->files->Content(path);
    const std::vector<Extent> extents = ExtentsOf(golden_->files.get(), path);
    for (size_t i = random.Uniform(kStep); i < sound.size(); i += kStep) {
      Damage damage{name};
      for (const Extent& extent : extents)
        if (i >= extent.begin && i < extent.end) damage.extent = &extent;
      for (const uint8_t change : {uint8_t(1 << random.Uniform(8)), uint8_t{255}}) {
        SCOPED_TRACE(path + " byte " + std::to_string(i) + " of " + std::to_string(sound.size()) +
                     " ^ " + std::to_string(change));
        std::string damaged = sound;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        const auto files = With(path, damaged);
        bool told =
            Measured(sound.size(), [&] { return Told(files.get(), golden_->model(), damage); });
        if (!told) {
          // A block without visible data, because the instance was imported with other partitions
          // only: only a verification of the whole file reads it.
          EXPECT_FALSE(damage.extent->shown);
          const Status verified = VerifyTableFile(files.get(), path, {});
          ExpectNamed(verified, name);
          told = verified.IsCorruption();
          ++only_verified;
        }
        EXPECT_TRUE(told);
        golden_->flips_detected += told;
        golden_->flips_harmless += !told;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(only_verified, 0u) << "the test must have data that only VerifyFile() reads";
  std::cout << only_verified << " flips were only found by VerifyFile" << std::endl;
}

TEST_F(Corruption, EveryTruncationOfKeySsts) {
  for (const std::string& path : golden_->tables) {
    const std::string sound = *golden_->files->Content(path);
    const std::string name = path.substr(path.rfind('/') + 1);
    for (size_t length = 0; length < sound.size(); length += kStep) {
      SCOPED_TRACE(path + " cut to " + std::to_string(length));
      const auto files = With(path, sound.substr(0, length));
      EXPECT_TRUE(
          Measured(sound.size(), [&] { return Told(files.get(), golden_->model(), {name}); }));
      // The file by itself as well: a reader does not know its expected length.
      ExpectNamed(VerifyTableFile(files.get(), path, {}), name);
      ++golden_->truncations_detected;
      if (HasFailure()) return;
    }
  }
}

TEST_F(Corruption, EveryFlippedBitAndTruncationOfMetadata) {
  const std::string& sound = golden_->metadata;
  const auto refused = [&](const std::string& damaged) {
    return Measured(sound.size(), [&] {
      ExpectNamed(ReadMetadata(damaged).status(), "checkpoint metadata");
      const ImportSource import{damaged, 0, 15};
      ChosenFileSystem empty;
      return Told(&empty, golden_->model(), {"checkpoint metadata"}, {&import, 1});
    });
  };
  for (size_t i = 0; i < sound.size(); i += kEvery) {
    SCOPED_TRACE("metadata byte " + std::to_string(i));
    for (const uint8_t change : AllBits()) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      EXPECT_TRUE(refused(damaged));
      ++golden_->flips_detected;
    }
    EXPECT_TRUE(refused(sound.substr(0, i)));
    ++golden_->truncations_detected;
    if (HasFailure()) return;
  }
}

/// Files of a checkpoint, imported as a whole and as two halves.
TEST_F(Corruption, FilesOfAnImportedCheckpoint) {
  Random random(6);
  const ImportSource whole[] = {{golden_->metadata, 0, 15}};
  const ImportSource halves[] = {{golden_->metadata, 0, 7}, {golden_->metadata, 8, 15}};
  const auto adopted = [&](const std::string& path, const std::string& content) {
    auto files = With(path, content);
    EXPECT_OK(files->Remove(golden_->current));
    EXPECT_OK(files->Remove(golden_->manifest));
    return files;
  };
  for (const std::string& path : golden_->tables) {
    const std::string sound = *golden_->files->Content(path);
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::vector<Extent> extents = ExtentsOf(golden_->files.get(), path);
    EXPECT_FALSE(Told(adopted(path, sound).get(), golden_->model(), {name}, whole));
    EXPECT_FALSE(Told(adopted(path, sound).get(), golden_->model(), {name}, halves));
    for (size_t i = random.Uniform(7); i < sound.size(); i += 7 * kStep) {
      SCOPED_TRACE(path + " byte " + std::to_string(i));
      std::string damaged = sound;
      damaged[i] = static_cast<char>(~damaged[i]);
      Damage damage{name};
      for (const Extent& extent : extents)
        if (i >= extent.begin && i < extent.end) damage.extent = &extent;
      const auto files = adopted(path, damaged);
      const std::span<const ImportSource> imports =
          i % 2 == 0 ? std::span<const ImportSource>(whole) : halves;
      const bool told = Measured(
          sound.size(), [&] { return Told(files.get(), golden_->model(), damage, imports); });
      if (!told) {
        EXPECT_FALSE(damage.extent->shown);
        ExpectNamed(VerifyTableFile(files.get(), path, {}), name);
      }
      ++golden_->flips_detected;
      if (HasFailure()) return;
    }
  }
}

/// An instance with value files, some with a dictionary: each of their bytes is flipped, and they
/// are truncated at every length.
class ValueFileCorruption : public ::testing::Test {
 protected:
  static constexpr uint64_t kReadAllowance = 1 << 20;

  static void Options(SimDB* db) {
    db->options().value_compression = Compression::kZstd;
    db->options().value_file_bytes = 2000;
    db->options().l0_compaction_trigger = 10;
    db->environment().value_dictionary = {
        .values_min = 10, .raw_bytes_min = 0, .saving_percent_min = 0};
  }
  static Table* TableOf(SimDB* db) {
    return *(*db)->CreateTable("t", {.kind = TableKind::kValue, .separation_bytes = 5});
  }
  void SetUp() override {
    SimDB db(1, &files_);
    Options(&db);
    ASSERT_OK(files_.CreateDirectory("/db"));
    ASSERT_OK(db.Open());
    for (int i = 0; i < 60; ++i) {
      const std::string number = std::to_string(i * 104'729);
      values_[K(i % 16, "key" + number)] =
          "{\"id\":" + number + ",\"kind\":\"similar to others\",\"list\":[" + number + "]}";
    }
    for (const auto& [key, value] : values_) ASSERT_OK(db->Put(TableOf(&db), {key}, value));
    ASSERT_OK(db.Flush());
    db.CloseDB();
    const uint64_t before = live_bytes;
    peak_bytes = before;
    EXPECT_TRUE(Told(files_.CrashClone(CrashMode::kAll).get(), "nothing").empty());
    memory_bytes_ = peak_bytes - before;
    for (const std::string& path : files_.Paths())
      if (path.ends_with(".vsst")) paths_.push_back(path);
    ASSERT_GE(paths_.size(), 2u);
  }
  static void ExpectNamed(const Status& status, const std::string& path) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.message().find(path), Slice::npos) << status.ToString();
    EXPECT_NE(status.message().find("offset"), Slice::npos) << status.ToString();
  }
  /// Reads everything and checks the values. Returns the keys whose reads reported damage of this
  /// file.
  std::set<std::string> Told(fs::FileSystem* files, const std::string& path) {
    SimDB db(2, files);
    Options(&db);
    const Status opened = db.Open();
    if (!opened.ok()) {
      // A truncated file is reported by its length.
      if (opened.message().find("the manifest says") == Slice::npos) ExpectNamed(opened, path);
      EXPECT_NE(opened.message().find(path), Slice::npos) << opened.ToString();
      return {"all"};
    }
    std::set<std::string> told;
    for (const auto& [key, expected] : values_) {
      PinnedValue value;
      const Status status = db->Get(TableOf(&db), {key}, &value);
      if (!status.ok()) ExpectNamed(status, path);
      EXPECT_TRUE(!status.ok() || value.data() == expected) << "Get() returned a wrong value";
      if (!status.ok()) told.insert(key);
    }
    return told;
  }
  /// Ends of the file's records by offset, with their keys (docs/vsst-format.md).
  static std::map<size_t, std::string> RecordsOf(Slice content) {
    std::map<size_t, std::string> records;
    Slice rest = content;
    uint64_t blob_file_index, key_bytes, stored_bytes;
    while (GetVarint64(&rest, &blob_file_index) && GetVarint64(&rest, &key_bytes) &&
           GetVarint64(&rest, &stored_bytes)) {
      const Slice key = rest.substr(0, key_bytes);
      if (key.size() < 9 || key.substr(1 + kTableIdBytes, 3) != "key") break;
      rest.remove_prefix(key_bytes + stored_bytes + kBlockTrailerBytes);
      records[content.size() - rest.size()] =
          std::string(key.substr(0, 1)) + std::string(key.substr(1 + kTableIdBytes));
    }
    return records;
  }
  /// Returns the keys whose reads fail.
  std::set<std::string> ExpectTold(const std::string& path, const std::string& content) {
    const auto files = files_.CrashClone(CrashMode::kAll);
    EXPECT_OK(files->SetContent(path, content));
    const uint64_t before = live_bytes;
    peak_bytes = before;
    const std::set<std::string> told = Told(files.get(), path);
    EXPECT_LE(peak_bytes - before, memory_bytes_ + content.size() + kReadAllowance);
    // Only the collector uses the dense key index, so only it and verification detect its damage.
    ExpectNamed(VerifyStoredFile(files.get(), path, {}), path);
    return told;
  }

  ChosenFileSystem files_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> paths_;
  uint64_t memory_bytes_ = 0;
};

TEST_F(ValueFileCorruption, EveryByteAndEveryTruncation) {
  uint64_t flips = 0, cuts = 0;
  size_t records_found = 0;
  std::set<uint32_t> versions;
  for (const std::string& path : paths_) {
    const std::string sound = *files_.Content(path);
    versions.insert(DecodeFixed32(sound.data() + sound.size() - 20));
    EXPECT_OK(VerifyStoredFile(&files_, path, {}));
    const std::map<size_t, std::string> records = RecordsOf(sound);
    records_found += records.size();
    for (size_t i = 0; i < sound.size(); i += kStep) {
      SCOPED_TRACE(path + " byte " + std::to_string(i) + " of " + std::to_string(sound.size()));
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
      const std::set<std::string> told = ExpectTold(path, damaged);
      // A damaged record affects only its own key.
      if (const auto record = records.upper_bound(i); record != records.end()) {
        EXPECT_EQ(told, std::set<std::string>{record->second});
      }
      ExpectTold(path, sound.substr(0, i));
      ++flips, ++cuts;
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(versions.contains(2)) << "one file must have a dictionary";
  EXPECT_EQ(records_found, values_.size());
  Count(flips, "flips of an instance's value files detected");
  Count(cuts, "truncations of an instance's value files detected");
}

/// Data that refers to value files: references and blob files in key SSTs, and the manifest's
/// entries.
TEST_F(ValueFileCorruption, EveryByteOfWhatNamesThem) {
  uint64_t flips = 0;
  for (const std::string& path : files_.Paths()) {
    if (path.ends_with(".vsst") || path.ends_with("LOCK")) continue;
    const std::string sound = *files_.Content(path);
    for (size_t i = 0; i < sound.size(); i += kStep) {
      SCOPED_TRACE(path + " byte " + std::to_string(i) + " of " + std::to_string(sound.size()));
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
      const auto files = files_.CrashClone(CrashMode::kAll);
      ASSERT_OK(files->SetContent(path, damaged));
      const uint64_t before = live_bytes;
      peak_bytes = before;
      const bool told = !Told(files.get(), path).empty();
      EXPECT_LE(peak_bytes - before, memory_bytes_ + damaged.size() + kReadAllowance);
      if (path.ends_with(".ksst")) {
        ExpectNamed(VerifyStoredFile(files.get(), path, {}), path);
      } else {
        EXPECT_TRUE(told);
      }
      ++flips;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(flips, 0u);
  Count(flips, "flips of files that name value files detected");
}

}  // namespace
}  // namespace lava::testing
