// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/manifest.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/coding.h"
#include "base/framing.h"
#include "base/guarded.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version_edit.h"

namespace lava {
namespace {

constexpr std::string_view kCurrent = Manifest::kCurrentName;
constexpr std::string_view kCurrentTemporary = "CURRENT.tmp";
constexpr std::string_view kPrefix = "MANIFEST-";
constexpr std::string_view kManifestMagic = "LAVAMANI";
constexpr uint64_t kManifestBytesMax = 4ull << 30;
constexpr uint64_t kCurrentBytesMax = 4096;
// CURRENT is one framed record too; its log id is fixed.
constexpr uint64_t kCurrentFileId = 0x4c41564143555252;

enum FrameType : uint8_t { kHeader = 1, kEdit = 2, kCurrentRecord = 3 };

bool ParseNumber(std::string_view name, uint64_t* number) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), *number);
  return error == std::errc() && end == name.data() + name.size();
}

/// Removes the format version from the front of a file's first record and checks that this library
/// can read that version.
Status CheckVersion(const std::string& path, Slice* payload) {
  uint64_t version = 0;
  if (!GetVarint64(payload, &version) || version == 0)
    return Status::Corruption("manifest: " + path + " has no format version, at offset 0");
  if (version > kManifestFormatVersion)
    return Status::NotSupported("manifest: " + path + " has format " + std::to_string(version) +
                                ", this library reads up to " +
                                std::to_string(kManifestFormatVersion));
  return Status::OK();
}

Status CheckHeader(const std::string& path, const Frame& frame) {
  Slice rest = frame.payload;
  if (frame.type != kHeader || !rest.starts_with(kManifestMagic))
    return Status::Corruption("manifest: " + path + " does not start with its magic, at offset 0");
  rest.remove_prefix(kManifestMagic.size());
  LAVA_RETURN_IF_ERROR(CheckVersion(path, &rest));
  if (!rest.empty())
    return Status::Corruption("manifest: " + path + " has a header too long, at offset 0");
  return Status::OK();
}

}  // namespace

std::string Manifest::FileName(uint64_t number) {
  return std::string(kPrefix) + std::to_string(number);
}

std::string Manifest::PathOf(const std::string& name) const {
  return options_.directory + "/" + name;
}

bool Manifest::IsOne(const std::string& name) {
  uint64_t number = 0;
  return name == kCurrent || name == kCurrentTemporary || ParseNumber(name, &number);
}

bool Manifest::IsObsolete(const std::string& name) const {
  if (name == kCurrentTemporary) return true;
  uint64_t number = 0;
  return ParseNumber(name, &number) && number != number_;
}

std::unique_ptr<Manifest> Manifest::Fresh(const Options& options) {
  return std::unique_ptr<Manifest>(new Manifest(options));
}

Result<std::unique_ptr<Manifest>> Manifest::Recover(const Options& options) {
  std::unique_ptr<Manifest> manifest(new Manifest(options));
  uint64_t durable_bytes = 0;
  LAVA_RETURN_IF_ERROR(manifest->ReadCurrent(&durable_bytes));
  const Status status = manifest->ReadNumbered(durable_bytes);
  if (status.IsNotFound())
    return Status::Corruption("manifest: CURRENT in " + options.directory + " names " +
                              FileName(manifest->number_) + ", which does not exist");
  LAVA_RETURN_IF_ERROR(status);
  return manifest;
}

Result<std::unique_ptr<Manifest>> Manifest::ReadLog(const Options& options, uint64_t number) {
  std::unique_ptr<Manifest> manifest(new Manifest(options));
  manifest->number_ = manifest->highest_number_ = number;
  LAVA_RETURN_IF_ERROR(manifest->ReadNumbered(0));
  return manifest;
}

