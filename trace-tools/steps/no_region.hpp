// What to say where an archive has no region of the name that the user gave.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <string>

namespace otf2 {

// Throws UsageError with the name that is nearest. `option`: "--region".
[[noreturn]] void fail_no_region(const Archive& archive, const std::string& name, const char* option);

}  // namespace otf2
