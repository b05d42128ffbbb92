// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db_options.h"

#include <jni.h>

#include <cstdint>
#include <tuple>

#include "jni_util.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "packer.h"

namespace lava::jni {
namespace {

void Take(OptionNumbers* in, uint32_t* to) { *to = in->Next32(); }
void Take(OptionNumbers* in, uint64_t* to) { *to = in->Next(); }
void Take(OptionNumbers* in, bool* to) { *to = in->Next() != 0; }
void Take(OptionNumbers* in, Compression* to) { *to = ToCompression(in->Next32()); }
void Take(OptionNumbers* in, WalMode* to) { *to = ToWalMode(in->Next32()); }
void Take(OptionNumbers* in, ValuePolicy* to) { *to = ToValuePolicy(in->Next32()); }

}  // namespace

DBOptions ToDbOptions(JNIEnv* env, jlongArray numbers) {
  OptionNumbers in(env, numbers);
  DBOptions o;
  std::apply([&](const auto&... option) { (Take(&in, &(o.*option.field)), ...); }, kDbOptions);
  in.End();
  return o;
}

void PackDbOptions(Packer* out) {
  const DBOptions defaults;
  out->Int32(std::tuple_size_v<decltype(kDbOptions)>);
  std::apply(
      [&](const auto&... option) {
        ((out->Bytes(Slice(option.name)),
          out->Int64(static_cast<uint64_t>(defaults.*option.field))),
         ...);
      },
      kDbOptions);
}

}  // namespace lava::jni
