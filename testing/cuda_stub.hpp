// SPDX-License-Identifier: Apache-2.0
// Makes this process, or the programs that a test runs, load the stub of the CUDA driver (testing/cuda_stub).
#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace testing {

inline const std::filesystem::path cuda_stub_folder = std::filesystem::path{CROSSTALK_BIN} / "../tests/cuda_stub";

// Variables for testing::Environment with which programs load the stub instead of a real driver. The stub's own
// variables (CUDA_STUB_...) are described in testing/cuda_stub/timeline.hpp.
inline std::map<std::string, std::string> with_cuda_stub(std::map<std::string, std::string> variables = {})
{
    variables["LD_LIBRARY_PATH"] = cuda_stub_folder.lexically_normal().string();
    return variables;
}

// Loads the stub into this process. Call before the first use of the driver.
inline void load_cuda_stub()
{
    const std::string library = (cuda_stub_folder / "libcuda.so.1").lexically_normal().string();
    if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) throw std::runtime_error{::dlerror()};
}

}  // namespace testing
