#include "fs/file_system.h"
#include "lava/db.h"
#include "table/verify.h"

namespace lava {

Status VerifyFile(const std::string& path, std::span<const TableInfo> tables) {
  return VerifyTableFile(fs::FileSystem::Posix(), path, tables);
}

}  // namespace lava
