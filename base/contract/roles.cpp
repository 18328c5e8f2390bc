// SPDX-License-Identifier: Apache-2.0
#include "base/contract/roles.hpp"

#include "base/error.hpp"

#include <array>
#include <utility>

namespace base {

namespace {

constexpr std::array<std::pair<Role, const char*>, 5> words_of_roles{{{Role::treatment, "treatment"},
                                                                      {Role::placebo, "placebo"},
                                                                      {Role::delay, "delay"},
                                                                      {Role::sham, "sham"},
                                                                      {Role::pause, "pause"}}};

}  // namespace

std::string text(Role role)
{
    for (const auto& [known, word] : words_of_roles)
        if (known == role) return word;
    return "";
}

Role parse_role(const std::string& word)
{
    for (const auto& [role, known] : words_of_roles)
        if (word == known) return role;
    fail("'", word, "' is not a role of a factor (treatment, placebo, delay, sham, pause)");
}

}  // namespace base
