// SPDX-License-Identifier: Apache-2.0
// Capabilities that plug-ins offer to each other and need from each other. The plug-ins' cards list both, so that no
// code refers to a plug-in by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace base {

// A capability is defined once, as an inline constant next to the cards that may offer it, and compared by address.
struct Capability {
    std::string_view text;  // description of what offers it: "a transport that exchanges host memory"
};
using Capabilities = std::vector<const Capability*>;

bool contains(const Capabilities& capabilities, const Capability& wanted);

// A plug-in or an option as the user wrote it, with its capabilities.
struct Choice {
    std::string text;  // "--strategy ddp"
    Capabilities offers = {};
    Capabilities needs = {};
};

// Throws UsageError if a choice needs a capability that no choice offers. The message names alternatives that offer it.
void check_needs(const std::vector<Choice>& choices, const std::vector<Choice>& alternatives);

}  // namespace base
