#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>

#include "db_test_util.h"
#include "testing/random.h"

// Drives an instance and the model with the same random history: writes of all kinds, reads, scans
// in pages, snapshots, flushes and compactions in any order, restarts, and imports of two
// snapshots' files with clipped partitions into a new instance, with which the history goes on.
namespace lava::testing {
namespace {

constexpr uint32_t kKeyBytes = 2;  // behind the partition; a map's prefix ends there

struct Shape {
  const char* name;
  void (*apply)(DBOptions* options);
  SimExecutor::Order order = SimExecutor::Order::kRandom;
};

void Tiny(DBOptions* o) {
  o->memtable_bytes = 8 << 10;
  o->block_bytes = 128;
  o->index_partition_bytes = 256;
  o->target_file_bytes = 2 << 10;
  o->level1_bytes = 4 << 10;
  o->level_multiplier = 2;
  o->level_count = 4;
  o->l0_compaction_trigger = 2;
  o->l0_stall_trigger = 12;
}
const Shape kShapes[] = {
    {"tiny", Tiny},
    {"no filters, no compression, two partition bytes",
     [](DBOptions* o) {
       Tiny(o);
       o->filter_bits_per_key = 0;
       o->compression = o->bottom_compression = Compression::kNone;
       o->partition_bytes = 2;
     }},
    {"large blocks, zstd below",
     [](DBOptions* o) {
       Tiny(o);
       o->block_bytes = 4096;
       o->bottom_compression = Compression::kZstd;
       o->target_file_bytes = 64 << 10;
       o->sync = true;
     }},
    {"memtables of some records, few levels",
     [](DBOptions* o) {
       Tiny(o);
       o->memtable_bytes = 1;
       o->level_count = 2;
       o->sealed_runs_max = 2;
     }},
};

class History {
 public:
  History(uint64_t seed, const Shape& shape) : random_(seed), db_(seed) {
    shape.apply(&db_.options());
    bytes_ = db_.options().partition_bytes;
  }

  void Run(int operations) {
    ASSERT_OK(db_.Open());
    for (const char* name : {"value", "map", "list", "dropped"}) model_.CreateTable(name);
    for (int i = 0; i < operations && !::testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("operation " + std::to_string(i));
      Step();
    }
    if (::testing::Test::HasFailure()) return;
    CheckAll(model_, nullptr);
    for (Pinned& pinned : pinned_) CheckAll(pinned.model, pinned.snapshot.get());
    pinned_.clear();
    ASSERT_OK(db_.CompactAll());
    CheckAll(model_, nullptr);
    CheckNothingLeft();
    AddStatistics();
    std::cout << "  " << flushes_ << " flushes, " << compactions_ << " compactions, " << moves_
              << " moves, " << expected_entries_ << " entries compared" << std::endl;
    EXPECT_GT(flushes_, 10u);
    EXPECT_GT(compactions_, 5u);
  }

 private:
  struct Pinned {
    std::shared_ptr<Snapshot> snapshot;
    Model model;
  };

  static TableKind KindOf(const std::string& name) {
    if (name == "list") return TableKind::kList;
    return name == "value" ? TableKind::kValue : TableKind::kMap;
  }
  Table* TableOf(const std::string& name) { return db_.table(name, KindOf(name)); }
  uint32_t PrefixOf(const std::string& table) const {
    return table == "map" || table == "dropped" ? bytes_ + kKeyBytes : 0;
  }
  std::string RandomTable() {
    static const char* const kNames[] = {"value", "map", "map", "list", "dropped"};
    return kNames[random_.Uniform(5)];
  }
  std::string RandomPrefix() {
    std::string key;
    if (bytes_ == 2) key.push_back(0);
    key.push_back(static_cast<char>(random_.OneIn(8) ? random_.Uniform(16) : random_.Uniform(3)));
    key.push_back('k');
    key.push_back(static_cast<char>(random_.Uniform(12) * 20));
    return key;
  }
  std::string RandomKey(const std::string& table) {
    std::string key = RandomPrefix();
    if (PrefixOf(table) != 0 && !random_.OneIn(10))
      key.push_back(static_cast<char>(random_.Uniform(8)));
    return key;
  }
  std::string RandomValue(const std::string& table) {
    std::string bytes = random_.OneIn(60) ? random_.Bytes(6000) : random_.SkewedBytes(60);
    if (table != "list") return bytes;
    std::string value;
    AppendListSegment(ListSegment::kElement, bytes, &value);
    return value;
  }

  static void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }
  template <typename Call>
  void Write(Call call) {
    Check(db_.Finish(call));
  }

