// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/outside.hpp"

#include "base/version.hpp"
#include "noisegen/stressors/registry.hpp"

#include <algorithm>
#include <filesystem>

#include <dlfcn.h>

namespace noisegen {

namespace {

namespace fs = std::filesystem;

const OutsideStressor& stressor_in(const fs::path& file)
{
    // The library stays loaded, since its card and stressors are used until the end.
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) base::fail_usage("--load: ", ::dlerror());
    const void* const found = ::dlsym(library, outside_symbol);
    if (found == nullptr)
        base::fail_usage("--load ", file.string(), ": a library without a stressor (CROSSTALK_STRESSOR in ",
                         "noisegen/stressors/outside.hpp)");
    return *static_cast<const OutsideStressor*>(found);
}

void check_fit(const fs::path& file, const OutsideStressor& stressor)
{
    if (stressor.made_for != base::version())
        base::fail_usage("--load ", file.string(), ": made for Crosstalk ", base::printable(stressor.made_for),
                         ", this is ", base::version(), ": build it again");
    if (stressor.bytes_of_card != sizeof(StressorCard) || stressor.bytes_of_place != sizeof(Place) ||
        stressor.bytes_of_work != sizeof(Work))
        base::fail_usage("--load ", file.string(), ": built with other headers or another C++ library than noisegen");
}

void check_name(const fs::path& file, const std::string& name)
{
    const std::vector<std::string> taken = stressors().names();
    if (std::ranges::find(taken, name) != taken.end())
        base::fail_usage("--load ", file.string(), ": there is a stressor '", name, "' already");
    const base::PlugInText text = base::parse_plug_in(name);
    if (text.name != name || name.find('.') == std::string::npos)
        base::fail_usage("--load ", file.string(), ": '", name, "' is not a name such as memory.stream");
}

}  // namespace

std::vector<std::string> load_stressors(const std::vector<std::string>& files)
{
    std::vector<std::string> loaded;
    for (const std::string& word : files) {
        const fs::path file = fs::absolute(word).lexically_normal();  // a path, so that dlopen() does not search
        if (std::ranges::find(loaded, file.string()) != loaded.end()) continue;
        const OutsideStressor& stressor = stressor_in(file);
        check_fit(file, stressor);
        check_name(file, stressor.card->name);
        add_stressor(*stressor.card);
        loaded.push_back(file.string());
    }
    return loaded;
}

}  // namespace noisegen
