// SPDX-License-Identifier: Apache-2.0
// Capabilities that plug-ins offer, and need of each other. Their cards say both, so that no code asks for a plug-in by
// its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace base {

// Defined once, as an inline constant beside the cards that may offer it; compared by address.
struct Capability {
    std::string_view text;  // what offers it: "a transport that exchanges host memory"
};
using Capabilities = std::vector<const Capability*>;

bool contains(const Capabilities& capabilities, const Capability& wanted);

// A plug-in or an option, as the user gave it.
struct Choice {
    std::string text;  // "--strategy ddp"
    Capabilities offers = {};
    Capabilities needs = {};
};

// Throws UsageError if one of the choices needs what none of them offers, naming the alternatives that do.
void check_needs(const std::vector<Choice>& choices, const std::vector<Choice>& alternatives);

}  // namespace base