Status Manifest::ReadNumbered(uint64_t durable_bytes) {
  LAVA_DCHECK(log_ == nullptr && state_.tables.empty());
  const std::string path = PathOf(FileName(number_));
  LAVA_ASSIGN_OR_RETURN(const uint64_t size, options_.file_system->FileSize(path));
  LAVA_ASSIGN_OR_RETURN(const std::string bytes,
                        options_.file_system->ReadWhole(path, kManifestBytesMax));
  // A short read must not be mistaken for a log that a power cut truncated.
  if (bytes.size() < size)
    return Status::IOError("manifest: read " + std::to_string(bytes.size()) + " bytes of " + path +
                           ", which has " + std::to_string(size) + ": open it again");
  log_info_.bytes = bytes.size();
  LAVA_RETURN_IF_ERROR(Replay(bytes, durable_bytes));
  files_ = FileTable();
  return Status::OK();
}

Status Manifest::ReadCurrent(uint64_t* durable_bytes) {
  const std::string path = PathOf(std::string(kCurrent));
  LAVA_ASSIGN_OR_RETURN(const std::string bytes,
                        options_.file_system->ReadWhole(path, kCurrentBytesMax));
  FrameReader reader(bytes,
                     {.name = path, .file_id = kCurrentFileId, .durable_bytes = bytes.size()});
  Frame frame;
  const FrameReader::Outcome outcome = reader.Next(&frame);
  if (outcome == FrameReader::Outcome::kCorruption) return reader.status();
  if (outcome != FrameReader::Outcome::kFrame || frame.type != kCurrentRecord)
    return Status::Corruption("manifest: " + path + " holds no name, at offset 0");
  Slice rest = frame.payload;
  LAVA_RETURN_IF_ERROR(CheckVersion(path, &rest));
  uint64_t synced = 0;
  if (!GetVarint64(&rest, &number_) || !GetVarint64(&rest, durable_bytes) ||
      !GetVarint64(&rest, &synced) || synced > 1 || !rest.empty())
    return Status::Corruption("manifest: " + path + " holds no number, at offset 0");
  highest_number_ = number_;
  log_was_synced_ = synced == 1;
  return Status::OK();
}

Status Manifest::Replay(Slice bytes, uint64_t durable_bytes) {
  const std::string path = PathOf(FileName(number_));
  // Edits are synced one by one: a power cut may damage only the last one, which was not
  // acknowledged.
  FrameReader reader(
      bytes, {.name = path,
              .file_id = number_,
              .durable_bytes = durable_bytes,
              .tail_rule = log_was_synced_ ? TailRule::kLastUnsynced : TailRule::kTruncated});
  for (bool first = true;; first = false) {
    Frame frame;
    switch (reader.Next(&frame)) {
      case FrameReader::Outcome::kCorruption:
        return reader.status();
      case FrameReader::Outcome::kTornTail:
      case FrameReader::Outcome::kEnd:
        if (reader.next_sequence() < 2)
          return Status::Corruption("manifest: " + path + " has no snapshot, ends at offset " +
                                    std::to_string(reader.offset()));
        log_info_.sound_bytes = reader.offset();
        log_info_.edits = reader.next_sequence() - 1;
        return Status::OK();
      case FrameReader::Outcome::kFrame:
        break;
    }
    if (first) {
      LAVA_RETURN_IF_ERROR(CheckHeader(path, frame));
      continue;
    }
    if (frame.type != kEdit)
      return Status::Corruption("manifest: " + path + " has a record of unknown type " +
                                std::to_string(frame.type) + " at offset " +
                                std::to_string(frame.offset));
    LAVA_RETURN_IF_ERROR(
        ReplayEdit(frame.payload, frame.offset + kFrameHeaderBytes).WithContext(path));
  }
}

Status Manifest::ReplayEdit(Slice payload, uint64_t offset) {
  VersionEdit edit;
  LAVA_RETURN_IF_ERROR(DecodeEdit(payload, offset, &files_, &edit));
  const Status applied = ApplyEdit(edit, &state_);
  if (applied.ok()) return applied;
  return Status::Corruption(std::string(applied.message()) + ", in the edit at offset " +
                            std::to_string(offset));
}

