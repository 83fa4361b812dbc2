# SPDX-License-Identifier: GPL-2.0-only
# What every target here has in common.

# mpath_options: warnings as errors, sanitizers, the repository root as include path.
add_library(mpath_options INTERFACE)
target_include_directories(mpath_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(mpath_options INTERFACE
  -Wall -Wextra -Werror -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
target_compile_definitions(mpath_options INTERFACE _GNU_SOURCE)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # It takes the frame of a coroutine in an included source for one in a header.
  target_compile_options(mpath_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(MPATH_SANITIZE)
  target_compile_options(mpath_options INTERFACE -fsanitize=${MPATH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(mpath_options INTERFACE -fsanitize=${MPATH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # clang 14 can't compile a coroutine with it.
    target_compile_options(mpath_options INTERFACE -fno-sanitize=function)
  endif()
  if(MPATH_SANITIZE MATCHES "thread")
    # GCC does not instrument fences for TSan and says so; none are used without an atomic beside them.
    target_compile_options(mpath_options INTERFACE -Wno-tsan)
  endif()
endif()

# mpath_library(FOLDER SOURCES a.cc ... [USES folder|target ...])
# The static library mpath_FOLDER; USES names other folders, or targets of packages.
function(mpath_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  if(arg_SOURCES)
    add_library(mpath_${folder} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(mpath_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(mpath_${folder} ${scope} mpath_options)
  if(MPATH_FUZZ AND arg_SOURCES)
    # What tells a fuzzer where its input has led; costs little where none is linked.
    target_compile_options(mpath_${folder} PRIVATE -O1 -fsanitize=fuzzer-no-link)
  endif()
  foreach(use ${arg_USES})
    if(TARGET mpath_${use} OR IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${use}")
      target_link_libraries(mpath_${folder} ${scope} mpath_${use})
    else()
      target_link_libraries(mpath_${folder} ${scope} ${use})
    endif()
  endforeach()
endfunction()

# mpath_unit_test(FOLDER [BACKENDS] SOURCES a_test.cc ... [USES folder ...])
# One GoogleTest binary unit_FOLDER, run by CTest as one test with the label "unit"; with BACKENDS as a second one,
# unit.FOLDER.poll, on the other backend of net/.
function(mpath_unit_test folder)
  cmake_parse_arguments(arg "BACKENDS" "" "SOURCES;USES" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(unit_${folder} ${arg_SOURCES})
  target_compile_options(unit_${folder} PRIVATE -O0) # tests are compiled more often than they run
  target_link_libraries(unit_${folder} PRIVATE GTest::gmock GTest::gtest_main Threads::Threads)
  foreach(use ${folder} ${arg_USES})
    if(TARGET mpath_${use})
      target_link_libraries(unit_${folder} PRIVATE mpath_${use})
    endif()
  endforeach()
  add_test(NAME unit.${folder} COMMAND unit_${folder} --gtest_brief=1)
  set_tests_properties(unit.${folder} PROPERTIES LABELS unit TIMEOUT 120)
  if(arg_BACKENDS)
    add_test(NAME unit.${folder}.poll COMMAND unit_${folder} --gtest_brief=1)
    set(labels unit)
    if(MPATH_SANITIZE) # the other backend is for the full run then
      list(APPEND labels full)
    endif()
    set_tests_properties(unit.${folder}.poll PROPERTIES LABELS "${labels}" TIMEOUT 120 ENVIRONMENT MPATH_NET=poll)
  endif()
endfunction()
