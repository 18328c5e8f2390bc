// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/product_log.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

namespace {

int last_rank(const SymbolRoutes& routes, const SymbolTimes& times)
{
    const auto last = std::ranges::max_element(times.ended_ns) - times.ended_ns.begin();
    return routes.ranks[static_cast<std::size_t>(last)].front();
}

}  // namespace

std::int64_t lag_ns(const SymbolDecoder& decoder, int spare, const SymbolTimes& times)
{
    std::vector<std::int64_t> sorted = times.ended_ns;
    std::ranges::sort(sorted);
    for (const std::int64_t time : sorted) {
        std::vector<bool> arrived;
        for (std::size_t symbol = 0; symbol < times.came.size(); ++symbol)
            arrived.push_back(times.came[symbol] && times.ended_ns[symbol] <= time);
        if (decoder.enough(arrived, spare)) return sorted.back() - time;
    }
    return 0;
}

ProductLog::ProductLog(const std::filesystem::path& directory)
    : rows_{directory / base::code::products_table, base::names_of(base::code::product_columns())}
{
}

void ProductLog::add(base::code::ProductRow row, const SymbolDecoder& decoder, const SymbolRoutes& routes,
                     const SymbolTimes& times)
{
    row.last_rank = last_rank(routes, times);
    row.saved_ns = lag_ns(decoder, 0, times);
    waiting_.push_back({.row = std::move(row), .decoder = &decoder, .routes = &routes, .product = nullptr});
    write_complete();
}

void ProductLog::add(base::code::ProductRow row, const SymbolDecoder& decoder, const SymbolRoutes& routes, int spare,
                     std::shared_ptr<const OpenProduct> product)
{
    waiting_.push_back(
        {.row = std::move(row), .decoder = &decoder, .routes = &routes, .spare = spare, .product = std::move(product)});
    write_complete();
}

void ProductLog::write_complete()
{
    while (!waiting_.empty() && (waiting_.front().product == nullptr || waiting_.front().product->is_complete())) {
        Row& first = waiting_.front();
        std::int64_t lag = 0;
        if (first.product != nullptr) {
            const SymbolTimes times{.ended_ns = first.product->ended_ns(), .came = first.product->came()};
            first.row.last_rank = last_rank(*first.routes, times);
            lag = lag_ns(*first.decoder, first.spare, times);
            first.row.saved_ns = std::max<std::int64_t>(0, lag - carried_ns_);
        }
        carried_ns_ = lag;
        rows_.write(base::cells_of(base::code::product_columns(), first.row));
        waiting_.pop_front();
    }
}

void ProductLog::settled()
{
    write_complete();
    carried_ns_ = 0;
}

}  // namespace ddl
