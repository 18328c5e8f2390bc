// SPDX-License-Identifier: Apache-2.0
// The CUDA driver stub (testing/cuda_stub) for this process, or for programs that a test runs.
#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace testing {

inline const std::filesystem::path cuda_stub_folder = std::filesystem::path{CROSSTALK_BIN} / "../tests/cuda_stub";

// For testing::Environment: programs load the stub instead of any real driver. For CUDA_STUB_.. see
// testing/cuda_stub/timeline.hpp.
inline std::map<std::string, std::string> with_cuda_stub(std::map<std::string, std::string> variables = {})
{
    variables["LD_LIBRARY_PATH"] = cuda_stub_folder.lexically_normal().string();
    return variables;
}

// From now on this process uses the stub, too. Call before the first use of the driver.
inline void load_cuda_stub()
{
    const std::string library = (cuda_stub_folder / "libcuda.so.1").lexically_normal().string();
    if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) throw std::runtime_error{::dlerror()};
}

}  // namespace testing
