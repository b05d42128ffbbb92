# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

# The functions that the folders' files call. Each file names its sources; tools/check_layers.py
# compares the names with the files.

# lava_library(FOLDER SOURCES FILE... [USES FOLDER...]): the static library lava_<folder> of a folder of
# src/, with the libraries that it uses.
function(lava_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
  list(TRANSFORM arg_USES PREPEND lava_)
  add_library(lava_${folder} STATIC ${arg_SOURCES})
  target_include_directories(lava_${folder} PUBLIC
    ${lava_SOURCE_DIR}/include ${lava_SOURCE_DIR}/src)
  target_link_libraries(lava_${folder} PUBLIC lava_flags Threads::Threads ${arg_USES})
endfunction()

if(LAVA_TESTS)
  find_package(GTest REQUIRED)
  # There are many programs; it links each in half of the time.
  find_program(GOLD ld.gold)
endif()

# lava_test(NAME [OPTIMISED] [BARE] SOURCES FILE... USES LIBRARY...): a test program, and the test of this
# name. A folder of src/ has one, whose tests stand beside the code as <name>_test.cc. It links the
# folder's own library and what that depends on, so that a folder can be tested by itself. BARE: without
# lava_testing, which brings LavaFS with it.
function(lava_test name)
  if(NOT LAVA_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED;BARE" "" "SOURCES;USES")
  list(TRANSFORM arg_USES PREPEND lava_)
  if(NOT arg_BARE)
    list(APPEND arg_USES lava_testing)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${lava_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_USES} lava_base GTest::gtest GTest::gtest_main)
  # Optimising the tests themselves takes more time than running them, but for those that run long;
  # the engine stays optimised.
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${arg_OPTIMISED}>,-O1,-O0>)
  if(GOLD)
    target_link_options(${name} PRIVATE -fuse-ld=gold)
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${lava_BINARY_DIR})
endfunction()

# lava_test_on_lavafs(NAME [BUILDS plain|address|thread...] [ENVIRONMENT VARIABLE=VALUE...]): the same
# program once more, with what it would put into memory or a directory of the system on LavaFS instead.
# Only in builds with these sanitizers; plain means none.
function(lava_test_on_lavafs name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "BUILDS;ENVIRONMENT")
  set(build ${LAVA_SANITIZE})
  if(NOT build)
    set(build plain)
  endif()
  if(NOT LAVA_TESTS OR (arg_BUILDS AND NOT build IN_LIST arg_BUILDS))
    return()
  endif()
  set(test ${name}_on_lavafs)
  add_test(NAME ${test} COMMAND ${name} WORKING_DIRECTORY ${lava_BINARY_DIR})
  set_tests_properties(${test} PROPERTIES
    ENVIRONMENT "LAVA_TEST_FILE_SYSTEM=lavafs;${arg_ENVIRONMENT}")
endfunction()

# lava_tool(FOLDER PROGRAM MAIN FILE SOURCES FILE... TESTS FILE... PATH_NAME MACRO USES LIBRARY...): a
# program of a folder of tools/: the library lava_<folder>, a main file, and <folder>_test, whose tests
# also run the program; the macro is its path. JSON and the parsing of arguments come from libraries of
# headers that the engine does not need.
function(lava_tool folder program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "MAIN;PATH_NAME" "SOURCES;TESTS;USES")
  find_path(JSON_INCLUDE nlohmann/json.hpp REQUIRED)
  find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
  set(library lava_${folder})
  set(uses ${arg_USES})
  list(TRANSFORM uses PREPEND lava_)
  add_library(${library} STATIC ${arg_SOURCES})
  target_include_directories(${library} PUBLIC ${lava_SOURCE_DIR}/tools)
  target_include_directories(${library} SYSTEM PUBLIC ${JSON_INCLUDE} ${CLI11_INCLUDE})
  target_link_libraries(${library} PUBLIC ${uses})
  # These headers take most of the build's time when they are optimised; the engine's code stays so.
  target_compile_options(${library} PRIVATE $<IF:$<BOOL:${LAVA_SANITIZE}>,-O0,-O1>)
  add_executable(${program} ${arg_MAIN})
  target_link_libraries(${program} PRIVATE ${library})
  if(LAVA_TESTS)
    lava_test(${folder}_test SOURCES ${arg_TESTS} USES ${folder} ${arg_USES})
    target_compile_definitions(${folder}_test PRIVATE
      "${arg_PATH_NAME}=\"$<TARGET_FILE:${program}>\"")
    add_dependencies(${folder}_test ${program})
    set_tests_properties(${folder}_test PROPERTIES COST 500)
  endif()
endfunction()
