// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace {

std::uint64_t hash_of(std::string_view text)
{
    base::Fnv1a hash;
    hash.add(std::as_bytes(std::span{text}));
    return hash.value();
}

}  // namespace

// Values are from the test vectors of the IETF draft on FNV (draft-eastlake-fnv).
TEST_CASE("FNV-1a gives the published values")
{
    CHECK(hash_of("") == 0xcbf29ce484222325);
    CHECK(hash_of("a") == 0xaf63dc4c8601ec8c);
    CHECK(hash_of("foobar") == 0x85944171f73967e8);
}
