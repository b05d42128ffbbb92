// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs/block_device.h"
#include "lavafs/image.h"

namespace lava::lavafs {

/// A read-only view of a volume. A process that has mounted it may continue to write; the view then
/// shows the state that was written to the journal.
class VolumeView {
 public:
  static Result<VolumeView> Open(const std::string& path);

  struct File {
    std::string directory, name;
    uint32_t inode = 0;
    uint64_t size = 0;
    bool open_ended = false;
    uint64_t extents_bytes = 0;
  };
  /// Ordered by directory and name; of one directory if `directory` is not empty.
  std::vector<File> Files(const std::string& directory = {}) const;
  std::vector<std::string> Directories() const { return image_.metadata.DirectoryNames(); }
  /// path: directory/name. Errors: NotFound.
  Result<File> Find(const std::string& path) const;
  /// Reads in pieces; for an open-ended file, the whole content of its extents.
  Status ReadFile(const File& file, const std::function<Status(Slice)>& to) const;

  struct Finding {
    std::string what;
    bool is_damage = false;  // otherwise the next mount repairs it, or it is only reported
  };
  /// Problems that ReadImage() accepts but that should be known.
  Result<std::vector<Finding>> Check() const;

  const Image& image() const { return image_; }
  fs::BlockDevice* device() const { return device_.get(); }

 private:
  Result<std::optional<Finding>> StrayIn(uint32_t extent) const;

  std::unique_ptr<fs::BlockDevice> device_;
  Image image_;
};

}  // namespace lava::lavafs
