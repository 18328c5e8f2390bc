# SPDX-License-Identifier: Apache-2.0
# Finds a LibTorch other than the system's: Python's package torch, or an unpacked LibTorch. PyTorch's own
# TorchConfig.cmake requires the whole CUDA toolkit if its LibTorch supports CUDA; this module only requires LibTorch.
#
#   CROSSTALK_LIBTORCH   LibTorch's folder, a Python environment that contains it, or a Python interpreter
#   CMAKE_PREFIX_PATH    or a path in here, such as torch.utils.cmake_prefix_path
#
# Target: torch, with its CUDA part only if CROSSTALK_CUDA is on and the package has one. Variables: TorchWheel_FOUND,
# TorchWheel_FOLDER, TorchWheel_VERSION, TorchWheel_CUDA, TORCH_INCLUDE_DIRS.

set(candidates ${CROSSTALK_LIBTORCH})
if(NOT candidates)
  set(candidates ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH})
  string(REPLACE ":" ";" candidates "${candidates}")
endif()

set(folders)
foreach(candidate ${candidates})
  cmake_path(ABSOLUTE_PATH candidate NORMALIZE)
  if(EXISTS ${candidate} AND NOT IS_DIRECTORY ${candidate})
    execute_process(COMMAND ${candidate} -c "import importlib.util; print(*importlib.util.find_spec('torch').submodule_search_locations)"
                    OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND folders ${package})
    continue()
  endif()
  file(GLOB packages ${candidate}/lib/python3*/site-packages/torch)
  list(APPEND folders ${candidate} ${candidate}/torch ${candidate}/../.. ${packages})
endforeach()

find_library(TorchWheel_LIBRARY torch_cpu PATHS ${folders} PATH_SUFFIXES lib NO_DEFAULT_PATH NO_CACHE)
if(TorchWheel_LIBRARY)
  cmake_path(GET TorchWheel_LIBRARY PARENT_PATH library_folder)
  cmake_path(GET library_folder PARENT_PATH TorchWheel_FOLDER)
  set(TORCH_INCLUDE_DIRS ${TorchWheel_FOLDER}/include ${TorchWheel_FOLDER}/include/torch/csrc/api/include)
  file(GLOB version_headers ${TorchWheel_FOLDER}/include/torch/csrc/api/include/torch/version.h
                            ${TorchWheel_FOLDER}/include/torch/headeronly/version.h)
  set(version)
  foreach(header ${version_headers})
    file(STRINGS ${header} numbers REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    list(APPEND version ${numbers})
  endforeach()
  list(TRANSFORM version REPLACE ".* ([0-9]+).*" "\\1")
  list(JOIN version "." TorchWheel_VERSION)
  # Libraries with the C++ ABI from before GCC 5 name std::string differently, so linking would fail.
  file(STRINGS ${library_folder}/libc10.so new_strings REGEX "St7__cxx1112basic_string" LIMIT_COUNT 1)
  if(NOT new_strings)
    set(TorchWheel_NOT_FOUND_MESSAGE "${TorchWheel_FOLDER} was built with the C++ ABI of before GCC 5: take a later one")
    unset(TorchWheel_LIBRARY)
  endif()
elseif(CROSSTALK_LIBTORCH)
  set(TorchWheel_NOT_FOUND_MESSAGE "${CROSSTALK_LIBTORCH} has no LibTorch: CROSSTALK_LIBTORCH is its folder, or a Python (environment) with the package torch")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchWheel REQUIRED_VARS TorchWheel_LIBRARY TORCH_INCLUDE_DIRS
                                  VERSION_VAR TorchWheel_VERSION REASON_FAILURE_MESSAGE "${TorchWheel_NOT_FOUND_MESSAGE}")
if(TorchWheel_FOUND AND NOT TARGET torch)
  add_library(torch INTERFACE IMPORTED)
  target_include_directories(torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(torch INTERFACE ${TorchWheel_LIBRARY} ${library_folder}/libc10.so)
  # LibTorch's own dependencies are found by its run path, which ld does not follow.
  target_link_options(torch INTERFACE LINKER:--allow-shlib-undefined)
  set(TorchWheel_CUDA FALSE)
  if(CROSSTALK_CUDA AND EXISTS ${library_folder}/libtorch_cuda.so)
    set(TorchWheel_CUDA TRUE)
    # No symbol of libtorch_cuda is referenced: the library registers its functions when it is loaded.
    target_link_libraries(torch INTERFACE -Wl,--push-state,--no-as-needed ${library_folder}/libtorch_cuda.so
                          ${library_folder}/libc10_cuda.so -Wl,--pop-state)
  endif()
endif()
