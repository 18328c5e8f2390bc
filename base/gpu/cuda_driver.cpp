// SPDX-License-Identifier: Apache-2.0
#include "base/gpu/cuda_driver.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <array>

#include <dlfcn.h>

namespace base::cuda {

namespace {

// The driver, or the reason why it could not be loaded.
struct Loaded {
    Driver functions;
    std::string missing;  // empty: the driver is loaded
    Result initialised = success;
};

template <class Pointer>
void load(void* library, const char* symbol, Pointer& function, std::string& missing)
{
    function = reinterpret_cast<Pointer>(::dlsym(library, symbol));
    if (function == nullptr && missing.empty()) missing = join("its libcuda.so.1 lacks ", symbol);
}

Loaded load_driver()
{
    Loaded loaded;
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
        loaded.missing = "no libcuda.so.1 (part of NVIDIA's driver)";
        return loaded;
    }
#define CROSSTALK_LOAD(member, symbol, parameters) load(library, #symbol, loaded.functions.member, loaded.missing);
    CROSSTALK_CUDA_FUNCTIONS(CROSSTALK_LOAD)
#undef CROSSTALK_LOAD
    if (loaded.missing.empty()) loaded.initialised = loaded.functions.init(0);
    return loaded;
}

const Loaded& loaded()
{
    static const Loaded all = load_driver();
    return all;
}

Device device_of(int number)
{
    Device device = 0;
    check(driver().device(&device, number), "find the GPU");
    return device;
}

std::string text_of(const Driver& functions, Result code)
{
    const char* name = nullptr;
    const char* text = nullptr;
    functions.error_name(code, &name);
    functions.error_string(code, &text);
    if (name == nullptr) return join("CUDA error ", code);
    return text == nullptr ? name : join(name, ": ", text);
}

}  // namespace

const Driver& driver()
{
    const Loaded& all = loaded();
    if (!all.missing.empty()) unavailable("there is no GPU: ", all.missing);
    if (all.initialised != success) unavailable("there is no GPU: ", text_of(all.functions, all.initialised));
    return all.functions;
}

int devices()
{
    const Loaded& all = loaded();
    int count = 0;
    if (!all.missing.empty() || all.initialised != success || all.functions.device_count(&count) != success) return 0;
    return count;
}

std::string device_name(int number)
{
    std::array<char, 128> name{};
    check(driver().device_name(name.data(), static_cast<int>(name.size()), device_of(number)), "name the GPU");
    return name.data();
}

std::string pci_id(int number)
{
    std::array<char, 32> text{};
    check(driver().pci_bus_id(text.data(), static_cast<int>(text.size()), device_of(number)),
          "find the GPU on the PCI bus");
    return lower_case(text.data());
}

std::string error_text(Result code)
{
    return text_of(driver(), code);
}

void check(Result code, const char* what)
{
    if (code != success) fail("cannot ", what, ": ", error_text(code));
}

}  // namespace base::cuda
