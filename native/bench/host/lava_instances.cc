// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "bench/checked_calls.h"
#include "bench/host/instances.h"
#include "lava/db.h"
#include "lava/host.h"

namespace lava::bench {
namespace {

constexpr const char* kMetadataFile = "/metadata";

class Lava final : public Instances {
 public:
  explicit Lava(const HostSetup& setup) : setup_(setup) {
    Host::Get().SetBackgroundThreads(setup.threads);
    lease_ = Must(Host::Get().Acquire(setup.memory_bytes, setup.write_buffer_ratio));
    if (setup.on_volume)
      volume_ = Must(Host::Get().OpenVolume(setup.directory, {.direct_io = false}));
  }

  void Open(size_t instance) override { OpenFrom(instance, {}); }
  void Close(size_t instance) override {
    UntilDone([&] { return opened_[instance].db->Close(); });
    opened_[instance].db.reset();
  }
  void Put(size_t instance, std::string_view key, std::string_view value) override {
    const Opened& it = opened_[instance];
    UntilDone([&] { return it.db->Put(it.table, {key}, value); });
  }
  size_t Get(size_t instance, std::string_view key) override {
    thread_local PinnedValue value;
    const Opened& it = opened_[instance];
    const Status status = it.db->Get(it.table, {key}, &value);
    if (status.IsNotFound()) return 0;
    Check(status);
    const size_t bytes = value.data().size();
    value.Reset();  // its pin must not outlive the instance
    return bytes;
  }
  size_t Scan(size_t instance, std::string_view from, uint32_t count) override {
    thread_local ScanPage page;
    const Opened& it = opened_[instance];
    ScanRequest request;
    std::string last(from);
    size_t bytes = 0;
    for (request.entries_max = count; request.entries_max > 0;) {
      request.lower = last;
      Check(it.db->Scan(it.table, request, &page));
      bytes += page.bytes.size() - size_t{8} * page.entries;
      if (page.done) break;
      request.entries_max -= page.entries;
      last = page.last_key;
      request.lower_exclusive = true;
    }
    return bytes;
  }

  void Flush(size_t instance) override {
    UntilDone(
        [&, flush = FlushTicket()]() mutable { return opened_[instance].db->Flush(100, &flush); });
  }
  void CheckpointAll(size_t count, const std::string& to) override {
    std::vector<std::shared_ptr<Snapshot>> snapshots;
    for (size_t n = 0; n < count; ++n) snapshots.push_back(Must(opened_[n].db->TakeSnapshot()));
    for (size_t n = 0; n < count; ++n) {
      UntilDone([&] { return snapshots[n]->WaitFlushed(100); });
      std::vector<Snapshot::File> files;
      std::string metadata;
      Check(snapshots[n]->Files(&files, &metadata));
      const std::string directory = to + "/" + std::to_string(n);
      std::filesystem::create_directories(directory);
      for (const Snapshot::File& file : files) Link(PathOf(n), directory, file.name);
      std::ofstream(directory + kMetadataFile, std::ios::binary) << metadata;
      snapshots[n].reset();
    }
  }
  void Split(const std::string& checkpoint, size_t lower, size_t upper) override {
    std::ifstream file(checkpoint + kMetadataFile, std::ios::binary);
    ImportSource source;
    source.metadata.assign(std::istreambuf_iterator<char>(file), {});
    const auto half = static_cast<uint32_t>(setup_.partitions / 2);
    for (const size_t instance : {lower, upper}) {
      for (const std::string& name : DataFilesOf(checkpoint))
        Link(checkpoint, PathOf(instance), name);
      source.partition_first = instance == lower ? 0 : half;
      source.partition_last =
          instance == lower ? half - 1 : static_cast<uint32_t>(setup_.partitions - 1);
      OpenFrom(instance, std::span(&source, 1));
    }
  }

  void Settle() override {
    // Starts all flushes first, then waits for each.
    std::vector<FlushTicket> flushes(opened_.size());
    for (size_t n = 0; n < opened_.size(); ++n) {
      if (opened_[n].db == nullptr) continue;
      if (const Status status = opened_[n].db->Flush(0, &flushes[n]); !status.IsBusy())
        Check(status);
    }
    for (size_t n = 0; n < opened_.size(); ++n) {
      if (opened_[n].db != nullptr)
        UntilDone([&] { return opened_[n].db->Flush(100, &flushes[n]); });
    }
    for (int quiet = 0; quiet < 5; quiet = Busy() ? 0 : quiet + 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  Tracked tracked() const override {
    const HostStatistics s = Host::Get().statistics();
    return {s.charged_bytes,
            {{"cache", s.cache_used_bytes},
             {"cache pinned", s.cache_pinned_bytes},
             {"memtables", s.memtable_bytes},
             {"table readers", s.table_reader_bytes},
             {"file buffers", s.file_buffer_bytes}}};
  }

 private:
  struct Opened {
    std::unique_ptr<DB> db;
    Table* table = nullptr;
  };
  // On a volume this is the name of a directory in it.
  std::string PathOf(size_t instance) const {
    const std::string number = std::to_string(instance);
    return volume_ ? number : setup_.directory + "/" + number;
  }
  void Link(const std::string& from, const std::string& to, const std::string& name) {
    if (volume_) return Check(volume_->LinkFile(from, name, to, name));
    std::filesystem::create_directories(to);
    std::filesystem::create_hard_link(from + "/" + name, to + "/" + name);
  }
  std::vector<std::string> DataFilesOf(const std::string& checkpoint) {
    if (volume_) return Must(volume_->ListFiles(checkpoint));
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoint)) {
      std::string name = entry.path().filename().string();
      if ("/" + name != kMetadataFile) names.push_back(std::move(name));
    }
    return names;
  }
  void OpenFrom(size_t instance, std::span<const ImportSource> imports) {
    if (opened_.size() <= instance) opened_.resize(instance + 1);
    DBOptions options;
    options.lease = lease_;
    options.volume = volume_;
    if (!imports.empty()) {
      options.partition_first = imports[0].partition_first;
      options.partition_last = imports[0].partition_last;
    }
    Opened& it = opened_[instance];
    it.db = Must(DB::Open(options, PathOf(instance), imports));
    it.table = Must(it.db->CreateTable("bench", {.separation_bytes = setup_.separation_bytes}));
  }
  bool Busy() const {
    for (const Opened& it : opened_) {
      if (it.db == nullptr) continue;
      const DBStatistics s = it.db->statistics();
      if (s.running_flushes + s.running_compactions + s.running_collections > 0) return true;
    }
    return false;
  }

  const HostSetup setup_;
  std::shared_ptr<Lease> lease_;
  std::shared_ptr<SharedVolume> volume_;
  std::vector<Opened> opened_;
};

}  // namespace

std::unique_ptr<Instances> LavaInstances(const HostSetup& setup) {
  return std::make_unique<Lava>(setup);
}

}  // namespace lava::bench
