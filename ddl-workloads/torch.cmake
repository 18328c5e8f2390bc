# ddl-torch: the only sources that see LibTorch's headers, which cost 10 to 20 s a file: compiled as one, or precompiled.

house_library(ddl-torch FOLDERS models/torch USES ddl torch)
if(NOT CMAKE_UNITY_BUILD)
  target_precompile_headers(ddl-torch PRIVATE <torch/torch.h>)
  set_source_files_properties(models/torch/registry.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
target_compile_definitions(ddl-torch PUBLIC CROSSTALK_DDL_TORCH)
# GCC finds one in LibTorch's own code, where it is inlined into ours.
target_compile_options(ddl-torch PRIVATE -Wno-maybe-uninitialized)

find_file(TORCH_CONTEXT_HEADER torch/csrc/distributed/autograd/context/context.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH)
if(NOT TORCH_CONTEXT_HEADER)
  target_include_directories(ddl-torch SYSTEM PRIVATE models/torch/shim)
endif()
