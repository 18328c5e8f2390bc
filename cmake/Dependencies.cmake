# SPDX-License-Identifier: Apache-2.0
# Dependencies. Each one found sets CROSSTALK_HAS_<NAME>; if one is missing, the rooms that need it are left out.

include(CTest)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(nlohmann_json 3.11 REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)

# house_found(NAME VARIABLE): sets CROSSTALK_HAS_<NAME> to the value of VARIABLE.
macro(house_found name)
  set(CROSSTALK_HAS_${name} ${${ARGV1}})
endmacro()

find_package(OTF2 MODULE QUIET)
house_found(OTF2 OTF2_FOUND)

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS C)
house_found(MPI MPI_C_FOUND)

pkg_check_modules(PAPI QUIET IMPORTED_TARGET papi)
find_library(PAPI_SDE_LIBRARY sde)
if(PAPI_FOUND AND PAPI_SDE_LIBRARY)
  set(CROSSTALK_HAS_PAPI TRUE)
endif()

pkg_check_modules(URING QUIET IMPORTED_TARGET liburing)
house_found(URING URING_FOUND)

find_package(ZLIB QUIET)  # for HDF5's chunks, Keras's zip archives, the data set digits
pkg_search_module(HDF5 QUIET IMPORTED_TARGET hdf5-serial hdf5)
if(HDF5_FOUND AND ZLIB_FOUND)
  set(CROSSTALK_HAS_HDF5 TRUE)
endif()
pkg_check_modules(ISAL QUIET IMPORTED_TARGET libisal)

find_package(Eigen3 QUIET)
house_found(EIGEN Eigen3_FOUND)

set(CROSSTALK_LIBTORCH "" CACHE PATH "LibTorch that is not the system's: its folder, or a Python (environment) that has it")
if(CROSSTALK_LIBTORCH)
  find_package(TorchWheel REQUIRED)
else()
  find_package(TorchWheel QUIET)
endif()
if(NOT TorchWheel_FOUND)
  find_package(Torch QUIET)
endif()
if(TorchWheel_FOUND OR Torch_FOUND)
  set(CROSSTALK_HAS_TORCH TRUE)
endif()

find_path(GLOO_INCLUDE_DIR gloo/rendezvous/file_store.h)
find_library(GLOO_LIBRARY gloo)
if(GLOO_INCLUDE_DIR AND GLOO_LIBRARY)
  set(CROSSTALK_HAS_GLOO TRUE)
endif()

find_package(CUDAToolkit QUIET)
house_found(CUDA CUDAToolkit_FOUND)

find_package(doctest QUIET)
house_found(DOCTEST doctest_FOUND)
if(doctest_FOUND)
  include(doctest)
elseif(BUILD_TESTING)
  house_left_out("unit tests" "doctest")
endif()

find_package(benchmark QUIET)
house_found(BENCHMARK benchmark_FOUND)
if(NOT benchmark_FOUND)
  house_left_out("benchmarks" "Google Benchmark")
endif()

# A sanitizer's runtime must be preloaded before all other libraries.
set(CROSSTALK_PRELOAD_FIRST "")
if(CROSSTALK_SANITIZE MATCHES address)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
                  OUTPUT_VARIABLE CROSSTALK_PRELOAD_FIRST OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# Debian's LibTorch and OpenMPI are not instrumented, so their leaks are suppressed. A small quarantine of freed memory
# makes LibTorch load faster. intercept_tls_get_addr=0: the leak checker would mistake other memory for the headers of
# thread-local storage of libraries loaded later, and crash.
if(CROSSTALK_SANITIZE)
  set(CROSSTALK_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=1:abort_on_error=0:quarantine_size_mb=16:intercept_tls_get_addr=0"
    "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
    "OMPI_ALLOW_RUN_AS_ROOT=1" "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
else()
  set(CROSSTALK_TEST_ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1" "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
endif()
