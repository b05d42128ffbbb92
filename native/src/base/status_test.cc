// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/status.h"

#include <gtest/gtest.h>

namespace lava {
namespace {

TEST(StatusTest, OkHasNoMessage) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.ToString(), "OK");
}

TEST(StatusTest, CarriesCodeAndMessage) {
  Status status = Status::Corruption("file 7: bad");
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_EQ(status.ToString(), "Corruption: file 7: bad");
  EXPECT_EQ(Status::Busy().ToString(), "Busy");
}

TEST(StatusTest, CopiesAreIndependent) {
  Status first = Status::IOError("first");
  Status second = first;
  first = Status::NoSpace("other");
  EXPECT_EQ(second.ToString(), "IOError: first");
  second = second.WithContext("context");
  EXPECT_EQ(second.ToString(), "IOError: context: first");
  second = Status::NotFound();
  EXPECT_EQ(second.message(), "");
  EXPECT_EQ(first.ToString(), "NoSpace: other");
}

TEST(StatusTest, ContextLeavesOkAlone) {
  EXPECT_TRUE(Status::OK().WithContext("x").ok());
  EXPECT_EQ(Status::NotFound().WithContext("get").ToString(), "NotFound: get");
}

TEST(StatusTest, EveryCodeHasItsOwnName) {
  std::string names;
  for (uint8_t code = 0; code <= static_cast<uint8_t>(Status::Code::kAborted); ++code) {
    const std::string name(CodeName(static_cast<Status::Code>(code)));
    EXPECT_NE(name, "Unknown");
    EXPECT_EQ(names.find("|" + name + "|"), std::string::npos);
    names.append("|").append(name).append("|");
  }
  EXPECT_EQ(CodeName(static_cast<Status::Code>(200)), "Unknown");
}

Result<int> Half(int n) {
  if (n % 2 != 0) return Status::InvalidArgument("odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  LAVA_ASSIGN_OR_RETURN(const int half, Half(n));
  return Half(half);
}

Status Check(int n) {
  LAVA_RETURN_IF_ERROR(Quarter(n).status());
  return Status::OK();
}

TEST(ResultTest, ValueOrStatus) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_TRUE(Quarter(6).status().IsInvalidArgument());
  EXPECT_TRUE(Check(8).ok());
  EXPECT_EQ(Check(7).ToString(), "InvalidArgument: odd");
}

}  // namespace
}  // namespace lava
