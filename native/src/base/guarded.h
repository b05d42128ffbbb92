// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "lava/status.h"

namespace lava {

/// A MemoryLimit: the system refused memory. The message is empty if allocating it fails, too.
inline Status NoMemory(std::string_view doing, std::string_view where) noexcept {
  try {
    return Status::MemoryLimit(std::string(doing) + " " + std::string(where) +
                               ": the system refused memory; data is as it was before. Give the "
                               "process more memory, or use less in it");
  } catch (...) {
    return Status(Status::Code::kMemoryLimit, std::string());
  }
}

/// Returns the Status of work(). An exception of work() becomes a Status: std::bad_alloc a
/// MemoryLimit, any other an IOError. doing, where: the operation and its directory, for messages.
template <typename Work>
Status Guarded(std::string_view doing, std::string_view where, Work&& work) noexcept {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return NoMemory(doing, where);
  } catch (const std::exception& e) {
    try {
      return Status::IOError(std::string(doing) + " " + std::string(where) +
                             ": failed in a way that is not known: " + e.what());
    } catch (...) {
      return Status(Status::Code::kIOError, std::string());
    }
  } catch (...) {
    return Status(Status::Code::kIOError, std::string());
  }
}

/// Runs optional work. Returns false if work() threw.
template <typename Work>
bool Tried(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace lava
