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

/// A volume as it lies there, read only. A process that has it mounted may write on: what is seen
/// then is what it had written to the journal.
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
  /// By directory and name; of one directory if that is not empty.
  std::vector<File> Files(const std::string& directory = {}) const;
  std::vector<std::string> Directories() const { return image_.metadata.DirectoryNames(); }
  /// path: directory/name. Errors: NotFound.
  Result<File> Find(const std::string& path) const;
  /// In pieces; of an open-ended file all that its extents hold.
  Status ReadFile(const File& file, const std::function<Status(Slice)>& to) const;

  struct Finding {
    std::string what;
    bool is_damage = false;  // else it is mended by the next mount, or only told
  };
  /// What ReadImage() does not refuse but ought to be known.
  Result<std::vector<Finding>> Check() const;

  const Image& image() const { return image_; }
  fs::BlockDevice* device() const { return device_.get(); }

 private:
  Result<std::optional<Finding>> StrayIn(uint32_t extent) const;

  std::unique_ptr<fs::BlockDevice> device_;
  Image image_;
};

}  // namespace lava::lavafs
