// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/nccl/nccl_library.hpp"

#include "base/error.hpp"

#include <string_view>

#include <dlfcn.h>

namespace ddl::nccl {

namespace {

constexpr const char* file = "libnccl.so.2";

template <class Pointer>
void load(void* library, const char* symbol, Pointer& function)
{
    function = reinterpret_cast<Pointer>(::dlsym(library, symbol));
    if (function == nullptr) base::unavailable("--transport nccl: ", file, " has no ", symbol, ", so it is too old");
}

Library loaded()
{
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) base::unavailable("--transport nccl: no ", file, " (part of a LibTorch with CUDA)");
    Library functions;
#define CROSSTALK_LOAD(member, symbol, parameters) load(library, #symbol, functions.member);
    CROSSTALK_NCCL_FUNCTIONS(CROSSTALK_LOAD)
#undef CROSSTALK_LOAD
    load(library, "ncclGetErrorString", functions.error_string);
    load(library, "ncclGetLastError", functions.last_error);
    return functions;
}

}  // namespace

const Library& library()
{
    static const Library functions = loaded();
    return functions;
}

// NCCL's version code is 22809 for 2.28.9; before 2.9 it was 2708 for 2.7.8.
std::string version()
{
    int number = 0;
    check(library().version(&number), "query its version");
    const int thousand = number < 10'000 ? 1'000 : 10'000;
    return base::join(number / thousand, ".", number % thousand / 100, ".", number % 100);
}

void check(Result code, const char* what)
{
    if (code == success || code == in_progress) return;
    const char* const detail = library().last_error(nullptr);
    const std::string_view more = detail == nullptr ? "" : detail;
    base::fail("NCCL cannot ", what, ": ", library().error_string(code), more.empty() ? "" : ": ",
               more.substr(0, more.find('\n')));
}

}  // namespace ddl::nccl
