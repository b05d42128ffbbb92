// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/host.h"

#include <fstream>
#include <sstream>

#include "inspect/inspect_test_util.h"
#include "testing/count.h"

// A process's page is untrusted text.
namespace lava::inspect {
namespace {

// A page as written by HostPage.java; HostReportsTest.java compares its names with those of this
// page.
const std::string& Sound() {
  static const std::string page = [] {
    std::ifstream file(LAVA_INSPECT_DATA "/host-page.json");
    std::ostringstream text;
    text << file.rdbuf();
    std::string whole = text.str();
    whole.resize(whole.rfind('}') + 1);  // so that all of its proper prefixes are incomplete
    return whole;
  }();
  return page;
}
constexpr const char* kPath = "/w/lava-host-4711-1.json";

class InspectHost : public InspectTest {
 protected:
  void SetUp() override { ASSERT_OK(db.files.CreateDirectory("/w")); }
  void Put(const std::string& text) { ASSERT_OK(db.files.SetContent(kPath, text)); }
  Json Page(uint64_t now_ms, bool lives) {
    ReadOnlyFiles files(&db.files);
    const Result<Json> report =
        HostReport(&files, "/w/", {.now_ms = now_ms, .lives = [&](uint64_t) { return lives; }});
    EXPECT_OK(report.status());
    return report.value()["hosts"].at(0);
  }
  std::string FaultAfter(const std::string& from, const std::string& to) {
    std::string text = Sound();
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    Put(text.replace(at, from.size(), to));
    const Ran ran = Tool({"host", kPath});
    EXPECT_EQ(ran.code, kFaultsFound) << ran.out;
    EXPECT_NE(ran.out.find(kPath), std::string::npos);
    return ran.out;
  }
};

TEST_F(InspectHost, APageIsShownAsTextAndJson) {
  Put(Sound());
  for (const char* path : {kPath, "/w"}) {
    const Ran ran = Tool({"host", path});
    EXPECT_EQ(ran.code, kFine) << ran.err;
    for (const char* part : {"process 4711", "1.0 MiB of 64.0 MiB", "hit ratio 0.75, lately 0.50",
                             "CPU 1.5 s", "index before data up to 25.6 MiB",
                             "index    128.0 KiB    30       2       0.94        1",
                             "data     384.0 KiB    45      23       0.66        9",
                             "space: 4.0 MiB of 8.0 MiB, about 3.0 MiB live", "/v/volume-1",
                             "job_a_op_b", "2.5 s", "instances: 2 open"})
      EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
  const Json json = Ask({"host", "/w"});
  EXPECT_EQ(json["hosts"][0]["cache"]["index"]["evictions"], 1);
  EXPECT_EQ(json["hosts"][0]["cache"]["index_bytes_max"], 26843545);
  EXPECT_EQ(json["hosts"][0]["space"]["live_bytes"], 3145728);
  EXPECT_EQ(json["hosts"][0]["memory"]["jobs_put_off"], 3);
  EXPECT_EQ(json["hosts"][0]["instances"][0]["flush_stall_us"], 2000000);
}

TEST_F(InspectHost, WhatIsOverTheBudgetAndThatThereIsNoLimitIsTold) {
  std::string text = Sound();
  Put(text);
  EXPECT_EQ(Tool({"host", "/w"}).out.find("OVER"), std::string::npos);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{
                                     "\"over_budget_bytes\" : 0", "\"over_budget_bytes\" : 2048"},
                                 {"\"limit_bytes\" : 8388608", "\"limit_bytes\" : 0"}}) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  }
  Put(text);
  const Ran ran = Tool({"host", "/w"});
  EXPECT_EQ(ran.code, kFine) << ran.err;
  EXPECT_NE(ran.out.find("2.0 KiB OVER THE BUDGET"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("space: 4.0 MiB, no limit, about"), std::string::npos) << ran.out;
}

TEST_F(InspectHost, TheAgeAndTheProcessAreTold) {
  Put(Sound());
  EXPECT_EQ(Page(100'000, true)["process"], "runs");
  EXPECT_EQ(Page(100'000, true)["age_ms"], 10'000);
  EXPECT_EQ(Page(50'000, true)["age_ms"], 0) << "a clock that was set back";
  EXPECT_NE(Page(1'000'000, true)["process"], "runs");
  EXPECT_NE(Page(100'000, false)["process"].get<std::string>().find("gone"), std::string::npos);
}

TEST_F(InspectHost, WhatIsWrongIsNamed) {
  EXPECT_NE(FaultAfter("\"hits\" : 75", "\"hits\" : -1").find("cache.hits"), std::string::npos);
  EXPECT_NE(FaultAfter("75", "\"many\"").find("cache.hits"), std::string::npos);
  EXPECT_NE(FaultAfter("75", "1e999").find("no JSON"), std::string::npos);
  EXPECT_NE(FaultAfter("75", "99999999999999999999").find("cache.hits"), std::string::npos);
  EXPECT_NE(FaultAfter("\"evictions\" : 1", "\"e\" : 1").find("cache.index.evictions"),
            std::string::npos);
  EXPECT_NE(FaultAfter("\"space\"", "\"spice\"").find("space"), std::string::npos);
  EXPECT_NE(FaultAfter("4711", "0").find("pid"), std::string::npos);
  EXPECT_NE(FaultAfter("4711", "4294967295").find("pid"), std::string::npos);
  EXPECT_NE(FaultAfter("\"format\" : 2", "\"format\" : 1").find("NotSupported"), std::string::npos);
  EXPECT_NE(FaultAfter("\"job_a_op_b\"", "7").find("instances[0].directory"), std::string::npos);
  EXPECT_NE(FaultAfter("\"hit_ratio_lately\" : 0.5", "\"hit_ratio_lately\" : 2").find("lately"),
            std::string::npos);
  EXPECT_NE(FaultAfter("\"sealed_runs\" : 1,", "").find("sealed_runs"), std::string::npos);
  Put(std::string(100'000, '['));
  EXPECT_EQ(Tool({"host", kPath}).code, kFaultsFound);
  EXPECT_EQ(Tool({"host", "/nothing"}).code, kUsage);
  ASSERT_OK(db.files.CreateDirectory("/none"));
  EXPECT_EQ(Tool({"host", "/none"}).code, kUsage);
}

TEST_F(InspectHost, NoDamageEndsTheTool) {
  const std::string sound = Sound();
  uint64_t tried = 0;
  for (size_t at = 0; at < sound.size(); ++at, tried += 2) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    Put(damaged);
    const int code = Tool({"host", kPath}).code;
    EXPECT_TRUE(code == kFine || code == kFaultsFound) << at;
    Put(sound.substr(0, at));
    EXPECT_EQ(Tool({"host", kPath}).code, kFaultsFound) << at;
  }
  testing::Count(tried, "damaged pages on a host inspected");
}

}  // namespace
}  // namespace lava::inspect
