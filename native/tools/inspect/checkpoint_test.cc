#include "inspect/checkpoint.h"

#include "inspect/inspect_test_util.h"

// Flink's checkpoints: files under other names, in other directories, or inside of others.
namespace lava::inspect {
namespace {

class InspectCheckpoint : public InspectTest {
 protected:
  /// Uploads the instance's files as Flink does: /cp/shared/<a name that says nothing>.
  void Upload() {
    Fill();
    metadata_ = db.TakeTo("/taken");
    db.CloseDB();
    ASSERT_OK(db.files.CreateDirectory("/cp/shared"));
    ASSERT_OK(db.files.CreateDirectory("/cp/chk-1"));
    int number = 0;
    for (const std::string& path : FilesIn("/taken")) {
      const std::string to = "/cp/shared/8f6c-" + std::to_string(++number);
      ASSERT_OK(db.files.SetContent(to, *db.files.Content(path)));
      uploaded_[BaseOf(path)] = to;
    }
    ASSERT_GT(uploaded_.size(), 3u);
  }
  std::string HandlesOfAll() {
    std::string handles;
    for (const auto& [name, path] : uploaded_)
      handles += Uploaded(name, "file:" + path, *db.files.FileSize(path));
    return handles;
  }
  void WriteFlinkMetadata(const std::string& content) {
    ASSERT_OK(db.files.SetContent("/cp/chk-1/_metadata", "Flink's own" + content + "the end"));
  }
  void ExpectWhole(const std::string& path = "/cp/chk-1") {
    const Json verified = Ask({"verify", path});
    EXPECT_EQ(verified["checked_files"], uploaded_.size()) << verified.dump(2);
    EXPECT_EQ(AskKey(Key(15), path)["answer"], "found");
    EXPECT_EQ(AskKey(Key(3), path)["answer"], "not found");
    EXPECT_TRUE(Ask({"summary", path})["instances"][0]["missing"].empty());
  }

  std::string metadata_;
  std::map<std::string, std::string> uploaded_;  // own name -> path
};

TEST_F(InspectCheckpoint, FilesAreKnownByTheirUniqueIds) {
  Upload();
  WriteFlinkMetadata(Within("LAVA-CHECKPOINT", PrivateFile(metadata_, 12)));
  ExpectWhole();
  EXPECT_EQ(Ask({"summary", "/cp/chk-1"})["instances"][0]["heap_timer_bytes"], 12);
  ExpectWhole("/cp/chk-1/_metadata");
}

TEST_F(InspectCheckpoint, ThePrivateFileMayBeAFileOfItsOwn) {
  Upload();
  ASSERT_OK(db.files.SetContent("/cp/chk-1/0e1f", PrivateFile(metadata_)));
  WriteFlinkMetadata(HandlesOfAll());
  ExpectWhole();
  ExpectWhole("/cp/chk-1/0e1f");
}

TEST_F(InspectCheckpoint, SmallFilesLieWithinFlinksMetadata) {
  Upload();
  std::string content = Within("LAVA-CHECKPOINT", PrivateFile(metadata_));
  bool small = false;
  for (const auto& [name, path] : uploaded_) {
    small = !small;
    if (!small) continue;
    content += Within(name, *db.files.Content(path));
    ASSERT_OK(db.files.Remove(path));
  }
  WriteFlinkMetadata(content);
  ExpectWhole();
  int within = 0;
  const Json json = Ask({"verify", "/cp/chk-1"});
  for (const Json& file : json["files"])
    within += file["path"].get<std::string>().find("_metadata[") != std::string::npos ? 1 : 0;
  EXPECT_GE(within, 2);
}

TEST_F(InspectCheckpoint, FilesMayBeMergedIntoOne) {
  Upload();
  std::string merged = "of another operator";
  for (const auto& [name, path] : uploaded_) {
    merged += *db.files.Content(path);
    ASSERT_OK(db.files.Remove(path));
  }
  ASSERT_OK(db.files.CreateDirectory("/cp/taskowned"));
  ASSERT_OK(db.files.SetContent("/cp/taskowned/11", merged));
  WriteFlinkMetadata(Within("LAVA-CHECKPOINT", PrivateFile(metadata_)));
  ExpectWhole();
}

TEST_F(InspectCheckpoint, LocalBackupsAndBareMetadataAreCheckpointsToo) {
  Upload();
  ASSERT_OK(db.files.SetContent("/taken/LAVA-CHECKPOINT", PrivateFile(metadata_)));
  ExpectWhole("/taken");
  ASSERT_OK(db.files.Remove("/taken/LAVA-CHECKPOINT"));
  ASSERT_OK(db.files.SetContent("/taken/metadata", metadata_));
  ExpectWhole("/taken");
  ExpectWhole("/taken/metadata");
}

TEST_F(InspectCheckpoint, ADamagedFooterIsFoundByTheNameThatFlinkGaveTheFile) {
  Upload();
  WriteFlinkMetadata(Within("LAVA-CHECKPOINT", PrivateFile(metadata_)) + HandlesOfAll());
  const std::string path = uploaded_.begin()->second;
  const std::string content = *db.files.Content(path);
  ASSERT_OK(db.files.SetContent(path, content.substr(0, content.size() - 9)));
  const Json faults = Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"];
  ASSERT_FALSE(faults.empty());
  for (const Json& fault : faults) {
    EXPECT_NE(fault["path"].get<std::string>().find(BaseOf(path)), std::string::npos);
    EXPECT_EQ(fault["code"], "Corruption");
  }
  ASSERT_OK(db.files.Remove(path));
  EXPECT_EQ(Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"][0]["code"], "Missing");
}

TEST_F(InspectCheckpoint, ADamagedDescriptionIsAFault) {
  Upload();
  std::string description = PrivateFile(metadata_);
  description[60] ^= 1;
  WriteFlinkMetadata(Within("LAVA-CHECKPOINT", description));
  EXPECT_EQ(Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"].size(), 1u);
}

TEST_F(InspectCheckpoint, SharedFilesStandForThemselves) {
  Upload();
  const Json json = Ask({"files", "/cp/shared"});
  EXPECT_EQ(json["loose"].size(), uploaded_.size());
  for (const Json& file : json["loose"]) EXPECT_FALSE(file["own_name"]);
  EXPECT_EQ(Ask({"verify", "/cp/shared"})["checked_files"], uploaded_.size());
}

TEST_F(InspectCheckpoint, SeveralSubtasksAreSeveralInstances) {
  Upload();
  WriteFlinkMetadata(Within("LAVA-CHECKPOINT", PrivateFile(metadata_)) + "between" +
                     Within("LAVA-CHECKPOINT", PrivateFile(metadata_)));
  EXPECT_EQ(Ask({"summary", "/cp/chk-1"})["instances"].size(), 2u);
}

TEST(InspectFlinkMetadata, WithoutLavaThereIsNothing) {
  EXPECT_TRUE(FindEmbedded("LAVACKPT lavaSST1 lavaVAL1").empty());
  EXPECT_TRUE(FindEmbedded("").empty());
  UploadedFile uploaded;
  EXPECT_FALSE(FindUploaded("", "x", &uploaded));
  EXPECT_FALSE(FindUploaded(Slice("\0\1x\2\0\0", 6), "x", &uploaded));
}

}  // namespace
}  // namespace lava::inspect
