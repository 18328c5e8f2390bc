# SPDX-License-Identifier: Apache-2.0
# Documents link to each other, so they are installed in the same layout as in the source tree.
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# cpack, run in a build folder, makes a Debian package of everything that is installed.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Crosstalk developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Private directories of libraries that belong to no Debian package: CUDA's, or a LibTorch that is not Debian's.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib ${CUDAToolkit_LIBRARY_DIR})
if(TorchWheel_FOUND)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${TorchWheel_FOLDER}/lib)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin, gnuplot-nox, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "slurm-wlm, python3-torch")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/before_packing.cmake)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # only programs are packed; tests need not be built
include(CPack)
