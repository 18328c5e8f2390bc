// SPDX-License-Identifier: Apache-2.0
#include "base/cli/capabilities.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

namespace {

constexpr base::Capability bridge{"a river with a bridge"};
constexpr base::Capability ferry{"a river with a ferry"};

std::string refusal(const std::vector<base::Choice>& choices, const std::vector<base::Choice>& alternatives)
try {
    base::check_needs(choices, alternatives);
    return "";
} catch (const base::UsageError& error) {
    return error.what();
}

}  // namespace

TEST_CASE("what one choice needs another one has to offer")
{
    const base::Choice walk{.text = "--walk", .needs = {&bridge}};
    const base::Choice rhine{.text = "--river rhine", .offers = {&bridge, &ferry}};
    const base::Choice weser{.text = "--river weser", .offers = {&ferry}};
    const base::Choice spree{.text = "--river spree", .offers = {&bridge}};
    CHECK(refusal({walk, rhine}, {}).empty());
    CHECK(refusal({rhine, walk}, {}).empty());
    CHECK(refusal({weser}, {}).empty());
    CHECK(refusal({}, {rhine}).empty());
    CHECK(refusal({walk, weser}, {rhine, weser, spree}) ==
          "--walk needs a river with a bridge: --river rhine, --river spree");
    CHECK(refusal({walk}, {weser}) == "--walk needs a river with a bridge");
}
