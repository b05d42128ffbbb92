// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "process/volume_registry.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "fs/paths.h"
#include "fs/posix_block_device.h"
#include "fs/posix_test_util.h"
#include "process/pin_marker.h"

namespace lava {
namespace {

#define ASSERT_OK(expr)                                    \
  do {                                                     \
    const ::lava::Status ok_status_ = (expr);              \
    ASSERT_TRUE(ok_status_.ok()) << ok_status_.ToString(); \
  } while (false)

using Volumes = std::vector<std::shared_ptr<SharedVolume>>;

class Volume : public fs::PosixTest {
 protected:
  Volume() { options_.capacity_bytes = 64 << 20; }

  std::shared_ptr<SharedVolume> Open(const std::string& name = "volumes") {
    left_behind_.clear();
    auto volume = registry_.Open(Path(name), options_, &left_behind_);
    EXPECT_TRUE(volume.ok()) << volume.status().ToString();
    return volume.ok() ? *volume : nullptr;
  }
  static Status Write(SharedVolume* volume, Slice directory, Slice name, Slice content) {
    LAVA_ASSIGN_OR_RETURN(const auto file, volume->CreateFile(directory, name));
    LAVA_RETURN_IF_ERROR(file->Append(content));
    return file->Close();
  }
  static std::string Read(SharedVolume* volume, Slice directory, Slice name) {
    const auto file = volume->OpenFile(directory, name);
    if (!file.ok()) return file.status().ToString();
    std::string content((*file)->size(), '\0');
    const Status done = (*file)->Read(0, content.size(), content.data());
    return done.ok() ? content : done.ToString();
  }
  std::vector<std::string> Files(const std::string& name = "volumes") {
    std::vector<std::string> names = *fs::FileSystem::Posix()->List(Path(name));
    std::sort(names.begin(), names.end());
    return names;
  }
  // Runs body in a process that is killed afterwards, with its volumes still mounted.
  template <typename Body>
  void InAKilledProcess(const Body& body) {
    EXPECT_EXIT(
        {
          Volumes mounted;
          body(&mounted);
          _exit(::testing::Test::HasFailure() ? 1 : 0);
        },
        ::testing::ExitedWithCode(0), "");
  }
  // Takes the file as another process would.
  std::unique_ptr<fs::BlockDevice> Take(const std::string& name) {
    auto device = fs::OpenBlockDevice(Path("volumes/" + name), {.create = true});
    EXPECT_TRUE(device.ok()) << device.status().ToString();
    return std::move(device).value();
  }
  void MakeDirectory() {
    EXPECT_TRUE(fs::FileSystem::Posix()->CreateDirectory(Path("volumes")).ok());
  }