  void Step() {
    const uint64_t dice = random_.Uniform(1000);
    if (dice < 300) return Put();
    if (dice < 380) return Delete();
    if (dice < 460) return AppendTo();
    if (dice < 500) return DeletePrefix();
    if (dice < 515) return DeleteRange();
    if (dice < 560) return Batch();
    if (dice < 700) return Read();
    if (dice < 800) return ScanSome();
    if (dice < 930) return static_cast<void>(db_.executor().RunOne());
    if (dice < 950) return TakeSnapshot();
    if (dice < 970) return ReadSnapshot();
    if (dice < 980) return Check(db_.Flush());
    if (dice < 984) return Check(db_.CompactAll());
    if (dice < 988) return Drop();
    if (dice < 994) return Restart();
    if (dice < 997) return Import();
    CheckAll(model_, nullptr);
  }

  void Put() {
    const std::string t = RandomTable(), key = RandomKey(t), value = RandomValue(t);
    Write([&] { return db_->Put(TableOf(t), {key, PrefixOf(t)}, value); });
    model_.Put(t, {key, PrefixOf(t)}, value);
  }
  void Delete() {
    const std::string t = RandomTable(), key = RandomKey(t);
    Write([&] { return db_->Delete(TableOf(t), {key, PrefixOf(t)}); });
    model_.Delete(t, {key, PrefixOf(t)});
  }
  void AppendTo() {
    const std::string key = RandomKey("list"), value = RandomValue("list");
    Write([&] { return db_->Append(TableOf("list"), {key}, value); });
    model_.Append("list", {key}, value);
  }
  void DeletePrefix() {
    const std::string prefix = RandomPrefix();
    Write([&] { return db_->DeletePrefix(TableOf("map"), prefix); });
    model_.DeletePrefix("map", prefix);
  }
  void DeleteRange() {
    const std::string t = RandomTable();
    std::string lower = RandomKey(t), upper = RandomKey(t);
    // Mostly narrow, so that something is left.
    if (!random_.OneIn(6)) {
      upper = lower;
      upper.back() = static_cast<char>(upper.back() + 1);
      upper.push_back(static_cast<char>(random_.Uniform(8)));
    }
    if (upper < lower) std::swap(lower, upper);
    Write([&] { return db_->DeleteRange(TableOf(t), lower, upper); });
    model_.DeleteRange(t, lower, upper);
  }
  void Batch() {
    WriteBatch batch;
    for (uint64_t i = random_.Between(1, 12); i > 0; --i) {
      const std::string t = RandomTable(), key = RandomKey(t), value = RandomValue(t);
      const KeyRef ref{key, PrefixOf(t)};
      switch (random_.Uniform(t == "list" ? 3 : 2)) {
        case 0:
          batch.Put(TableOf(t), ref, value);
          model_.Put(t, ref, value);
          break;
        case 1:
          batch.Delete(TableOf(t), ref);
          model_.Delete(t, ref);
          break;
        default:
          batch.Append(TableOf(t), ref, value);
          model_.Append(t, ref, value);
      }
      if (random_.OneIn(8)) {
        const std::string prefix = RandomPrefix();
        batch.DeletePrefix(TableOf("map"), prefix);
        model_.DeletePrefix("map", prefix);
      }
    }
    Write([&] { return db_->Write(batch); });
  }

