# SPDX-License-Identifier: GPL-2.0-only
# The source of the fio that will load the engine. Debian packages no fio headers, so scripts/fetch-fio-source
# brings the source package of the installed version into build/fio-source, shared by all build folders.
#   MPATH_FIO_SOURCE      cache entry: the unpacked and configured source
#   MPATH_FIO_SOURCE_DIR  the same without symbolic links: another fio is another path, which rebuilds
#   MPATH_FIO_VERSION     what that fio says of itself, as "fio-3.33"
#   mpath_fio_headers     interface target: include path, config-host.h, _GNU_SOURCE
set(MPATH_FIO_SOURCE "${PROJECT_SOURCE_DIR}/build/fio-source/current" CACHE PATH
  "Source of the fio that will load the engine, configured (scripts/fetch-fio-source)")

foreach(file fio.h config-host.h FIO-VERSION-FILE)
  if(NOT EXISTS "${MPATH_FIO_SOURCE}/${file}")
    message(FATAL_ERROR "No ${file} in MPATH_FIO_SOURCE=${MPATH_FIO_SOURCE}.\n"
      "Run scripts/fetch-fio-source: it fetches and configures the source of the installed fio. "
      "(scripts/demo and scripts/test do that by themselves.)")
  endif()
endforeach()

file(REAL_PATH "${MPATH_FIO_SOURCE}" MPATH_FIO_SOURCE_DIR)
file(STRINGS "${MPATH_FIO_SOURCE_DIR}/FIO-VERSION-FILE" MPATH_FIO_VERSION REGEX "^FIO_VERSION = ")
string(REPLACE "FIO_VERSION = " "" MPATH_FIO_VERSION "${MPATH_FIO_VERSION}")

if(NOT TARGET mpath_fio_headers)
  add_library(mpath_fio_headers INTERFACE)
  target_include_directories(mpath_fio_headers SYSTEM INTERFACE "${MPATH_FIO_SOURCE_DIR}")
  # Fio's headers do not include their own configuration.
  target_compile_options(mpath_fio_headers INTERFACE "SHELL:-include \"${MPATH_FIO_SOURCE_DIR}/config-host.h\"")
  target_compile_definitions(mpath_fio_headers INTERFACE _GNU_SOURCE)
endif()
