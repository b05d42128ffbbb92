// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tuple>

#include "jni_util.h"
#include "lava/options.h"
#include "packer.h"

namespace lava::jni {

template <typename T>
struct DbOption {
  const char* name;
  T DBOptions::*field;
};

template <typename T>
DbOption(const char*, T DBOptions::*) -> DbOption<T>;

/// An option under the name of its field.
#define LAVA_DB_OPTION(field) \
  DbOption { #field, &DBOptions::field }

/// The options that Java passes as numbers, in the order of DBOption.java. DBOptionTest.java
/// compares the two tables. See docs/adding-an-option.md for the other steps.
inline constexpr std::tuple kDbOptions{
    LAVA_DB_OPTION(partition_bytes),
    LAVA_DB_OPTION(partition_first),
    LAVA_DB_OPTION(partition_last),
    LAVA_DB_OPTION(create_if_missing),
    LAVA_DB_OPTION(sync),
    LAVA_DB_OPTION(wal),
    LAVA_DB_OPTION(large_value_bytes),
    LAVA_DB_OPTION(use_direct_reads),
    LAVA_DB_OPTION(use_direct_io_for_flush_and_compaction),
    LAVA_DB_OPTION(memtable_bytes),
    LAVA_DB_OPTION(block_bytes),
    LAVA_DB_OPTION(index_partition_bytes),
    LAVA_DB_OPTION(filter_bits_per_key),
    LAVA_DB_OPTION(compression),
    LAVA_DB_OPTION(bottom_compression),
    LAVA_DB_OPTION(target_file_bytes),
    LAVA_DB_OPTION(value_file_bytes),
    LAVA_DB_OPTION(value_compression),
    LAVA_DB_OPTION(value_policy),
    LAVA_DB_OPTION(value_decisions_max),
    LAVA_DB_OPTION(collection_garbage_percent),
    LAVA_DB_OPTION(collection_jobs_max),
    LAVA_DB_OPTION(collection_upload_cost_percent),
    LAVA_DB_OPTION(space_low_percent),
    LAVA_DB_OPTION(space_high_percent),
    LAVA_DB_OPTION(space_low_bytes),
    LAVA_DB_OPTION(space_high_bytes),
    LAVA_DB_OPTION(level1_bytes),
    LAVA_DB_OPTION(level_multiplier),
    LAVA_DB_OPTION(level_count),
    LAVA_DB_OPTION(l0_compaction_trigger),
    LAVA_DB_OPTION(l0_stall_trigger),
    LAVA_DB_OPTION(sealed_runs_max),
};

#undef LAVA_DB_OPTION

/// Converts the numbers that DBOptions.java packed.
/// Errors:     throws InvalidArgument's JavaError.
DBOptions ToDbOptions(JNIEnv* env, jlongArray numbers);

/// The table for DBOptionTest.java: the number of options, then name and default of each.
void PackDbOptions(Packer* out);

}  // namespace lava::jni