  void CheckKey(const std::string& t, const std::string& key, const Model& model,
                Snapshot* snapshot) {
    const auto expected = model.Get(t, key);
    PinnedValue value;
    const Status status = db_->Get(TableOf(t), {key, PrefixOf(t)}, &value, snapshot);
    ASSERT_EQ(status.ok(), expected.has_value()) << t << " " << status.ToString();
    if (expected) {
      ASSERT_EQ(value.data(), *expected) << t;
    }
    const Status contains = db_->Contains(TableOf(t), {key, PrefixOf(t)}, snapshot);
    ASSERT_EQ(contains.ok(), expected.has_value()) << t << " " << contains.ToString();
  }
  void Read() {
    const std::string t = RandomTable();
    CheckKey(t, RandomKey(t), model_, nullptr);
  }
  void CheckScan(const std::string& t, const ScanRequest& request, const Model& model,
                 Snapshot* snapshot) {
    std::vector<Model::Entry> entries;
    ASSERT_OK(db_.ScanAll(TableOf(t), request, &entries, snapshot));
    const std::vector<Model::Entry> expected = model.Scan(t, request);
    if (entries.size() != expected.size()) Explain(t, request, entries, expected, snapshot);
    ASSERT_EQ(entries.size(), expected.size()) << t;
    expected_entries_ += expected.size();
    for (size_t i = 0; i < entries.size(); ++i)
      ASSERT_TRUE(entries[i] == expected[i]) << t << ", entry " << i << " of " << entries.size();
  }
  // What a scan has too many or too few of, and whether other ways of reading agree with it.
  void Explain(const std::string& t, const ScanRequest& request,
               const std::vector<Model::Entry>& entries, const std::vector<Model::Entry>& expected,
               Snapshot* snapshot) {
    const auto hex = [](Slice bytes) {
      std::string out;
      for (const char c : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(c));
        out += digits;
      }
      return out;
    };
    std::cout << "scan of " << t << (snapshot != nullptr ? " in a snapshot" : "") << " from "
              << hex(request.lower) << (request.lower_exclusive ? " exclusive" : "") << " to "
              << hex(request.upper) << ", prefix " << request.prefix_bytes << ", page of "
              << request.entries_max << " or " << request.bytes_max << " bytes, skip "
              << request.skip_key_bytes << (request.keys_only ? ", keys only" : "") << std::endl;
    const auto tell = [&](const char* what, const Model::Entry& entry) {
      std::cout << "  " << what << " " << hex(entry.first);
      if (request.skip_key_bytes == 0)
        std::cout << ", Get: " << db_.Get(TableOf(t), entry.first, PrefixOf(t), snapshot).size()
                  << " bytes";
      std::cout << std::endl;
    };
    for (const Model::Entry& entry : entries)
      if (std::find(expected.begin(), expected.end(), entry) == expected.end())
        tell("too many:", entry);
    for (const Model::Entry& entry : expected)
      if (std::find(entries.begin(), entries.end(), entry) == entries.end())
        tell("missing:", entry);
    ScanRequest whole = request;
    whole.entries_max = 1u << 30;
    whole.bytes_max = 1u << 30;
    std::vector<Model::Entry> again;
    EXPECT_OK(db_.ScanAll(TableOf(t), whole, &again, snapshot));
    std::cout << "  in one page: " << again.size() << " entries; " << entries.size()
              << " in pages, expected " << expected.size() << std::endl;
  }
  void CheckPrefix(const std::string& t, const ScanRequest& request, const Model& model,
                   Snapshot* snapshot) {
    ScanRequest all;
    all.prefix_bytes = request.prefix_bytes;
    all.lower = request.lower.substr(0, request.prefix_bytes);
    const Status found = db_->ContainsPrefix(TableOf(t), all.lower, snapshot);
    ASSERT_TRUE(found.ok() || found.IsNotFound()) << t << " " << found.ToString();
    ASSERT_EQ(found.ok(), !model.Scan(t, all).empty()) << t;
  }
  void ScanSome(const Model& model, Snapshot* snapshot) {
    const std::string t = RandomTable();
    std::string lower = RandomKey(t), upper = RandomKey(t);
    ScanRequest request;
    request.entries_max = static_cast<uint32_t>(random_.Between(1, 40));
    request.bytes_max = random_.Between(1, 4096);
    request.keys_only = random_.OneIn(3);
    if (random_.OneIn(3)) request.skip_key_bytes = static_cast<uint32_t>(random_.Uniform(6));
    request.lower = lower;
    if (PrefixOf(t) != 0 && !random_.OneIn(3)) {
      request.prefix_bytes = PrefixOf(t);
      if (random_.OneIn(2)) request.lower = request.lower.substr(0, request.prefix_bytes);
    } else {
      if (upper < lower) std::swap(lower, upper);
      request.lower = random_.OneIn(4) ? Slice() : Slice(lower);
      request.upper = random_.OneIn(4) ? Slice() : Slice(upper);
    }
    if (request.prefix_bytes != 0) CheckPrefix(t, request, model, snapshot);
    if (!request.lower.empty()) request.lower_exclusive = random_.OneIn(4);
    CheckScan(t, request, model, snapshot);
  }
  void ScanSome() { ScanSome(model_, nullptr); }
  void CheckAll(const Model& model, Snapshot* snapshot) {
    for (const std::string& t : model.tables()) {
      CheckScan(t, {}, model, snapshot);
      for (const Model::Entry& entry : model.Scan(t, {})) CheckKey(t, entry.first, model, snapshot);
    }
  }

  void TakeSnapshot() {
    if (pinned_.size() >= 3) pinned_.pop_front();
    Result<std::shared_ptr<Snapshot>> snapshot = db_->TakeSnapshot();
    ASSERT_OK(snapshot.status());
    pinned_.push_back({*snapshot, model_});
  }
  void ReadSnapshot() {
    if (pinned_.empty()) return;
    Pinned& pinned = pinned_[random_.Uniform(pinned_.size())];
    for (int i = 0; i < 5; ++i) {
      const std::string t = RandomTable();
      CheckKey(t, RandomKey(t), pinned.model, pinned.snapshot.get());
      ScanSome(pinned.model, pinned.snapshot.get());
    }
  }
  void Drop() {
    ASSERT_OK(db_->DropTable(TableOf("dropped")));
    db_.Forget("dropped");
    model_.DropTable("dropped");
    model_.CreateTable("dropped");
  }
  void AddStatistics() {
    const DBStatistics statistics = db_->statistics();
    flushes_ += statistics.flushes;
    compactions_ += statistics.compactions;
    moves_ += statistics.trivial_moves;
  }
  void Restart() {
    AddStatistics();
    ASSERT_OK(db_.Flush());
    pinned_.clear();
    ASSERT_OK(db_.Open({}, directory_));
  }

