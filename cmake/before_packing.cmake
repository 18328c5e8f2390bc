# SPDX-License-Identifier: Apache-2.0
# cpack runs this script on the files that it is about to pack.
find_program(CROSSTALK_SHLIBDEPS dpkg-shlibdeps)
find_program(CROSSTALK_FILE file)
if(NOT CROSSTALK_SHLIBDEPS OR NOT CROSSTALK_FILE)
  message(FATAL_ERROR "dpkg-shlibdeps and file find out which libraries the package needs: apt-get install dpkg-dev file")
endif()

# Debian's Python looks for modules in dist-packages.
set(packed ${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
if(EXISTS ${packed}/share/crosstalk/python/crosstalk)
  file(MAKE_DIRECTORY ${packed}/lib/python3/dist-packages)
  file(CREATE_LINK ../../../share/crosstalk/python/crosstalk ${packed}/lib/python3/dist-packages/crosstalk SYMBOLIC)
endif()