Status Manifest::LogAndApply(const VersionEdit& edit) {
  if (!failed_sync_.ok()) return failed_sync_;
  ManifestState next = state_;
  LAVA_RETURN_IF_ERROR(ApplyEdit(edit, &next));
  // The second limit prevents a new snapshot for each edit once a snapshot exceeds the first.
  const bool new_log =
      log_ == nullptr || log_->size() >= std::max(options_.roll_over_bytes, 2 * snapshot_bytes_);
  const Status status = Guarded("log to the manifest of", options_.directory,
                                [&] { return new_log ? StartLog(next) : AppendEdit(edit); });
  if (!status.ok()) {
    log_.reset();
    return status;
  }
  LAVA_DCHECK(log_ != nullptr && frames_ != nullptr);
  LAVA_DCHECK(number_ <= highest_number_);
  LAVA_DCHECK(failed_sync_.ok());
  state_ = std::move(next);
  return Status::OK();
}

Status Manifest::AppendEdit(const VersionEdit& edit) {
  LAVA_DCHECK(log_ != nullptr && frames_ != nullptr);
  LAVA_DCHECK(failed_sync_.ok());
  std::string payload, frame;
  EncodeEdit(edit, &payload);
  LAVA_RETURN_IF_ERROR(frames_->Append(kEdit, payload, &frame));
  LAVA_RETURN_IF_ERROR(log_->Append(frame));
  LAVA_RETURN_IF_ERROR(log_->Flush());
  if (!options_.sync) return Status::OK();
  const Status status = log_->Sync();
  // The kernel may have dropped the dirty pages: the device's contents are unknown from here on.
  if (!status.ok()) failed_sync_ = status.WithContext("manifest is read-only until reopened");
  return status;
}

Status Manifest::StartLog(const ManifestState& next) {
  const uint64_t number = std::max(highest_number_, number_) + 1;
  highest_number_ = number;
  const std::string path = PathOf(FileName(number));
  fs::FileSystem* fs = options_.file_system;
  auto frames = std::make_unique<FrameWriter>(number);
  std::string header(kManifestMagic), payload, bytes;
  PutVarint32(&header, kManifestFormatVersion);
  EncodeEdit(SnapshotOf(next), &payload);
  LAVA_RETURN_IF_ERROR(frames->Append(kHeader, header, &bytes));
  LAVA_RETURN_IF_ERROR(frames->Append(kEdit, payload, &bytes));
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::AppendFile> log, fs->CreateFromReserve(path, 4096));
  Status status = log->Append(bytes);
  if (status.ok()) status = options_.sync ? log->Sync() : log->Flush();
  // The log's name must be durable before CURRENT names it: directories do not keep order.
  if (status.ok() && options_.sync) status = fs->SyncDirectory(options_.directory);
  if (status.ok()) status = PointCurrent(number, bytes.size());
  if (!status.ok()) {
    // If only the last step failed, CURRENT may already name the new log: the log is not removed.
    log.reset();
    return status;
  }
  const uint64_t previous = number_;
  number_ = number;
  snapshot_bytes_ = bytes.size();
  log_ = std::move(log);
  frames_ = std::move(frames);
  // A failure is harmless: the next open removes the old log.
  if (previous != 0) static_cast<void>(fs->Remove(PathOf(FileName(previous))));
  return Status::OK();
}

Status Manifest::PointCurrent(uint64_t number, uint64_t durable_bytes) {
  fs::FileSystem* fs = options_.file_system;
  LAVA_DCHECK(durable_bytes > 0);
  const std::string temporary = PathOf(std::string(kCurrentTemporary));
  std::string payload, bytes;
  PutVarint64(&payload, kManifestFormatVersion);
  PutVarint64(&payload, number);
  PutVarint64(&payload, durable_bytes);
  PutVarint64(&payload, options_.sync ? 1 : 0);
  LAVA_RETURN_IF_ERROR(FrameWriter(kCurrentFileId).Append(kCurrentRecord, payload, &bytes));
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::AppendFile> file,
                        fs->CreateFromReserve(temporary, 512));
  LAVA_RETURN_IF_ERROR(file->Append(bytes));
  LAVA_RETURN_IF_ERROR(options_.sync ? file->Sync() : file->Flush());
  LAVA_RETURN_IF_ERROR(file->Close());
  LAVA_RETURN_IF_ERROR(fs->Rename(temporary, PathOf(std::string(kCurrent))));
  return options_.sync ? fs->SyncDirectory(options_.directory) : Status::OK();
}

}  // namespace lava
