# SPDX-License-Identifier: GPL-2.0-only
# Test structure.headers: every header of the product compiles alone, as C++20; those that fio's C code includes
# (all of plugin/) as C11.

# header_units(TARGET LANGUAGE_SUFFIX HEADER...): an object library with one unit a header.
function(header_units target suffix)
  set(units "")
  foreach(header ${ARGN})
    string(MAKE_C_IDENTIFIER "${header}" name)
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.${suffix}")
    # Twice: a second inclusion must be harmless too.
    file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND units "${unit}")
  endforeach()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${units})
  target_link_libraries(${target} PRIVATE mpath_options fmt::fmt PkgConfig::liburing PkgConfig::libnvme)
  target_compile_options(${target} PRIVATE -O0 -g0)
endfunction()

set(cxx_headers "")
foreach(folder base path net nvme multipath record live job target run cli)
  file(GLOB_RECURSE headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.h")
  list(APPEND cxx_headers ${headers})
endforeach()
file(GLOB_RECURSE c_headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plugin/*.h")

set(libraries "")
if(cxx_headers)
  if(EXISTS "${PROJECT_SOURCE_DIR}/plugin/bridge.h")
    list(APPEND cxx_headers plugin/bridge.h)
  endif()
  header_units(structure_cxx_headers cc ${cxx_headers})
  list(APPEND libraries structure_cxx_headers)
endif()
if(c_headers)
  header_units(structure_c_headers c ${c_headers})
  if(TARGET mpath_fio_headers)
    target_link_libraries(structure_c_headers PRIVATE mpath_fio_headers)
  endif()
  list(APPEND libraries structure_c_headers)
endif()

add_test(NAME structure.headers COMMAND ${CMAKE_COMMAND} --build "${CMAKE_BINARY_DIR}" --target ${libraries})
set_tests_properties(structure.headers PROPERTIES LABELS structure TIMEOUT 300)
