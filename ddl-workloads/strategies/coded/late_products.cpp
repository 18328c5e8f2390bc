// SPDX-License-Identifier: Apache-2.0
// late=skip: products from the symbols that have arrived, and what all ranks do together from time to time.
#include "base/system/clock.hpp"
#include "ddl-workloads/strategies/coded/coded_products.hpp"
#include "ddl-workloads/strategies/coded/replica_vote.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ddl {

template <class Value>
std::vector<BlockOf<Value>> CodedProducts::decoded_early(Direction& direction, std::size_t layer,
                                                         const Multiply<Value>& multiply, Eigen::Index rows,
                                                         Eigen::Index columns, base::code::ProductRow row)
{
    const Phase phase = direction.site == ErrorSite::forward ? Phase::forward : Phase::backward;
    auto& open = std::get<OpenProducts<Value>>(open_);
    std::int64_t since_ns = row.begin_ns;
    const auto lap_ns = [&since_ns] {
        const std::int64_t now = base::now_ns();
        return now - std::exchange(since_ns, now);
    };
    const BlockOf<Value> zeros = BlockOf<Value>::Zero(rows, columns);
    std::vector parts(direction.wanted.size(), zeros);
    const auto length = static_cast<std::size_t>(direction.decoder.rows_per_symbol() * rows * columns);
    instruments_.clock().enter(Phase::wait_exchange, since_ns);
    const std::shared_ptr<OpenProductOf<Value>> product = open.open(direction.routes, length);
    std::ptrdiff_t seen = std::ranges::count(product->arrived().is_there, true);
    row.wait_ns = lap_ns();
    instruments_.clock().enter(phase, since_ns);
    bool is_decoded = decode_arrived(direction, layer, product->arrived(), parts, row);
    row.decode_ns = lap_ns();

    const bool is_needed = !is_decoded;
    const bool gives = direction.routes.mine && is_needed;
    const BlockOf<Value> term = multiply(gives);
    row.product_ns = lap_ns();
    instruments_.clock().enter(Phase::wait_exchange, since_ns);
    if (gives)
        open.give(product, term);
    else if (direction.routes.mine)
        open.give_up(product);
    row.wait_ns += lap_ns();

    while (!is_decoded) {
        open.wait(*product, [&](const Arrived<Value>& arrived) {
            return std::ranges::count(arrived.is_there, true) > seen && are_enough(direction, arrived.is_there);
        });
        seen = std::ranges::count(product->arrived().is_there, true);
        row.wait_ns += lap_ns();
        instruments_.clock().enter(phase, since_ns);
        is_decoded = decode_arrived(direction, layer, product->arrived(), parts, row);
        row.decode_ns += lap_ns();
        if (!is_decoded) instruments_.clock().enter(Phase::wait_exchange, since_ns);
    }
    if (!is_needed) instruments_.clock().enter(phase, since_ns);
    row.end_ns = since_ns;
    if (product_log_)
        product_log_->add(std::move(row), direction.decoder, direction.routes, plan_.late->spare, product);
    return parts;
}

bool CodedProducts::are_enough(const Direction& direction, const std::vector<bool>& arrived) const
{
    return direction.decoder.enough(arrived, plan_.late->spare);
}

// Returns false if more symbols are needed: too few have arrived, or they contradict each other. If none will come, the
// rank continues with what it has until all ranks roll back.
template <class Value>
bool CodedProducts::decode_arrived(Direction& direction, std::size_t layer, const Arrived<Value>& arrived,
                                   std::vector<BlockOf<Value>>& parts, base::code::ProductRow& row)
{
    if (!arrived.all && !are_enough(direction, arrived.is_there)) return false;
    const CodeScope scope{instruments_.main(), decode_region_};
    Threshold& threshold = direction.thresholds[layer];
    Decoded result = decode<Value>(direction, arrived.symbols, threshold.value(), parts, threshold.largest_size());
    if (!result.possible && !arrived.all) return false;
    detected_.add(result.wrong.size());
    if (!result.wrong.empty()) request_ = std::max(request_, Request::repair);
    if (std::ranges::find(result.wrong, direction.routes.mine.value_or(-1)) != result.wrong.end())
        log_.corrected(step(), layers_[layer]);
    if (!result.possible) {
        request_ = Request::roll_back;
        result = decode<Value>(direction, arrived.symbols, std::numeric_limits<double>::infinity(), parts);
    }
    const bool is_checked = result.used > direction.decoder.parts();
    if (is_checked && result.wrong.empty()) threshold.add_size(result.size);
    if (result.residual > threshold.drift_limit()) request_ = std::max(request_, Request::repair);
    row.used = result.used;
    row.late = static_cast<int>(std::ranges::count(arrived.is_there, false));
    row.residual = result.residual;
    return true;
}

void CodedProducts::settle()
{
    if (!plan_.late) return;
    std::apply([](auto&... open) { (open.settle(), ...); }, open_);
    if (product_log_) product_log_->settled();
}

bool CodedProducts::meet()
{
    if (!plan_.late) return true;
    settle();
    constexpr double of_biases = 10.0 * most_drift;  // they are small beside their gradients
    const Adoption result = adopt(replicas_of(model_), of_biases, exchanges_);
    if (!result.decided) return false;
    model_.restored();
    drift_ = std::max(drift_, result.drift);
    if (std::ranges::find(result.outvoted, exchanges_.rank()) != result.outvoted.end()) log_.outvoted(step());
    return true;
}

void CodedProducts::refresh()
{
    drift_ = std::max(drift_, largest_of_ranks(encode_again(), exchanges_));
    ++refreshes_;
}

template std::vector<BlockOf<float>> CodedProducts::decoded_early(Direction&, std::size_t, const Multiply<float>&,
                                                                  Eigen::Index, Eigen::Index, base::code::ProductRow);
template std::vector<BlockOf<double>> CodedProducts::decoded_early(Direction&, std::size_t, const Multiply<double>&,
                                                                   Eigen::Index, Eigen::Index, base::code::ProductRow);

}  // namespace ddl
