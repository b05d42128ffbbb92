#include "inspect/host.h"

#include "inspect/inspect_test_util.h"
#include "testing/count.h"

// The page that a process writes on itself is text from outside.
namespace lava::inspect {
namespace {

// As HostPage.java writes it.
constexpr const char* kPage = R"({
  "format" : 1, "library" : "0.1.0", "pid" : 4711, "started_ms" : 1000, "written_ms" : 90000,
  "interval_ms" : 60000, "instances_open" : 2, "leases_open" : 1,
  "memory" : {"budget_bytes" : 67108864, "charged_bytes" : 1048576, "cache_bytes" : 524288,
    "memtable_bytes" : 400000, "table_reader_bytes" : 1, "metadata_bytes" : 2, "scan_bytes" : 0,
    "flush_job_bytes" : 0, "compaction_job_bytes" : 0, "gc_job_bytes" : 0,
    "file_buffer_bytes" : 0, "jobs_put_off" : 3, "overdrafts" : 0},
  "cache" : {"capacity_bytes" : 33554432, "used_bytes" : 524288, "pinned_bytes" : 0,
    "hits" : 75, "misses" : 25, "hit_ratio" : 0.75, "hit_ratio_lately" : 0.5},
  "background" : {"threads" : 2, "cpu_us" : 1500000, "paced_us" : 0, "queued_urgent" : 0,
    "queued_flushes" : 1, "queued_l0_compactions" : 0, "queued_compactions" : 4,
    "queued_collections" : 0, "running_flushes" : 1, "running_compactions" : 0,
    "running_collections" : 0},
  "volumes" : [{"path" : "/v/volume-1", "capacity_bytes" : 100, "used_bytes" : 40,
    "free_bytes" : 60, "files" : 3, "pins" : 0}],
  "instances" : [{"directory" : "job_a_op_b", "job" : "a", "operator" : "b",
    "memtable_bytes" : 400000, "sealed_runs" : 1, "live_bytes" : 12, "garbage_bytes" : 5,
    "pinned_bytes" : 0, "files" : 2, "running_flushes" : 1, "running_compactions" : 0,
    "running_collections" : 0, "stall_us" : 2500000, "flush_stall_us" : 2000000,
    "compaction_stall_us" : 500000, "space_stall_us" : 0, "background_errors" : 0}]
})";
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
    std::string text = kPage;
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
  Put(kPage);
  for (const char* path : {kPath, "/w"}) {
    const Ran ran = Tool({"host", path});
    EXPECT_EQ(ran.code, kFine) << ran.err;
    for (const char* part :
         {"process 4711", "1.0 MiB of 64.0 MiB", "hit ratio 0.75, lately 0.50", "CPU 1.5 s",
          "/v/volume-1", "job_a_op_b", "2.5 s", "instances: 2 open"})
      EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
  const Json json = Ask({"host", "/w"});
  EXPECT_EQ(json["hosts"][0]["memory"]["jobs_put_off"], 3);
  EXPECT_EQ(json["hosts"][0]["instances"][0]["flush_stall_us"], 2000000);
}

TEST_F(InspectHost, TheAgeAndTheProcessAreTold) {
  Put(kPage);
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
  EXPECT_NE(FaultAfter("4711", "0").find("pid"), std::string::npos);
  EXPECT_NE(FaultAfter("4711", "4294967295").find("pid"), std::string::npos);
  EXPECT_NE(FaultAfter("\"format\" : 1", "\"format\" : 2").find("NotSupported"), std::string::npos);
  EXPECT_NE(FaultAfter("\"job_a_op_b\"", "7").find("instances[0].directory"), std::string::npos);
  EXPECT_NE(FaultAfter("\"hit_ratio_lately\" : 0.5", "\"hit_ratio_lately\" : 2").find("lately"),
            std::string::npos);
  EXPECT_NE(FaultAfter("\"sealed_runs\" : 1, ", "").find("sealed_runs"), std::string::npos);
  Put(std::string(100'000, '['));
  EXPECT_EQ(Tool({"host", kPath}).code, kFaultsFound);
  EXPECT_EQ(Tool({"host", "/nothing"}).code, kUsage);
  ASSERT_OK(db.files.CreateDirectory("/none"));
  EXPECT_EQ(Tool({"host", "/none"}).code, kUsage);
}

TEST_F(InspectHost, NoDamageEndsTheTool) {
  const std::string sound = kPage;
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
