// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lava {

/// The result of a call. OK and codes without a message need no allocation.
/// Threads:    a Status is a value; const methods may be called from any thread.
/// Ownership:  owns its message.
class [[nodiscard]] Status {
 public:
  enum class Code : uint8_t {
    kOk = 0,
    kNotFound = 1,         // the key, table or file does not exist; not an error by itself
    kCorruption = 2,       // stored bytes are not what was written; names file and offset
    kIOError = 3,          // the operating system refused; names path and errno; may be retried
    kMemoryLimit = 4,      // the budget refuses
    kInvalidArgument = 5,  // the caller's mistake; nothing was changed
    kClosed = 6,           // the object was closed
    kNotSupported = 7,     // a newer format, or an operation that this object does not have
    kBusy = 8,             // would wait longer than the bound: call again; nothing was changed
    kNoSpace = 9,          // the disk or volume is full; names the directory; retry after freeing
    kNeedsFile = 10,       // on-demand restore: the message is the file's name, see DB
    kAborted = 11,         // cancelled by close
  };

  Status() noexcept = default;
  Status(Code code, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  static Status OK() noexcept { return Status(); }
  static Status NotFound() noexcept { return Status(Code::kNotFound); }
  static Status Busy() noexcept { return Status(Code::kBusy); }
  static Status NotFound(std::string m) { return {Code::kNotFound, std::move(m)}; }
  static Status Corruption(std::string m) { return {Code::kCorruption, std::move(m)}; }
  static Status IOError(std::string m) { return {Code::kIOError, std::move(m)}; }
  static Status MemoryLimit(std::string m) { return {Code::kMemoryLimit, std::move(m)}; }
  static Status InvalidArgument(std::string m) { return {Code::kInvalidArgument, std::move(m)}; }
  static Status Closed(std::string m) { return {Code::kClosed, std::move(m)}; }
  static Status NotSupported(std::string m) { return {Code::kNotSupported, std::move(m)}; }
  static Status Busy(std::string m) { return {Code::kBusy, std::move(m)}; }
  static Status NoSpace(std::string m) { return {Code::kNoSpace, std::move(m)}; }
  static Status NeedsFile(std::string m) { return {Code::kNeedsFile, std::move(m)}; }
  static Status Aborted(std::string m) { return {Code::kAborted, std::move(m)}; }

  bool ok() const noexcept { return code_ == Code::kOk; }
  bool IsNotFound() const noexcept { return code_ == Code::kNotFound; }
  bool IsCorruption() const noexcept { return code_ == Code::kCorruption; }
  bool IsIOError() const noexcept { return code_ == Code::kIOError; }
  bool IsBusy() const noexcept { return code_ == Code::kBusy; }
  bool IsNoSpace() const noexcept { return code_ == Code::kNoSpace; }
  bool IsInvalidArgument() const noexcept { return code_ == Code::kInvalidArgument; }
  bool IsNeedsFile() const noexcept { return code_ == Code::kNeedsFile; }
  bool IsClosed() const noexcept { return code_ == Code::kClosed; }
  Code code() const noexcept { return code_; }

  /// The message without the code's name; valid as long as this Status.
  std::string_view message() const noexcept;
  /// "Corruption: <message>".
  std::string ToString() const;
  /// The same status with "<context>: " before its message; OK stays OK.
  Status WithContext(std::string_view context) const;

 private:
  explicit Status(Code code) noexcept : code_(code) {}

  Code code_ = Code::kOk;
  std::unique_ptr<std::string> message_;
};

/// The name of a code, as ToString() prints it before the message.
std::string_view CodeName(Status::Code code) noexcept;

/// A value, or the Status that tells why there is none.
/// Threads:    a value; as safe as T.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: meant to convert
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: meant to convert

  bool ok() const noexcept { return status_.ok(); }
  const Status& status() const& noexcept { return status_; }
  Status&& status() && noexcept { return std::move(status_); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace lava

/// Returns from the calling function when the expression's Status is not OK.
#define LAVA_RETURN_IF_ERROR(expr)               \
  do {                                           \
    ::lava::Status lava_status_ = (expr);        \
    if (!lava_status_.ok()) return lava_status_; \
  } while (false)

#define LAVA_CONCAT_INNER(a, b) a##b
#define LAVA_CONCAT(a, b) LAVA_CONCAT_INNER(a, b)
// NOLINTBEGIN(bugprone-macro-parentheses): lhs may be a declaration, and tmp is a name
#define LAVA_ASSIGN_IMPL(tmp, lhs, expr)         \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)
/// Assigns the Result's value to lhs, or returns its Status from the calling function.
#define LAVA_ASSIGN_OR_RETURN(lhs, expr) \
  LAVA_ASSIGN_IMPL(LAVA_CONCAT(lava_result_, __LINE__), lhs, expr)
