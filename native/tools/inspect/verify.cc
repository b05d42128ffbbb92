// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/verify.h"

#include <algorithm>

#include "base/checksum.h"
#include "db/verify_file.h"
#include "inspect/commands.h"
#include "inspect/text.h"
#include "value/value_reader.h"

namespace lava::inspect {
namespace {

Result<uint32_t> ChecksumOf(const fs::RandomFile& file) {
  constexpr uint64_t kPieceBytes = 1 << 20;
  std::string piece;
  uint32_t crc = 0;
  for (uint64_t at = 0; at < file.size(); at += piece.size()) {
    piece.resize(std::min(kPieceBytes, file.size() - at));
    LAVA_RETURN_IF_ERROR(file.Read(at, piece.size(), piece.data()));
    crc = Crc32c(piece, crc);
  }
  return crc;
}

/// Visits everything once and counts.
class Verification {
 public:
  explicit Verification(Store* store) : store_(*store), faults_(store->faults) {}

  void Run() {
    for (const Instance& instance : store_.instances) VerifyInstance(instance);
    for (const LooseFile& file : store_.loose) {
      const Status status = VerifyContent(file.path, file.kind == FileKind::kKeySst, {});
      const Result<uint64_t> bytes = store_.files.FileSize(file.path);
      Count(file.path, bytes.ok() ? bytes.value() : 0, {status}, nullptr);
    }
  }

  Json Report() {
    Json json{{"command", "verify"}};
    json["instances"] = Json::array();
    for (const Instance& instance : store_.instances) json["instances"].push_back(HeadOf(instance));
    json["files"] = std::move(files_);
    json["checked_files"] = checked_files_;
    json["checked_bytes"] = checked_bytes_;
    json["gone_files"] = gone_;
    json["faults"] = ToJson(faults_);
    json["notes"] = store_.notes;
    json["not_verified"] = Json::array();
    for (const Unverified& what : store_.unverified)
      json["not_verified"].push_back({{"path", what.path}, {"what", what.what}});
    return json;
  }

 private:
  void VerifyInstance(const Instance& instance) {
    std::vector<TableInfo> tables;
    for (const auto& [id, table] : instance.state.tables)
      tables.push_back({table.name, id, table.options});
    for (const NamedFile& file : FilesOf(instance)) VerifyNamed(instance, file, tables);
    for (const CheckedPart& part : instance.parts) VerifyPart(instance, part);
    if (!instance.unnamed.empty())
      store_.notes.push_back(instance.source + ": " + std::to_string(instance.unnamed.size()) +
                             " SSTs that the manifest does not name were not looked at");
  }

  void VerifyNamed(const Instance& instance, const NamedFile& file,
                   std::span<const TableInfo> tables) {
    const std::string path = instance.PathOf(file.name);
    std::vector<Status> found;
    uint64_t bytes = 0;
    const Result<std::unique_ptr<fs::RandomFile>> opened = store_.files.OpenRandom(path);
    if (opened.ok()) {
      bytes = opened.value()->size();
      found.push_back(VerifyWhole(*opened.value(), file.stored()));
      found.push_back(VerifyContent(path, file.key_file != nullptr, tables));
      if (found.back().ok()) found.push_back(VerifyIdentity(instance, file));
    } else {
      found.push_back(opened.status());
    }
    Count(path, bytes, found, &instance);
  }

  void VerifyPart(const Instance& instance, const CheckedPart& part) {
    if (part.path.empty()) {
      faults_.push_back({instance.source, std::nullopt, "Missing",
                         instance.source + ": " + part.what + " is not there"});
      return;
    }
    const Result<std::unique_ptr<fs::RandomFile>> opened = store_.files.OpenRandom(part.path);
    const Status status =
        opened.ok() ? VerifyWhole(*opened.value(), part.expected) : opened.status();
    if (!status.ok()) faults_.push_back(FaultOf(part.path, status));
    checked_bytes_ += opened.ok() ? opened.value()->size() : 0;
  }

  /// Compares the file with its entry in the manifest or metadata.
  static Status VerifyWhole(const fs::RandomFile& file, const StoredFile& expected) {
    if (file.size() != expected.bytes)
      return Status::Corruption(file.path() + ": the file ends at " + std::to_string(file.size()) +
                                ", it should have " + std::to_string(expected.bytes) + " bytes");
    LAVA_ASSIGN_OR_RETURN(const uint32_t crc, ChecksumOf(file));
    if (crc == expected.crc32c) return Status::OK();
    return Status::Corruption(file.path() + ": the CRC32C of the whole file is " +
                              HexNumber(crc, 8) + ", it should be " +
                              HexNumber(expected.crc32c, 8));
  }

  Status VerifyContent(const std::string& path, bool keys, std::span<const TableInfo> tables) {
    if (keys) return VerifyTableFile(&store_.files, path, tables);
    LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> file, store_.files.OpenRandom(path));
    LAVA_ASSIGN_OR_RETURN(const std::shared_ptr<ValueReader> reader,
                          ValueReader::Open(std::move(file), store_.cache.get(), nullptr, nullptr));
    return reader->VerifyAll();
  }

  /// Checks that its properties agree with the description.
  Status VerifyIdentity(const Instance& instance, const NamedFile& file) {
    const JobContext context = instance.Context(&store_.files, store_.cache.get());
    return file.key_file != nullptr ? OpenReader(context, *file.key_file).status()
                                    : OpenValueReader(context, *file.value_file).status();
  }

  void Count(const std::string& path, uint64_t bytes, const std::vector<Status>& found,
             const Instance* instance) {
    const std::string target = store_.files.TargetOf(path);
    const char* state = "ok";
    std::vector<std::string> said;
    for (const Status& status : found) {
      if (status.ok()) continue;
      if (status.IsNotFound() && instance != nullptr &&
          !StillNames(&store_.files, *instance, BaseOf(path))) {
        state = "gone";
        continue;
      }
      state = status.IsNotFound() ? "missing" : status.IsCorruption() ? "damaged" : "unreadable";
      Fault fault = FaultOf(target, status);
      if (status.IsNotFound()) fault.code = "Missing";
      const bool again = std::find(said.begin(), said.end(), fault.what) != said.end();
      said.push_back(fault.what);
      if (!again) faults_.push_back(std::move(fault));
    }
    if (state == std::string_view("gone")) {
      ++gone_;
    } else if (state != std::string_view("missing")) {
      ++checked_files_;
      checked_bytes_ += bytes;
    }
    Json file{{"path", target}, {"bytes", bytes}, {"state", state}};
    if (BaseOf(path) != BaseOf(target)) file["file"] = BaseOf(path);
    files_.push_back(std::move(file));
  }

  Store& store_;
  std::vector<Fault> faults_;
  Json files_ = Json::array();
  uint64_t checked_files_ = 0, checked_bytes_ = 0, gone_ = 0;
};

}  // namespace

Json Verify(Store* store) {
  Verification verification(store);
  verification.Run();
  return verification.Report();
}

}  // namespace lava::inspect
