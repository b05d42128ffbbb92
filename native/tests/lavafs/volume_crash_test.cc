// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// A LavaFS volume after crashes: histories of every call run on a disk in memory, and after each
// change the disk is examined as a killed process or a power cut would leave it.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testing/count.h"
#include "testing/mem_disk.h"
#include "testing/random.h"
#include "testing/variable.h"
#include "tests/lavafs/volume_history.h"

namespace lava::lavafs {
namespace {

using testing::MemDisk;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 4;
#else
constexpr uint64_t kSeeds = 100;
#endif
constexpr uint64_t kBoot = 7, kNextBoot = 8;
constexpr uint64_t kExtents = 96;

struct Counts {
  uint64_t states = 0, worked_with = 0;
};

class VolumeCrash : public ::testing::Test {
 protected:
  // The volume found by a mount must be in one of the states.
  static std::string Recovered(MemDisk* disk, uint64_t boot, const VolumeHistory& history,
                               size_t floor) {
    auto volume = Volume::Mount(disk->Open(), {.boot = boot, .mount = 1'000'000});
    if (!volume.ok()) return volume.status().ToString();
    std::string differs;
    for (size_t at = history.states().size(); at-- > floor;) {
      const std::string difference = history.states()[at].Differs(volume->get(), true);
      if (difference.empty()) return "";
      if (at + 3 > history.states().size()) differs += difference + "; ";
    }
    return differs + " (none of " + std::to_string(history.states().size() - floor) + " states)";
  }

  // The recovered volume works, and is complete after one more power cut.
  static std::string WorksOn(MemDisk* disk, uint64_t boot) {
    {
      auto volume = Volume::Mount(disk->Open(), {.boot = boot, .mount = 1'000'001});
      if (!volume.ok()) return volume.status().ToString();
      Status done = (*volume)->MakeDirectory("after");
      auto file = (*volume)->Create("after", "file", 4096);
      if (!done.ok() || !file.ok()) return "no new file";
      done = (*file)->Append(BytesOf(99, 0, 20'000));
      if (done.ok()) done = (*file)->Sync();
      if (!done.ok()) return done.ToString();
    }
    const auto after = disk->AfterPowerCut(0);
    auto volume = Volume::Mount(after->Open(), {.boot = boot + 1, .mount = 1'000'002});
    if (!volume.ok()) return volume.status().ToString();
    auto file = (*volume)->Open("after", "file");
    if (!file.ok()) return file.status().ToString();
    std::string read(20'000, '\0');
    const Status done = (*file)->Read(0, read.size(), read.data());
    if (!done.ok()) return done.ToString();
    return read == BytesOf(99, 0, 20'000) ? "" : "other contents";
  }

  void Play(uint64_t seed, uint64_t cuts, Counts* counts) {
    testing::Random random(seed ^ 0xc4a5);
    MemDisk disk(0, kExtents * kTestExtentBytes);
    ASSERT_TRUE(Volume::Format(disk.Open().get(), TestFormat(kExtents, 24), kTestUuid).ok());
    VolumeHistory::Options options{.seed = seed, .operations = 250};
    options.mount = {.grow_bytes = 8 * kTestExtentBytes,
                     .journal_bytes_max = random.Between(4, 40) * 4096,
                     .boot = kBoot};
    VolumeHistory history(&disk, options);
    std::string wrong;
    disk.SetHook([&](uint64_t call) {
      if (!wrong.empty()) return;
      const auto look = [&](std::unique_ptr<MemDisk> left, uint64_t boot, size_t floor,
                            const std::string& what) {
        counts->states++;
        wrong = Recovered(left.get(), boot, history, floor);
        if (wrong.empty() && random.OneIn(50)) {
          counts->worked_with++;
          wrong = WorksOn(left.get(), boot);
        }
        if (!wrong.empty()) wrong = what + " after call " + std::to_string(call) + ": " + wrong;
      };
      if (random.OneIn(2)) look(disk.AfterKill(), kBoot, history.written_floor(), "kill");
      for (uint64_t cut = 0; cut < cuts && wrong.empty(); cut++) {
        const uint64_t drawn = cut < 2 ? cut : random.Next() | 2;
        look(disk.AfterPowerCut(drawn), kNextBoot, history.durable_floor(),
             "power cut " + std::to_string(drawn));
      }
    });
    const std::string played = history.Run();
    disk.SetHook(nullptr);
    EXPECT_EQ(wrong, "") << "seed " << seed;
    EXPECT_EQ(played, "") << "seed " << seed;
  }
};

TEST_F(VolumeCrash, WhatIsLeftIsAStateThatWasThere) {
  const uint64_t first = testing::Variable("LAVA_TEST_SEED", 1);
  const uint64_t seeds = testing::Variable("LAVA_TEST_SEEDS", kSeeds);
  Counts counts;
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); seed++) {
    Play(seed, 5, &counts);
  }
  testing::Count(counts.states, "crash states of a volume");
  testing::Count(counts.worked_with, "crash states of a volume that were worked with on");
}

}  // namespace
}  // namespace lava::lavafs
