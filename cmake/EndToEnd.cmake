# SPDX-License-Identifier: GPL-2.0-only
# Tests of the built engine in the installed fio against the embedded target, written in Python.
include_guard()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# fio itself is built without sanitizers, so it must load their libraries before anything else.
set(preload "")
if(MPATH_SANITIZE)
  set(libraries libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so) # has the one for undefined behaviour in it
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    set(libraries libtsan.so)
  endif()
  foreach(library ${libraries})
    execute_process(COMMAND "${CMAKE_C_COMPILER}" "-print-file-name=${library}"
      OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND preload " ${file}")
  endforeach()
endif()
string(STRIP "${preload}" preload)
set(MPATH_END_TO_END_ENVIRONMENT
  "MPATH_ENGINE=$<TARGET_FILE:mpath_plugin>"
  "MPATH_COMMAND=$<TARGET_FILE:fio-mpath-command>"
  "MPATH_SANITIZE=${MPATH_SANITIZE}"
  "MPATH_PRELOAD=${preload}")

# mpath_end_to_end_suite(SUITE [SANITIZED name ...])
# Every NAME_test.py of the current folder, or with sanitizers those that are named; sets `names` to what it added.
function(mpath_end_to_end_suite suite)
  cmake_parse_arguments(arg "" "" "SANITIZED" ${ARGN})
  file(GLOB names CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*_test.py")
  list(TRANSFORM names REPLACE "_test.py$" "")
  if(MPATH_SANITIZE)
    set(names ${arg_SANITIZED})
  endif()
  foreach(name ${names})
    mpath_end_to_end_test(${suite} ${name})
  endforeach()
  set(names ${names} PARENT_SCOPE)
endfunction()

# mpath_end_to_end_test(SUITE NAME [BACKEND backend] [LABELS label ...])
# Runs NAME_test.py of the current folder as SUITE.NAME, with the label SUITE and others; with BACKEND, on this backend
# of net/, as SUITE.NAME.BACKEND.
function(mpath_end_to_end_test suite name)
  cmake_parse_arguments(arg "" "BACKEND" "LABELS" ${ARGN})
  set(test ${suite}.${name})
  set(environment ${MPATH_END_TO_END_ENVIRONMENT})
  if(arg_BACKEND)
    string(APPEND test .${arg_BACKEND})
    list(APPEND environment MPATH_NET=${arg_BACKEND})
  endif()
  add_test(NAME ${test} COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/${name}_test.py")
  set_tests_properties(${test} PROPERTIES LABELS "${suite};${arg_LABELS}" TIMEOUT 600 ENVIRONMENT "${environment}")
endfunction()