  MemoryCounter buffers_;
  VolumeRegistry registry_{&buffers_, [](std::function<void()> job) { job(); }};
  VolumeOptions options_;
  std::vector<std::string> left_behind_;
};

TEST_F(Volume, OneForAllThatUseADirectory) {
  auto one = Open();
  const auto same = Open();
  const auto other = Open("others");
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
  ASSERT_OK(Write(one.get(), "a/b", "file", "content"));
  EXPECT_EQ(Read(same.get(), "a/b", "file"), "content");
  EXPECT_TRUE(other->OpenFile("a/b", "file").status().IsNotFound());
  one.reset();
  EXPECT_EQ(Read(same.get(), "a/b", "file"), "content");

  struct stat st {};
  ASSERT_EQ(stat(same->path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(Path("volumes").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700u);
}

TEST_F(Volume, TheFileGoesWithItsLastUser) {
  Volumes users{Open(), Open(), Open()};
  while (!users.empty()) {
    EXPECT_EQ(Files(), std::vector<std::string>{"volume-0.lavafs"});
    users.pop_back();
  }
  EXPECT_EQ(Files(), std::vector<std::string>{});
}

TEST_F(Volume, AnotherProcessHasItsOwn) {
  MakeDirectory();
  const auto taken = Take("volume-0.lavafs");
  auto volume = Open();
  EXPECT_EQ(volume->path(), Path("volumes/volume-1.lavafs"));
  EXPECT_TRUE(left_behind_.empty());
  volume.reset();
  EXPECT_EQ(Files(), std::vector<std::string>{"volume-0.lavafs"});
}

TEST_F(Volume, WhatAKilledProcessLeftIsUsedAgain) {
  InAKilledProcess([this](Volumes* mounted) {
    mounted->push_back(Open());
    EXPECT_TRUE(Write(mounted->back().get(), "instance", "file", std::string(40 << 20, 'x')).ok());
  });
  ASSERT_EQ(Files(), std::vector<std::string>{"volume-0.lavafs"});
  const uint64_t bytes = std::filesystem::file_size(Path("volumes/volume-0.lavafs"));
  EXPECT_GT(bytes, 40u << 20);

  auto volume = Open();
  EXPECT_EQ(volume->path(), Path("volumes/volume-0.lavafs"));
  const VolumeFigures figures = volume->figures();
  EXPECT_EQ(figures.files, 0u);
  EXPECT_EQ(figures.device_bytes, bytes);
  EXPECT_TRUE(volume->ListFiles("instance").status().IsNotFound());
  EXPECT_TRUE(left_behind_.empty());
}

TEST_F(Volume, OfSeveralLeftBehindOneIsUsedAndTheOthersGo) {
  MakeDirectory();
  for (const char* name : {"volume-0.lavafs", "volume-3.lavafs", "volume-4.lavafs"}) {
    (void)Take(name);
  }
  std::ofstream(Path("volumes/volume-x.lavafs")) << "not ours";
  std::ofstream(Path("volumes/volume-99999999999.lavafs")) << "not ours";
  const auto volume = Open();
  EXPECT_EQ(Files().size(), 3u);
  EXPECT_TRUE(left_behind_.empty());
}

TEST_F(Volume, OneLargerThanTheCapacityIsMadeAnew) {
  options_.capacity_bytes = 128 << 20;
  InAKilledProcess([this](Volumes* mounted) {
    mounted->push_back(Open());
    EXPECT_TRUE(Write(mounted->back().get(), "a", "b", std::string(50 << 20, 'x')).ok());
  });
  options_.capacity_bytes = 32 << 20;
  const auto volume = Open();
  EXPECT_EQ(volume->figures().capacity_bytes, 32u << 20);
  EXPECT_LE(std::filesystem::file_size(volume->path()), 32u << 20);
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(Volume, WhatCannotBeReadIsLeftAndTold) {
  InAKilledProcess([this](Volumes* mounted) {
    mounted->push_back(Open());
    EXPECT_TRUE(Write(mounted->back().get(), "a", "b", "c").ok());
  });
  for (const int block : {1, 2}) {
    std::fstream file(Path("volumes/volume-0.lavafs"));
    file.seekp(block * 4096 + 20);
    file << "damage";
  }
  const auto volume = Open();
  EXPECT_EQ(volume->path(), Path("volumes/volume-1.lavafs"));
  ASSERT_EQ(left_behind_.size(), 1u);
  EXPECT_NE(left_behind_[0].find("volume-0.lavafs"), std::string::npos) << left_behind_[0];
  EXPECT_NE(left_behind_[0].find("offset 4096"), std::string::npos) << left_behind_[0];
  EXPECT_EQ(Files().size(), 2u);
}

TEST_F(Volume, APinOutlivesItsDirectoryUntilItsMarkerGoes) {
  const std::string marker = Path("marker");
  auto volume = Open();
  for (const char* name : {"one", "two", "three"}) {
    ASSERT_OK(Write(volume.get(), "instance", name, name));
  }
  ASSERT_OK(volume->Pin(marker, "instance", std::vector<std::string>{"one", "two"}));
  ASSERT_OK(volume->RemoveDirectory("instance"));
  ASSERT_OK(volume->DropStalePins());
  EXPECT_EQ(volume->figures().pins, 1u);
  EXPECT_EQ(volume->figures().files, 2u);
  {
    const auto pinned = registry_.OpenPinned(marker, options_);
    ASSERT_OK(pinned.status());
    EXPECT_EQ(pinned->volume, volume);
    EXPECT_EQ(Read(pinned->volume.get(), pinned->directory, "two"), "two");
    ASSERT_OK(volume->LinkFile(pinned->directory, "one", "next", "one"));
  }
  ASSERT_OK(fs::FileSystem::Posix()->Remove(marker));
  ASSERT_OK(volume->DropStalePins());
  EXPECT_EQ(volume->figures().pins, 0u);
  EXPECT_EQ(volume->figures().files, 1u);
  EXPECT_EQ(Read(volume.get(), "next", "one"), "one");
  EXPECT_TRUE(registry_.OpenPinned(marker, options_).status().IsNotFound());
  volume.reset();
  EXPECT_EQ(Files().size(), 0u);
}

TEST_F(Volume, PinsOutliveTheProcess) {
  const std::string kept = Path("kept"), gone = Path("gone");
  InAKilledProcess([&](Volumes* mounted) {
    mounted->push_back(Open());
    SharedVolume* const volume = mounted->back().get();
    for (const char* name : {"one", "two"}) {
      EXPECT_TRUE(Write(volume, "instance", name, name).ok());
    }
    EXPECT_TRUE(volume->Pin(kept, "instance", std::vector<std::string>{"one"}).ok());
    EXPECT_TRUE(volume->Pin(gone, "instance", std::vector<std::string>{"two"}).ok());
  });
  ASSERT_OK(fs::FileSystem::Posix()->Remove(gone));
  // A volume without pins exists, too.
  (void)Take("volume-7.lavafs");
  auto volume = Open();
  EXPECT_EQ(volume->path(), Path("volumes/volume-0.lavafs"));
  EXPECT_EQ(volume->figures().pins, 1u);
  EXPECT_EQ(volume->figures().files, 1u);
  EXPECT_EQ(Files().size(), 1u);
  {
    const auto pinned = registry_.OpenPinned(kept, options_);
    ASSERT_OK(pinned.status());
    EXPECT_EQ(Read(pinned->volume.get(), pinned->directory, "one"), "one");
  }
  // The last user leaves. The pin stays, and so does the file, until the pin is found to be stale.
  volume.reset();
  EXPECT_EQ(Files().size(), 1u);
  {
    const auto pinned = registry_.OpenPinned(kept, options_);
    ASSERT_OK(pinned.status());
    EXPECT_EQ(Read(pinned->volume.get(), pinned->directory, "one"), "one");
  }
  EXPECT_EQ(Files().size(), 1u);
  ASSERT_OK(fs::FileSystem::Posix()->Remove(kept));
  EXPECT_TRUE(registry_.OpenPinned(kept, options_).status().IsNotFound());
  volume = Open();
  EXPECT_EQ(volume->figures().files, 0u);
  volume.reset();
  EXPECT_EQ(Files().size(), 0u);
}

// Otherwise it would stay until the directory is opened again.
TEST_F(Volume, WhatIsPinnedInVainIsRemovedThoughNobodyOpensIt) {
  const std::string marker = Path("marker");
  EXPECT_EQ(*registry_.RemoveStale(Path("volumes")), 0u) << "the directory does not exist yet";
  {
    const auto volume = Open();
    ASSERT_OK(Write(volume.get(), "instance", "one", "1"));
    ASSERT_OK(volume->Pin(marker, "instance", std::vector<std::string>{"one"}));
    EXPECT_EQ(*registry_.RemoveStale(Path("volumes")), 0u) << "the volume is in use";
  }
  const auto others = Take("volume-3.lavafs");  // blank, but another process has it
  { const auto blank = Take("volume-4.lavafs"); }
  std::ofstream(Path("volumes/volume-5.lavafs")) << std::string(64 << 10, 'x');
  EXPECT_EQ(*registry_.RemoveStale(Path("volumes")), 1u);
  const std::vector<std::string> with_pin{"volume-0.lavafs", "volume-3.lavafs", "volume-5.lavafs"};
  EXPECT_EQ(Files(), with_pin);
  {
    const auto pinned = registry_.OpenPinned(marker, options_);
    ASSERT_OK(pinned.status());
    EXPECT_EQ(Read(pinned->volume.get(), pinned->directory, "one"), "1");
  }
  ASSERT_OK(fs::FileSystem::Posix()->Remove(marker));
  EXPECT_EQ(*registry_.RemoveStale(Path("volumes")), 0u);
  const std::vector<std::string> without{"volume-3.lavafs", "volume-5.lavafs"};
  EXPECT_EQ(Files(), without);
}

TEST_F(Volume, AllOfItIsForTheUserAloneWhateverTheUmask) {
  InAKilledProcess([&](Volumes* mounted) {
    umask(0);
    options_.power_safe = true;
    mounted->push_back(Open("made/when/missing"));
    ASSERT_OK(Write(mounted->back().get(), "instance", "one", "1"));
    ASSERT_OK(mounted->back()->Pin(Path("marker"), "instance", std::vector<std::string>{"one"}));
  });
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
    ++found;
    EXPECT_EQ(static_cast<unsigned>(entry.status().permissions()),
              entry.is_directory() ? 0700u : 0600u)
        << entry.path();
  }
  EXPECT_EQ(found, 5u) << "there must be three directories, the volume and the marker";
}

TEST_F(Volume, APinIsRefusedWhole) {
  const auto volume = Open();
  ASSERT_OK(Write(volume.get(), "instance", "one", "1"));
  const std::string marker = Path("marker");
  EXPECT_TRUE(volume->Pin("marker", "instance", {}).IsInvalidArgument());
  EXPECT_TRUE(
      volume->Pin(marker, "instance", std::vector<std::string>{"one", "absent"}).IsNotFound());
  EXPECT_FALSE(std::filesystem::exists(marker));
  EXPECT_EQ(volume->figures().pins, 0u);
  ASSERT_OK(volume->Pin(marker, "instance", std::vector<std::string>{"one"}));
  EXPECT_TRUE(volume->Pin(marker, "instance", std::vector<std::string>{"one"}).IsIOError());
  EXPECT_TRUE(registry_.OpenPinned(marker, options_).ok());
  EXPECT_FALSE(std::filesystem::exists(marker + ".new"));
}

TEST_F(Volume, AMarkerOfAnotherVolumeOpensNothing) {
  const std::string marker = Path("marker");
  {
    const auto volume = Open();
    ASSERT_OK(Write(volume.get(), "instance", "one", "1"));
    ASSERT_OK(volume->Pin(marker, "instance", std::vector<std::string>{"one"}));
    std::filesystem::copy(marker, Path("copy"));
    EXPECT_TRUE(registry_.OpenPinned(Path("copy"), options_).status().IsNotFound());
    ASSERT_OK(fs::FileSystem::Posix()->Remove(marker));
  }
  std::filesystem::copy(Path("copy"), marker);
  EXPECT_TRUE(registry_.OpenPinned(marker, options_).status().IsNotFound());
  const auto volume = Open();  // of the same name
  EXPECT_TRUE(registry_.OpenPinned(marker, options_).status().IsNotFound());
  // A pin of that name makes no difference.
  ASSERT_OK(fs::FileSystem::Posix()->Remove(marker));
  ASSERT_OK(Write(volume.get(), "instance", "one", "another"));
  ASSERT_OK(volume->Pin(marker, "instance", std::vector<std::string>{"one"}));
  ASSERT_OK(registry_.OpenPinned(marker, options_).status());
  std::filesystem::copy(Path("copy"), marker, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(registry_.OpenPinned(marker, options_).status().IsNotFound());
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(Volume, AVolumeOfAnotherProcessIsToldSo) {
  const std::string marker = Path("marker");
  {
    const auto volume = Open();
    ASSERT_OK(Write(volume.get(), "instance", "one", "1"));
    ASSERT_OK(volume->Pin(marker, "instance", std::vector<std::string>{"one"}));
  }
  const auto taken = Take("volume-0.lavafs");
  const Status busy = registry_.OpenPinned(marker, options_).status();
  EXPECT_TRUE(busy.IsBusy()) << busy.ToString();
}

TEST_F(Volume, ADamagedMarkerIsCorruption) {
  const std::string path = Path("marker");
  const PinMarker marker{.volume_path = Path("volumes/volume-0.lavafs"), .uuid = {1, 2}};
  fs::FileSystem* const posix = fs::FileSystem::Posix();
  ASSERT_OK(WritePinMarker(posix, path, marker, false));
  const auto read = ReadPinMarker(posix, path);
  ASSERT_OK(read.status());
  EXPECT_EQ(read->volume_path, marker.volume_path);
  EXPECT_EQ(read->uuid, marker.uuid);
  const std::string whole = *posix->ReadWhole(path, 1 << 20);
  const auto is_refused = [&](const std::string& content) {
    std::ofstream(path, std::ios::trunc) << content;
    return registry_.OpenPinned(path, options_).status().IsCorruption();
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_TRUE(is_refused(damaged)) << at;
    EXPECT_TRUE(is_refused(whole.substr(0, at))) << at;
  }
  EXPECT_TRUE(is_refused(whole + "\n"));
  EXPECT_TRUE(is_refused(std::string(100 << 10, '\n')));
}

TEST_F(Volume, WhatMayNotBeIsRefused) {
  options_.capacity_bytes = 1 << 20;
  EXPECT_TRUE(registry_.Open(Path("volumes"), options_, nullptr).status().IsInvalidArgument());
  options_.capacity_bytes = 0;
  MakeDirectory();
  ASSERT_EQ(chmod(Path("volumes").c_str(), 0750), 0);
  const Status open = registry_.Open(Path("volumes"), options_, nullptr).status();
  EXPECT_TRUE(open.IsIOError()) << open.ToString();
  EXPECT_NE(open.ToString().find("chmod 700"), std::string::npos);
  ASSERT_EQ(chmod(Path("volumes").c_str(), 0700), 0);
  const auto volume = Open();
  EXPECT_GE(volume->figures().capacity_bytes, *fs::DiskBytes(directory_) / (1 << 20) * (1 << 20));
  ASSERT_OK(Write(volume.get(), "a", "b", "c"));
  EXPECT_TRUE(volume->CreateFile("a", "b").status().IsIOError());
  EXPECT_TRUE(volume->CreateFile("a", "b/c").status().IsInvalidArgument());
  EXPECT_TRUE(volume->RemoveFile("a", "x").IsNotFound());
  ASSERT_OK(volume->RemoveDirectory("not there"));
}

TEST_F(Volume, AFullOneSaysHowFullItIsAndKeepsAReserve) {
  const auto volume = Open();
  Status full;
  int files = 0;
  const std::string mebibyte(1 << 20, 'x');
  while (full.ok()) full = Write(volume.get(), "a", std::to_string(files++), mebibyte);
  EXPECT_TRUE(full.IsNoSpace()) << full.ToString();
  EXPECT_NE(full.ToString().find(volume->path()), std::string::npos);
  EXPECT_NE(full.ToString().find("67108864"), std::string::npos) << full.ToString();
  {
    const auto reserve = volume->file_system()->CreateFromReserve("a/reserve", 4096);
    ASSERT_OK(reserve.status());
    for (int i = 0; i < 4; ++i) ASSERT_OK((*reserve)->Append(mebibyte));
    ASSERT_OK((*reserve)->Close());
  }
  ASSERT_OK(volume->RemoveDirectory("a"));
  ASSERT_OK(Write(volume.get(), "a", "again", mebibyte));
}

TEST_F(Volume, BuffersOfFilesAreCharged) {
  const auto volume = Open();
  auto file = volume->CreateFile("a", "b");
  ASSERT_OK(file.status());
  EXPECT_EQ(buffers_.used(), 0u);
  ASSERT_OK((*file)->Append("c"));
  EXPECT_EQ(buffers_.used(), 512u << 10);
  ASSERT_OK((*file)->Close());
  EXPECT_EQ(buffers_.used(), 0u);
  file = volume->CreateFile("a", "c");
  ASSERT_OK((*file)->Append("c"));
  file = Status::Closed("");
  EXPECT_EQ(buffers_.used(), 0u);
}

TEST_F(Volume, SpaceAboveTheIdleReserveGoesBackWithADirectory) {
  options_.capacity_bytes = 256 << 20;
  options_.idle_reserve_bytes = 8 << 20;
  const auto volume = Open();
  ASSERT_OK(Write(volume.get(), "a", "b", std::string(100 << 20, 'x')));
  struct stat before {
  }, after{};
  ASSERT_EQ(stat(volume->path().c_str(), &before), 0);
  ASSERT_OK(volume->RemoveDirectory("a"));
  ASSERT_EQ(stat(volume->path().c_str(), &after), 0);
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_LT(after.st_blocks * 512, before.st_blocks * 512 - (80 << 20));
}

TEST(VolumeJobsTest, ADroppedJobIsRunByWhoDropsItUnlessAllAreStopped) {
  std::vector<std::function<void()>> queue;
  const auto jobs =
      std::make_shared<VolumeJobs>([&](std::function<void()> job) { queue.push_back(job); });
  int runs = 0;
  jobs->Run([&] { ++runs; });
  jobs->Run([&] { ++runs; });
  queue[0]();
  EXPECT_EQ(runs, 1);
  queue.clear();
  EXPECT_EQ(runs, 2);
  jobs->Run([&] { ++runs; });
  jobs->Stop();
  queue[0]();
  queue.clear();
  EXPECT_EQ(runs, 2);
}

TEST(VolumeJobsTest, StopWaitsForTheJobThatRuns) {
  std::function<void()> submitted;
  const auto jobs =
      std::make_shared<VolumeJobs>([&](std::function<void()> job) { submitted = job; });
  std::atomic<bool> begun = false, end = false, ended = false;
  jobs->Run([&] {
    begun = true;
    while (!end) std::this_thread::yield();
    ended = true;
  });
  std::thread worker([&] { submitted(); });
  while (!begun) std::this_thread::yield();
  std::thread ender([&] { end = true; });
  jobs->Stop();
  EXPECT_TRUE(ended);
  worker.join();
  ender.join();
}

}  // namespace
}  // namespace lava
