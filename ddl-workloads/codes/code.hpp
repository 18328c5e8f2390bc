// SPDX-License-Identifier: Apache-2.0
// Codes: plug-ins that spread a product over ranks so that it survives wrong arithmetic and late ranks.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/codes/layer_code.hpp"
#include "ddl-workloads/codes/product_code.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddl {

struct CodeCard {
    std::string name;
    std::string summary;
    std::vector<base::OptionCard> options;
    // Null: the code is for single products only.
    LayerCode (*layer)(const base::Settings& settings, std::uint64_t seed) = nullptr;
    // Null: a single product is the forward pass of layer(). ranks: 0 for as few as possible. Throws UsageError, with
    // the right number, if there are too few.
    ProductCode (*product)(const base::Settings& settings, int ranks) = nullptr;
};

const base::Registry<CodeCard>& codes();

// All options of all codes; each code takes those of its card.
std::vector<base::OptionCard> code_options();

// Systematic generator: the identity, and below it `parities` Gaussian rows drawn from the seed. Of several draws the
// best conditioned is taken.
Matrix systematic_generator(int parts, int parities, std::uint64_t seed);

// `copies` identities, one below the other.
Matrix repeated_identity(int parts, int copies);

}  // namespace ddl
