// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "process/pin_marker.h"
#include "process/shared_volume.h"
#include "testing/mem_disk.h"
#include "testing/mem_file_system.h"
#include "testing/mounted_volume.h"

// A pin has two parts: its files in a volume, and its marker outside. A power cut may lose the
// unsynced content of each.
namespace lava {
namespace {

constexpr char kMarker[] = "/local/checkpoint/volume-pin";
constexpr uint64_t kBytes = 16 << 20;

class PinnedVolume {
 public:
  PinnedVolume(std::unique_ptr<testing::MemDisk> disk, fs::FileSystem* outside, uint64_t boot,
               bool power_safe)
      : disk_(std::move(disk)) {
    lavafs::MountOptions options;
    options.boot = options.mount = boot;
    options.power_safe = power_safe;
    auto mounted = lavafs::Volume::Mount(disk_->Open(), options);
    testing::MustBeOk(mounted.status());
    volume_ = std::make_unique<SharedVolumeImpl>(SharedVolumeImpl::Setup{
        .path = "/volumes/volume-0.lavafs",
        .volume = std::move(mounted).value(),
        .jobs = std::make_shared<VolumeJobs>([](std::function<void()> job) { job(); }),
        .capacity_setting = {},
        .power_safe = power_safe,
        .outside = outside});
  }
  testing::MemDisk& disk() { return *disk_; }
  SharedVolumeImpl* operator->() { return volume_.get(); }

  std::string Content() {
    const auto file = volume_->OpenFile(PinDirectory(kMarker), "file");
    if (!file.ok()) return file.status().ToString();
    std::string content((*file)->size(), '\0');
    testing::MustBeOk((*file)->Read(0, content.size(), content.data()));
    return content;
  }

 private:
  const std::unique_ptr<testing::MemDisk> disk_;
  std::unique_ptr<SharedVolumeImpl> volume_;
};

std::unique_ptr<testing::MemDisk> Formatted() {
  auto disk = std::make_unique<testing::MemDisk>(kBytes, kBytes);
  testing::FormatVolume(disk->Open().get(), {.capacity_bytes = kBytes, .initial_bytes = kBytes});
  return disk;
}

TEST(PinCrash, APinOfAPowerSafeVolumeOutlivesAPowerCutWithItsMarker) {
  testing::MemFileSystem outside;
  testing::MustBeOk(outside.CreateDurableDirectory("/local/checkpoint"));
  PinnedVolume pinned(Formatted(), &outside, 1, true);
  {
    auto file = pinned->CreateFile("instance", "file");
    testing::MustBeOk(file.status());
    testing::MustBeOk((*file)->Append("content"));
    testing::MustBeOk((*file)->Close());
  }
  testing::MustBeOk(pinned->Pin(kMarker, "instance", std::vector<std::string>{"file"}));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto mode = seed == 0   ? testing::CrashMode::kSyncedOnly
                      : seed == 1 ? testing::CrashMode::kAll
                                  : testing::CrashMode::kTorn;
    const auto left = outside.CrashClone(mode, seed);
    PinnedVolume again(pinned.disk().AfterPowerCut(seed), left.get(), 2, true);
    testing::MustBeOk(again->RemoveAllButPins());
    EXPECT_EQ(again->figures().pins, 1u)
        << "RemoveAllButPins() would remove a pin without a marker";
    EXPECT_EQ(again.Content(), "content");
    const Result<PinMarker> marker = ReadPinMarker(left.get(), kMarker);
    ASSERT_TRUE(marker.ok()) << marker.status().ToString();
    EXPECT_EQ(marker->uuid, again->uuid());
    EXPECT_FALSE(*left->Exists(std::string(kMarker) + ".new"));
  }
}

// The marker is not synced: whatever a power cut leaves, a pin is complete or reported as none.
TEST(PinCrash, AMarkerThatAPowerCutTookOrToreOpensNothing) {
  testing::MemFileSystem outside;
  testing::MustBeOk(outside.CreateDurableDirectory("/local/checkpoint"));
  const uint64_t before = outside.mutating_calls();
  testing::MustBeOk(
      WritePinMarker(&outside, kMarker, {.volume_path = "/v", .uuid = {1, 2}}, false));
  EXPECT_EQ(outside.mutating_calls() - before, 4u)
      << "the four calls create, write, link and remove the first name: no sync";
  uint64_t whole = 0, lost = 0;
  for (uint64_t state = 0; state < outside.CrashStates(); ++state) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const auto left = outside.CrashCloneAt(state, seed);
      const Result<PinMarker> marker = ReadPinMarker(left.get(), kMarker);
      EXPECT_TRUE(marker.ok() || marker.status().IsNotFound() || marker.status().IsCorruption());
      ++(marker.ok() ? whole : lost);
    }
  }
  EXPECT_GT(whole, 0u);
  EXPECT_GT(lost, 0u);
}

}  // namespace
}  // namespace lava
