# SPDX-License-Identifier: Apache-2.0
# Finds OTF2, either Debian's (libopen-trace-format2) or the user's (OTF2_ROOT, or otf2-config on PATH): OTF2::OTF2.
find_program(OTF2_CONFIG otf2-config HINTS ${OTF2_ROOT} ENV OTF2_ROOT PATH_SUFFIXES bin)
if(OTF2_CONFIG)
  cmake_path(GET OTF2_CONFIG PARENT_PATH otf2_bin)
  cmake_path(GET otf2_bin PARENT_PATH otf2_prefix)
endif()
find_path(OTF2_INCLUDE_DIR otf2/otf2.h HINTS ${OTF2_ROOT} ${otf2_prefix} PATH_SUFFIXES include)
find_library(OTF2_LIBRARY NAMES open-trace-format2 otf2 HINTS ${OTF2_ROOT} ${otf2_prefix} PATH_SUFFIXES lib)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OTF2 REQUIRED_VARS OTF2_LIBRARY OTF2_INCLUDE_DIR)
if(OTF2_FOUND AND NOT TARGET OTF2::OTF2)
  add_library(OTF2::OTF2 UNKNOWN IMPORTED)
  set_target_properties(OTF2::OTF2 PROPERTIES
    IMPORTED_LOCATION ${OTF2_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${OTF2_INCLUDE_DIR})
endif()