  // Partitions below cut as the older of two snapshots has them, the others as the newer.
  void Import() {
    TakeSnapshot();
    ASSERT_FALSE(pinned_.empty());
    const Pinned older = pinned_.front(), newer = pinned_.back();
    pinned_.clear();
    const uint32_t cut = static_cast<uint32_t>(random_.Uniform(4));
    const std::string directory = "/db" + std::to_string(++directories_);
    ASSERT_OK(db_.memory().CreateDirectory(directory));
    std::vector<ImportSource> sources(2);
    sources[0].partition_first = 0;
    sources[0].partition_last = cut;
    sources[1].partition_first = cut + 1;
    sources[1].partition_last = 15;
    sources[0].metadata = LinkFiles(older.snapshot.get(), directory);
    sources[1].metadata = LinkFiles(newer.snapshot.get(), directory);
    if (random_.OneIn(2)) std::swap(sources[0], sources[1]);
    if (random_.OneIn(3)) sources.resize(1);
    model_ = Model();
    for (const char* name : {"value", "map", "list", "dropped"}) model_.CreateTable(name);
    for (const ImportSource& source : sources) {
      const bool is_older = source.partition_first == 0;
      CopyPartitions(is_older ? older.model : newer.model, source);
    }
    AddStatistics();
    ASSERT_OK(db_.Open(sources, directory));
    directory_ = directory;
    CheckAll(model_, nullptr);
  }
  std::string LinkFiles(Snapshot* snapshot, const std::string& directory) {
    EXPECT_OK(db_.FlushSnapshot(snapshot));
    std::vector<Snapshot::File> files;
    std::string metadata;
    EXPECT_OK(snapshot->Files(&files, &metadata));
    for (const Snapshot::File& file : files) {
      const std::string to = directory + "/" + file.name;
      if (*db_.memory().Exists(to)) continue;
      EXPECT_OK(db_.memory().Link(directory_ + "/" + file.name, to));
    }
    const Result<MetadataInfo> info = ReadMetadata(metadata);
    EXPECT_OK(info.status());
    if (info.ok()) {
      EXPECT_EQ(info->files.size(), files.size());
    }
    return metadata;
  }
  void CopyPartitions(const Model& from, const ImportSource& source) {
    for (const std::string& t : from.tables()) {
      for (const Model::Entry& entry : from.Scan(t, {})) {
        const auto partition = static_cast<uint8_t>(entry.first[bytes_ - 1]);
        if (partition >= source.partition_first && partition <= source.partition_last)
          model_.Put(t, {entry.first, PrefixOf(t)}, entry.second);
      }
    }
  }
  void CheckNothingLeft() {
    const DBStatistics statistics = db_->statistics();
    EXPECT_EQ(statistics.pinned_file_bytes, 0u);
    uint64_t files = 0;
    for (const std::string& path : db_.memory().Paths())
      files += path.starts_with(directory_ + "/") && path.ends_with(".ksst");
    EXPECT_EQ(files, statistics.live_files);
    EXPECT_EQ(statistics.background_errors, 0u);
  }

  Random random_;
  SimDB db_;
  Model model_;
  uint32_t bytes_ = 1;
  std::deque<Pinned> pinned_;
  std::string directory_ = "/db";
  int directories_ = 0;
  uint64_t flushes_ = 0, compactions_ = 0, moves_ = 0, expected_entries_ = 0;
};

uint64_t Environment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

class DBModel : public ::testing::TestWithParam<size_t> {};

TEST_P(DBModel, AgreesWithTheModel) {
  const Shape& shape = kShapes[GetParam()];
  const uint64_t first = Environment("LAVA_TEST_SEED", 1);
  const uint64_t count = Environment("LAVA_TEST_SEEDS", 2);
  const int operations = static_cast<int>(Environment("LAVA_TEST_OPERATIONS", 2000));
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string trace =
        std::string("LAVA_TEST_SEED=") + std::to_string(seed) + " (" + shape.name + ")";
    std::cout << trace << std::endl;
    SCOPED_TRACE(trace);
    History(seed, shape).Run(operations);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, DBModel, ::testing::Range<size_t>(0, std::size(kShapes)));

}  // namespace
}  // namespace lava::testing
