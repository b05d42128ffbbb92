// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "process/pin_marker.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "base/checksum.h"
#include "fs/file_system.h"
#include "fs/posix_error.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/format.h"

namespace lava {
namespace {

constexpr Slice kFirstLine = "lava volume pin 1";
constexpr Slice kPinPrefix = "pin:";
constexpr uint64_t kBytesMax = 8 << 10;

std::string Hex(uint32_t number) {
  std::string text(8, '0');
  char digits[8];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  text.replace(text.size() - static_cast<size_t>(end - digits), std::string::npos,
               std::string(digits, end));
  return text;
}

// The content without the checksum's line.
std::string Body(const std::string& volume_path, const std::string& uuid) {
  return std::string(kFirstLine) + "\n" + volume_path + "\n" + uuid + "\n";
}

bool ParseHex(Slice text, uint64_t* number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *number, 16);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

// Accepts only the output of ToString().
bool ParseUuid(Slice text, lavafs::Uuid* uuid) {
  return text.size() == 32 && ParseHex(text.substr(0, 16), &uuid->high) &&
         ParseHex(text.substr(16), &uuid->low) && ToString(*uuid) == text;
}

}  // namespace

std::string PinDirectory(const std::string& marker) { return std::string(kPinPrefix) + marker; }

bool IsPin(Slice directory) { return directory.starts_with(kPinPrefix); }

bool IsStalePin(fs::FileSystem* files, Slice directory) {
  if (!IsPin(directory)) return false;
  const std::string marker(directory.substr(kPinPrefix.size()));
  const Result<bool> there = files->Exists(marker);
  return there.ok() && !*there;
}

Status WritePinMarker(fs::FileSystem* files, const std::string& path, const PinMarker& marker,
                      bool sync) {
  if (path.empty() || path[0] != '/') {
    return Status::InvalidArgument("pin by the marker " + path + ": its path must be absolute");
  }
  if (marker.volume_path.find('\n') != std::string::npos) {
    return Status::InvalidArgument("pin in volume " + marker.volume_path +
                                   ": its path must be on one line");
  }
  const std::string body = Body(marker.volume_path, ToString(marker.uuid));
  const std::string temporary = path + ".new";
  LAVA_ASSIGN_OR_RETURN(const auto file, files->Create(temporary, 4096));
  Status done = file->Append(body + Hex(Crc32c(body)) + "\n");
  if (done.ok() && sync) done = file->Sync();
  if (done.ok()) done = file->Close();
  // A rename would replace an existing marker.
  if (done.ok()) done = files->Link(temporary, path);
  const Status removed = files->Remove(temporary);
  if (done.ok()) done = removed;
  if (done.ok() && sync) done = files->SyncDirectory(fs::DirectoryOf(path));
  return done;
}

Result<PinMarker> ReadPinMarker(fs::FileSystem* files, const std::string& path) {
  LAVA_ASSIGN_OR_RETURN(const std::string content, files->ReadWhole(path, kBytesMax));
  std::vector<std::string> lines;
  for (size_t at = 0; at < content.size() && lines.size() < 5;) {
    const size_t end = std::min(content.find('\n', at), content.size());
    lines.push_back(content.substr(at, end - at));
    at = end + 1;
  }
  PinMarker marker;
  const bool whole = lines.size() == 4 && lines[0] == kFirstLine && !lines[1].empty() &&
                     lines[1][0] == '/' && ParseUuid(lines[2], &marker.uuid);
  if (!whole ||
      content != Body(lines[1], lines[2]) + Hex(Crc32c(Body(lines[1], lines[2]))) + "\n") {
    return Status::Corruption("read the pin " + path + ": its " + std::to_string(content.size()) +
                              " bytes from offset 0 on are no marker of files in a volume");
  }
  marker.volume_path = lines[1];
  return marker;
}

}  // namespace lava
