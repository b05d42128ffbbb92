// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fs/posix_block_device.h"
#include "fs/posix_test_util.h"
#include "lavafs/image.h"
#include "lavafs/volume.h"
#include "os/boot_id.h"

namespace lava::lavafs {
namespace {

namespace files = std::filesystem;

class LavaFsTest : public fs::PosixTest {
 protected:
  int Call(const std::vector<std::string>& arguments) {
    std::ostringstream out, err;
    const int code = lavafs::Run(arguments, out, err);
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  // Two directories; a file with two names, one without a synced size, one empty.
  void Fill() {
    ASSERT_EQ(Call({"format", volume_, "--capacity", "64MiB", "--extent", "64KiB"}), kFine) << err_;
    auto device = fs::OpenBlockDevice(volume_);
    ASSERT_TRUE(device.ok());
    MountOptions options;
    options.boot = os::BootId();
    options.mount = 1;
    auto volume = Volume::Mount(std::move(*device), options);
    ASSERT_TRUE(volume.ok()) << volume.status().ToString();
    ASSERT_TRUE((*volume)->MakeDirectory("/state/a").ok());
    ASSERT_TRUE((*volume)->MakeDirectory("/state/b").ok());
    auto file = (*volume)->Create("/state/a", "one", 4096);
    content_.assign(200'000, 'c');
    content_[150'000] = 'd';
    ASSERT_TRUE((*file)->Append(content_).ok());
    ASSERT_TRUE((*file)->Sync().ok());
    ASSERT_TRUE((*file)->Close().ok());
    ASSERT_TRUE((*volume)->Link("/state/a", "one", "/state/b", "two").ok());
    auto open_ended = (*volume)->Create("/state/b", "wal", 4096);
    ASSERT_TRUE((*open_ended)->Append("records").ok());
    ASSERT_TRUE((*open_ended)->SyncData().ok());
    ASSERT_TRUE((*volume)->Create("/state/b", "empty", 4096).ok());
    ASSERT_TRUE((*volume)->SyncMetadata().ok());
  }

  std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void Damage(uint64_t offset) {
    std::fstream file(volume_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }
  Result<Image> ImageNow() {
    auto device = fs::OpenBlockDevice(volume_, {.read_only = true, .direct = false});
    if (!device.ok()) return device.status();
    return ReadImage(device->get(), os::BootId());
  }

  const std::string volume_ = Path("volume");
  std::string content_, out_, err_;
};

TEST_F(LavaFsTest, ShowsWhatIsThereAndChangesNothing) {
  Fill();
  const std::string before = Read(volume_);
  EXPECT_EQ(Call({"ls", volume_}), kFine);
  EXPECT_EQ(out_,
            "/state/a/\n200000\t/state/a/one\n/state/b/\n0\t/state/b/empty\n200000\t/state/b/two\n"
            "7+\t/state/b/wal\n");
  EXPECT_EQ(Call({"ls", volume_, "/state/a"}), kFine);
  EXPECT_EQ(out_, "/state/a/\n200000\t/state/a/one\n");
  EXPECT_EQ(Call({"cat", volume_, "/state/b/two"}), kFine);
  EXPECT_EQ(out_, content_);
  EXPECT_EQ(Call({"cat", volume_, "/state/b/wal"}), kFine);
  EXPECT_EQ(out_.substr(0, 7), "records");
  EXPECT_EQ(Call({"stat", volume_, "--json"}), kFine);
  const auto all = nlohmann::json::parse(out_);
  EXPECT_EQ(all["files"], 3);
  EXPECT_EQ(all["capacity_bytes"], 64 << 20);
  EXPECT_EQ(Call({"stat", volume_, "/state/a/one", "--json"}), kFine);
  const auto one = nlohmann::json::parse(out_);
  EXPECT_EQ(one["names"], 2);
  EXPECT_EQ(one["extents_bytes"], 4 * 65536);
  EXPECT_EQ(Call({"stat", volume_, "/state/a/one"}), kFine);
  EXPECT_NE(out_.find("size: 200000"), std::string::npos);
  EXPECT_EQ(Call({"dump-journal", volume_}), kFine);
  for (const char* part : {"checkpoint", "resume in extent 2",
                           "make directory directory 0 /state/a", "create file 0 directory 0 one",
                           "size file 1 open-ended bytes 7", "link file 0 directory 1 two"}) {
    EXPECT_NE(out_.find(part), std::string::npos) << part << " is not in\n" << out_;
  }
  EXPECT_EQ(Call({"mount-check", volume_}), kFine);
  EXPECT_NE(out_.find("note: /state/b/wal was synced without its size"), std::string::npos);
  EXPECT_NE(out_.find("sound: 4 names"), std::string::npos) << out_;
  EXPECT_EQ(Read(volume_), before);
}

TEST_F(LavaFsTest, ExportsAllFilesAndOverwritesNone) {
  Fill();
  const std::string target = directory_ + "/out";
  EXPECT_EQ(Call({"export", volume_, target}), kFine) << err_;
  EXPECT_EQ(out_, "4 files\n");
  EXPECT_EQ(Read(target + "/state/a/one"), content_);
  EXPECT_EQ(Read(target + "/state/b/two"), content_);
  EXPECT_EQ(files::file_size(target + "/state/b/empty"), 0u);
  EXPECT_EQ(Call({"export", volume_, target}), kWrongCall);
  EXPECT_NE(err_.find("it is there"), std::string::npos);
}

TEST_F(LavaFsTest, TellsEachKindOfDamageWithItsOffset) {
  Fill();
  const std::string whole = Read(volume_);
  const auto image = ImageNow();
  ASSERT_TRUE(image.ok());
  const auto restore = [&] { std::ofstream(volume_, std::ios::binary) << whole; };
  const auto expect = [&](const std::vector<uint64_t>& offsets, int code, const char* told) {
    restore();
    for (const uint64_t offset : offsets) Damage(offset);
    EXPECT_EQ(Call({"mount-check", volume_}), code) << told;
    EXPECT_NE((out_ + err_).find(told), std::string::npos) << out_ << err_;
  };
  expect({4096 + 30}, kFine, "superblocks differ");
  expect({8192 + 30}, kFine, "superblocks differ");
  expect({4096 + 30, 8192 + 30}, kDamaged, "offset 4096");
  expect({65536 + 70}, kDamaged, "offset 65536: the checkpoint is damaged");
  // A transaction inside the journal.
  const std::string second = std::to_string(SequenceOfNextBoot(1) + 1);
  expect({2 * 65536 + 4096 + 66}, kDamaged,
         ("offset 135168: transaction " + second + " is damaged").c_str());
  // The last transaction, which a crash may have torn.
  const uint64_t end = uint64_t{image->end.start.extent} * 65536 + image->end.offset;
  expect({end - 4096 + 20}, kFine, "sound");
  // A truncated file.
  restore();
  files::resize_file(volume_, 65536);
  EXPECT_EQ(Call({"mount-check", volume_}), kDamaged);
  EXPECT_EQ(Call({"mount-check", volume_, "--json"}), kDamaged);
  restore();
  EXPECT_EQ(Call({"mount-check", volume_, "--json"}), kFine);
  EXPECT_TRUE(nlohmann::json::parse(out_)["sound"]);
}

// The jump to the next extent is damaged: transactions after it are found in an extent that should
// be free.
TEST_F(LavaFsTest, TellsOfTransactionsThatTheJournalDoesNotReach) {
  ASSERT_EQ(Call({"format", volume_, "--capacity", "4MiB", "--extent", "16KiB"}), kFine) << err_;
  uint64_t jump = 0;
  {
    auto device = fs::OpenBlockDevice(volume_);
    MountOptions options;
    options.boot = os::BootId();
    options.mount = 1;
    auto volume = Volume::Mount(std::move(*device), options);
    for (int n = 0; n < 5; n++) {
      ASSERT_TRUE((*volume)->MakeDirectory("d" + std::to_string(n)).ok());
      ASSERT_TRUE((*volume)->SyncMetadata().ok());
    }
  }
  jump = 2 * 16384 + 3 * 4096;
  Damage(jump + 20);
  EXPECT_EQ(Call({"mount-check", volume_}), kDamaged) << out_;
  EXPECT_NE(out_.find("had been synced, but the journal ends before"), std::string::npos) << out_;
  EXPECT_NE(out_.find("at offset " + std::to_string(jump)), std::string::npos) << out_;
}

TEST_F(LavaFsTest, RefusesWrongCalls) {
  EXPECT_EQ(Call({}), kWrongCall);
  EXPECT_EQ(Call({"--help"}), kFine);
  EXPECT_EQ(Call({"ls"}), kWrongCall);
  EXPECT_EQ(Call({"ls", volume_}), kWrongCall);
  EXPECT_NE(err_.find(volume_), std::string::npos);
  EXPECT_EQ(Call({"format", volume_, "--capacity", "1KiB"}), kWrongCall);
  Fill();
  EXPECT_EQ(Call({"format", volume_, "--capacity", "64MiB"}), kWrongCall);
  EXPECT_NE(err_.find("--force"), std::string::npos);
  EXPECT_EQ(Call({"cat", volume_, "/state/a/none"}), kWrongCall);
  EXPECT_EQ(Call({"format", volume_, "--capacity", "64MiB", "--force"}), kFine);
  EXPECT_EQ(Call({"ls", volume_}), kFine);
  EXPECT_EQ(out_, "");
}

TEST_F(LavaFsTest, TheProgramItself) {
  Fill();
  const std::string call = std::string(LAVA_FS_PATH) + " mount-check " + volume_ + " > /dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(call.c_str())), kFine);
  Damage(65536 + 70);
  EXPECT_EQ(WEXITSTATUS(std::system((call + " 2>&1").c_str())), kDamaged);
}

}  // namespace
}  // namespace lava::lavafs
