#include "base/system/environment.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <cstdlib>

namespace base {

std::optional<std::string> environment(const char* name)
{
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return {};
    return text;
}

std::optional<int> environment_number(const char* name)
{
    const std::optional<std::string> text = environment(name);
    if (!text) return {};
    try {
        return parse<int>(*text);
    } catch (const UsageError&) {
        return {};
    }
}

}  // namespace base
