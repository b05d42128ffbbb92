#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"

namespace lava::testing {

/// What a crash leaves of what was not synced.
enum class CrashMode : uint8_t {
  kAll,         // everything that reached the operating system: a process kill
  kSyncedOnly,  // nothing that was not synced, entries of directories included
  kRandom,      // any length of the unsynced ends, any subset of the unsynced directory changes
  kTorn,        // as kRandom, and what was not synced may be there in part
};

/// A file system in memory that tests look into, damage, and crash at any moment.
/// Threads:    any thread.
/// Ownership:  must outlive its files. Directories "/" and "." are there.
class CrashableFileSystem : public fs::FileSystem {
 public:
  /// The file system as it would be after a crash now, everything in it durable, no locks held.
  virtual std::unique_ptr<CrashableFileSystem> CrashClone(CrashMode mode,
                                                          uint64_t seed = 0) const = 0;
  /// How many images a power cut now may leave, where a torn one counts once.
  /// UINT64_MAX: more than can be counted.
  virtual uint64_t CrashStates() const = 0;
  /// One of them, state < CrashStates(); seed decides how what is torn is.
  virtual std::unique_ptr<CrashableFileSystem> CrashCloneAt(uint64_t state,
                                                            uint64_t seed) const = 0;

  /// Calls that changed something.
  virtual uint64_t mutating_calls() const = 0;
  /// Called after every mutating call, with its number from 1, on the thread that made it; it may
  /// call CrashClone. Null: none.
  virtual void SetMutationHook(std::function<void(uint64_t call)> hook) = 0;
  /// Whether what removed files held can be read as long as they are open.
  virtual void SetRemovedFilesReadable(bool readable) = 0;

  /// For tests that damage files: the content, and its replacement (durable at once).
  virtual Result<std::string> Content(const std::string& path) const = 0;
  virtual Status SetContent(const std::string& path, std::string content) = 0;
  /// All files' paths, sorted.
  virtual std::vector<std::string> Paths() const = 0;
};

}  // namespace lava::testing
