// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/log.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "inspect/text.h"
#include "log/log_image.h"

namespace lava::inspect {
namespace {

using log::IndexEntry;
using log::LogicalLog;
using log::LogImage;
using log::Pack;

struct LocatedRecord {
  IndexEntry entry;
  log::DataFile* file = nullptr;
};

class LogInspection {
 public:
  LogInspection(const LogImage& image, const LogRequest& request, Show show)
      : image_(image), request_(request), show_(show) {}

  Json Report(const std::string& path) {
    Json json{{"command", "log"}, {"path", path}, {"checkpoint", image_.checkpoint}};
    json["logs"] = Logs();
    json["files"] = Files();
    const uint64_t memory = image_.index.memory_bytes();
    json["live_bytes"] = image_.index.live_bytes();
    json["index_memory_bytes"] = memory;
    json["left_over"] = image_.left_over;
    if (request_.verify) {
      Verify();
      json["checked_records"] = checked_records_;
      json["checked_bytes"] = checked_bytes_;
    }
    if (!request_.dump.empty()) json["records"] = Dump();
    json["faults"] = ToJson(faults_);
    return json;
  }

 private:
  Json Logs() const {
    Json logs = Json::array();
    for (const auto& [id, log] : image_.index.logs()) {
      uint64_t records = log->direct().size(), live = 0;
      for (const IndexEntry& entry : log->direct()) live += RecordBytes(id, entry);
      for (const Pack& pack : log->packs()) {
        records += pack.count;
        live += pack.data_bytes;
      }
      logs.push_back({{"id", id},
                      {"name", log->name()},
                      {"trimmed_to", log->trimmed_to()},
                      {"last_lsn", log->last_lsn()},
                      {"records_at_most", records},
                      {"packs", log->packs().size()},
                      {"live_bytes", live},
                      {"index_memory_bytes", log->memory_bytes()}});
    }
    return logs;
  }

  Json Files() const {
    Json files = Json::array();
    for (const auto& [number, info] : image_.index.files()) {
      files.push_back(
          {{"path", info.file->path()},
           {"bytes", info.bytes},
           {"record_bytes", info.record_bytes},
           {"live_bytes", info.live_bytes},
           {"garbage_bytes", info.record_bytes - std::min(info.record_bytes, info.live_bytes)},
           {"sealed", info.sealed}});
    }
    return files;
  }

  log::DataFile* FileOf(uint32_t number) const {
    return image_.index.files().at(number).file.get();
  }

  // The locations of a log's records in ascending order; an unreadable pack is a fault.
  std::vector<LocatedRecord> RecordsOf(const LogicalLog& log) {
    std::map<uint64_t, LocatedRecord> by_lsn;
    std::vector<IndexEntry> entries;
    for (const Pack& pack : log.packs()) {
      log::DataFile* const file = FileOf(pack.file);
      const Status status = file->ReadPack(pack, log.id(), &entries);
      if (!status.ok()) {
        faults_.push_back(FaultOf(pack.in_index_file ? file->index_path() : file->path(), status));
        continue;
      }
      for (const IndexEntry& entry : entries) {
        if (entry.lsn >= log.trimmed_to()) by_lsn[entry.lsn] = {entry, file};
      }
    }
    for (const IndexEntry& entry : log.direct()) {
      by_lsn[entry.lsn] = {entry, FileOf(image_.index.active())};
    }
    std::vector<LocatedRecord> found;
    for (const auto& [lsn, located] : by_lsn) found.push_back(located);
    return found;
  }

  void Verify() {
    for (const auto& [number, info] : image_.index.files()) {
      log::Directory directory;
      const Status status = info.sealed ? info.file->ReadDirectory(&directory) : Status::OK();
      if (!status.ok()) faults_.push_back(FaultOf(info.file->path(), status));
    }
    std::string data;
    for (const auto& [id, log] : image_.index.logs()) {
      for (const LocatedRecord& located : RecordsOf(*log)) {
        const Status status = located.file->ReadRecord(id, located.entry, &data);
        ++checked_records_;
        checked_bytes_ += RecordBytes(id, located.entry);
        if (!status.ok()) faults_.push_back(FaultOf(located.file->path(), status));
      }
    }
  }

  Json Dump() {
    Json records = Json::array();
    const LogicalLog* const log = const_cast<log::Index&>(image_.index).FindByName(request_.dump);
    std::string data;
    for (const LocatedRecord& located : RecordsOf(*log)) {
      if (located.entry.lsn < request_.from) continue;
      if (records.size() == request_.count) break;
      Json record{{"lsn", located.entry.lsn},
                  {"path", located.file->path()},
                  {"offset", located.entry.offset},
                  {"bytes", located.entry.bytes}};
      const Status status = located.file->ReadRecord(log->id(), located.entry, &data);
      if (!status.ok()) {
        faults_.push_back(FaultOf(located.file->path(), status));
      } else if (show_.values) {
        record["data"] = Escape(data);
      } else {
        record["hash"] = HexNumber(Hash64(data), 16);
      }
      records.push_back(std::move(record));
    }
    return records;
  }

  const LogImage& image_;
  const LogRequest& request_;
  const Show show_;
  std::vector<Fault> faults_;
  uint64_t checked_records_ = 0, checked_bytes_ = 0;
};

}  // namespace

Result<Json> LogReport(ReadOnlyFiles* files, const std::string& path, const LogRequest& request,
                       Show show) {
  LogImage image;
  const Status status = log::ReadLogImage(files, path, &image);
  if (status.ok() && image.fresh) {
    return Status::InvalidArgument(path + ": no log is there (no CHECKPOINT-<n>)");
  }
  if (status.IsNotFound()) return Status::InvalidArgument(std::string(status.message()));
  if (!status.ok()) {
    Json json{{"command", "log"}, {"path", path}};
    json["faults"] = ToJson(std::vector<Fault>{FaultOf(path, status)});
    return json;
  }
  if (!request.dump.empty() && image.index.FindByName(request.dump) == nullptr) {
    return Status::InvalidArgument(path + ": no logical log is called " + request.dump);
  }
  return LogInspection(image, request, show).Report(path);
}

}  // namespace lava::inspect
