// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/verify_file.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cache/block_cache.h"
#include "fs/file_system.h"
#include "lava/db.h"
#include "lava/status.h"
#include "lava/volume.h"
#include "table/verify.h"
#include "value/value_reader.h"

namespace lava {

Status VerifyStoredFile(fs::FileSystem* file_system, const std::string& path,
                        std::span<const TableInfo> tables) {
  if (!path.ends_with(".vsst")) return VerifyTableFile(file_system, path, tables);
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> file, file_system->OpenRandom(path));
  const std::unique_ptr<BlockCache> cache = BlockCache::Create(0);
  LAVA_ASSIGN_OR_RETURN(const std::shared_ptr<ValueReader> reader,
                        ValueReader::Open(std::move(file), cache.get(), nullptr, nullptr));
  return reader->VerifyAll();
}

Status VerifyFile(const std::string& path, std::span<const TableInfo> tables,
                  SharedVolume* volume) {
  fs::FileSystem* const files = volume != nullptr ? volume->file_system() : fs::FileSystem::Posix();
  return VerifyStoredFile(files, path, tables);
}

}  // namespace lava
