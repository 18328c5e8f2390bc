// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/evaluation.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ddl {

namespace {

constexpr std::int64_t batch = 64;

struct Guesses {
    std::int64_t correct = 0;
    std::int64_t all = 0;
};

// The result is complete on rank 0 only.
Guesses sum_over_ranks(const Guesses& mine, ExchangeThread& exchanges)
{
    Guesses sum;
    for (const std::string& text : exchanges.gather(base::join(mine.correct, ",", mine.all)).get()) {
        const std::vector<std::string> counts = base::split(text, ',');
        sum.correct += base::parse<std::int64_t>(counts.at(0));
        sum.all += base::parse<std::int64_t>(counts.at(1));
    }
    return sum;
}

}  // namespace

std::optional<double> accuracy(Model& model, const Records& held_out, bool skip_corrupt, SkippedRecords& skipped,
                               ExchangeThread& exchanges, PhaseClock& clock)
{
    const std::vector<std::span<std::byte>> statistics = model.statistics();
    for (const std::span<std::byte> bytes : statistics) exchanges.broadcast(bytes, 0).get();
    model.written(statistics);
    Guesses mine;
    for (std::int64_t first = 0; first < held_out.records(); first += exchanges.size() * batch) {
        const std::int64_t at = first + exchanges.rank() * batch;
        const Batch samples = at < held_out.records() ? read_in_order(held_out, at, batch, skip_corrupt) : Batch{};
        skipped.report(samples.skipped);
        mine.correct += model.count_correct(samples);  // also called without samples, as ranks may compute together
        mine.all += samples.samples * held_out.shape().answers();
        clock.mark();
    }
    const Guesses all = sum_over_ranks(mine, exchanges);
    if (exchanges.rank() != 0) return std::nullopt;
    if (all.all == 0) base::fail("every held-out sample is corrupt");
    return static_cast<double>(all.correct) / static_cast<double>(all.all);
}

}  // namespace ddl
