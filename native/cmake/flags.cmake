# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

# lava_flags: the flags of each target, which a target gets from the libraries that it links.

# Sanitized code that is not optimised at all takes three times as long, and its stacks say no more.
if(LAVA_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG -O1)
endif()
# What stack traces and profiles need; variables too, which a debugger shows, cost a third more time.
set(LAVA_DEBUG_INFO -g1 CACHE STRING "Flag for debug information")
add_library(lava_flags INTERFACE)
target_compile_options(lava_flags INTERFACE ${LAVA_DEBUG_INFO}
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror -ffunction-sections
  -fdata-sections -fno-omit-frame-pointer -msse4.2)
target_compile_definitions(lava_flags INTERFACE XXH_INLINE_ALL)
# Checks the annotations of base/thread_annotations.h, and the order of locks.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(lava_flags INTERFACE -Wthread-safety -Wthread-safety-beta)
endif()
# Sanitizers check more than these do.
if(LAVA_HARDENED AND NOT LAVA_SANITIZE)
  target_compile_options(lava_flags INTERFACE -fstack-protector-strong)
  target_compile_definitions(lava_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
endif()
if(LAVA_SANITIZE STREQUAL "address")
  target_compile_options(lava_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(lava_flags INTERFACE -fsanitize=address,undefined)
elseif(LAVA_SANITIZE STREQUAL "thread")
  target_compile_options(lava_flags INTERFACE -fsanitize=thread)
  target_link_options(lava_flags INTERFACE -fsanitize=thread)
endif()
