// SPDX-License-Identifier: Apache-2.0
// A coded training beside the noise: what became of its soft errors, and how long products wait for symbols.
#pragma once

#include "analysis/estimate/inference.hpp"
#include "analysis/results/report.hpp"
#include "base/contract/code_tables.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

// Errors with one outcome at one site. Times are those from injection to detection, of the errors that have both.
struct ErrorsOf {
    std::string site;
    std::string outcome;
    std::size_t errors = 0;
    std::vector<double> steps{};
    std::vector<double> ms{};
};

// By site and outcome.
std::vector<ErrorsOf> errors_by_outcome(const std::vector<base::code::ErrorRow>& errors);

// The products of rank 0 under a treatment. All time counts, accidents included.
struct ProductsUnder {
    std::size_t treatment = 0;  // in the plan; 0: quiet
    std::size_t steps = 0;      // used steps mostly under it
    std::size_t products = 0;   // of these steps
    std::size_t errors = 0;     // soft errors found in these steps
    double product_ms = 0.0;    // mean of a product: multiplying, waiting for symbols, decoding
    double wait_ms = 0.0;
    double decode_ms = 0.0;
    double more_wait_ms = 0.0;          // beyond that in quiet slots of the same block
    std::optional<Interval> more{};     // of more_wait_ms; none in quiet
    double wait_percent = 0.0;          // of the mean step under the treatment
    double decode_percent = 0.0;        // likewise
    double late = 0.0;                  // mean of a step: symbols that products did not wait for
    double saved_ms = 0.0;              // mean of a step: what late symbols would make it wait
    std::map<int, std::size_t> last{};  // products by the rank that sent the last symbol
};

// Reads products.csv, and estimates as for effects on the step. `errors`: those of the same training. Throws Error also
// if a used step has no product. A row that is cut off adds a note to the report.
std::vector<ProductsUnder> products_by_noise(Report& report, const std::filesystem::path& file,
                                             const std::vector<base::code::ErrorRow>& errors);

// Draws coded.svg from coded_parts.csv: multiplying, waiting and decoding of a product under each noise.
Plot draw_coded(const std::filesystem::path& folder, const Report& report, const std::vector<ProductsUnder>& products);

}  // namespace analysis
