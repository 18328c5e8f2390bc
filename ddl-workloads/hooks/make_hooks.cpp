// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/hooks/make_hooks.hpp"

#include <utility>

namespace ddl {

namespace hook {
#define HOOK(name) extern const HookCard name;
#include "ddl-workloads/hooks/hooks.inc"
#undef HOOK
}  // namespace hook

namespace {

constexpr const HookCard* hook_cards[] = {
#define HOOK(name) &hook::name,
#include "ddl-workloads/hooks/hooks.inc"
#undef HOOK
};

}  // namespace

std::vector<base::OptionCard> hook_options()
{
    std::vector<base::OptionCard> all;
    for (const HookCard* card : hook_cards) all.insert(all.end(), card->options.begin(), card->options.end());
    return all;
}

std::vector<std::shared_ptr<Hook>> make_hooks(const HookParts& parts)
{
    std::vector<std::shared_ptr<Hook>> hooks;
    for (const HookCard* card : hook_cards)
        if (std::shared_ptr<Hook> hook = card->make(parts)) hooks.push_back(std::move(hook));
    return hooks;
}

}  // namespace ddl
