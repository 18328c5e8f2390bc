// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/hooks/make_hooks.hpp"

#include <utility>

namespace ddl {

std::vector<std::shared_ptr<Hook>> make_hooks(const HookParts& parts)
{
    std::vector<std::shared_ptr<Hook>> hooks;
    for (const auto make : {
#define HOOK(name) make_##name,
#include "ddl-workloads/hooks/hooks.inc"
#undef HOOK
         })
        if (std::shared_ptr<Hook> hook = make(parts)) hooks.push_back(std::move(hook));
    return hooks;
}

}  // namespace ddl
