# SPDX-License-Identifier: Apache-2.0
# The only sources that see LibTorch's headers, which cost 10 to 20 s a file: compiled as one, or precompiled.

house_library(ddl-networks FOLDERS models/torch models/torch/device USES ddl torch)
if(NOT CMAKE_UNITY_BUILD)
  target_precompile_headers(ddl-networks PRIVATE <torch/torch.h>)
  set_source_files_properties(models/torch/makers.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
set_target_properties(ddl-networks PROPERTIES POSITION_INDEPENDENT_CODE ON)
if(TorchWheel_CUDA)
  target_compile_definitions(ddl-networks PRIVATE CROSSTALK_TORCH_CUDA)
  target_link_libraries(ddl-networks PUBLIC CUDA::cudart)
endif()
# GCC warns of LibTorch's own code where it is inlined into ours.
target_compile_options(ddl-networks PRIVATE -Wno-maybe-uninitialized)

find_file(TORCH_CONTEXT_HEADER torch/csrc/distributed/autograd/context/context.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
if(NOT TORCH_CONTEXT_HEADER)
  target_include_directories(ddl-networks SYSTEM PRIVATE models/torch/shim)
endif()

# A program loads this library when it needs it; the rest of ddl is in the program.
add_library(crosstalk-torch MODULE $<TARGET_OBJECTS:ddl-networks>)
target_link_libraries(crosstalk-torch PRIVATE torch)
set_target_properties(crosstalk-torch PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINKER_LANGUAGE CXX
  INSTALL_RPATH_USE_LINK_PATH ON)
if(CROSSTALK_SANITIZE)
  target_link_options(crosstalk-torch PRIVATE -fsanitize=${CROSSTALK_SANITIZE})
endif()
install(TARGETS crosstalk-torch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
