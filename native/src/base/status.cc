// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/status.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace lava {

Status::Status(Code code, std::string message) : code_(code) {
  if (!message.empty()) message_ = std::make_unique<std::string>(std::move(message));
}

Status::Status(const Status& other) : code_(other.code_) {
  if (other.message_ != nullptr) message_ = std::make_unique<std::string>(*other.message_);
}

Status& Status::operator=(const Status& other) {
  if (this == &other) return *this;
  code_ = other.code_;
  message_ = other.message_ == nullptr ? nullptr : std::make_unique<std::string>(*other.message_);
  return *this;
}

std::string_view Status::message() const noexcept {
  return message_ == nullptr ? std::string_view() : std::string_view(*message_);
}

std::string Status::ToString() const {
  std::string text(CodeName(code_));
  if (message_ != nullptr) text.append(": ").append(*message_);
  return text;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return Status();
  std::string text(context);
  if (message_ != nullptr) text.append(": ").append(*message_);
  return Status(code_, std::move(text));
}

std::string_view CodeName(Status::Code code) noexcept {
  switch (code) {
    case Status::Code::kOk:
      return "OK";
    case Status::Code::kNotFound:
      return "NotFound";
    case Status::Code::kCorruption:
      return "Corruption";
    case Status::Code::kIOError:
      return "IOError";
    case Status::Code::kMemoryLimit:
      return "MemoryLimit";
    case Status::Code::kInvalidArgument:
      return "InvalidArgument";
    case Status::Code::kClosed:
      return "Closed";
    case Status::Code::kNotSupported:
      return "NotSupported";
    case Status::Code::kBusy:
      return "Busy";
    case Status::Code::kNoSpace:
      return "NoSpace";
    case Status::Code::kNeedsFile:
      return "NeedsFile";
    case Status::Code::kAborted:
      return "Aborted";
  }
  return "Unknown";
}

}  // namespace lava
