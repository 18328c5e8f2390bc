// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/error_log.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

void ErrorLog::begin(ExchangeThread& exchanges)
{
    using Appear = base::CsvWriter::Appear;
    const std::filesystem::path file = directory_ / base::code::errors_table;
    const std::vector<std::string> columns = base::names_of(base::code::error_columns());
    if (rank_ == 0) rows_.emplace(file, columns);
    exchanges.barrier().get();
    rows_.emplace(file, columns, Appear::more_rows);
}

void ErrorLog::injected(std::int64_t step, const std::string& layer, const std::string& site, double size, double of)
{
    open_.push_back({.row = {.step = step,
                             .layer = layer,
                             .site = site,
                             .rank = rank_,
                             .injected_ns = base::now_ns(),
                             .size = size,
                             .outcome = {}},
                     .of = of});
}

template <class Is>
bool ErrorLog::end(std::int64_t step, const std::string& outcome, const Is& is)
{
    return std::erase_if(open_, [&](Open& open) {
               if (!is(open)) return false;
               base::code::ErrorRow& row = open.row;
               row.detected_step = step;
               row.detected_ns = base::now_ns();
               row.outcome = outcome;
               write(row);
               return true;
           }) > 0;
}

bool ErrorLog::corrected(std::int64_t step, const std::string& layer)
{
    return end(step, "corrected",
               [&](const Open& open) { return open.row.layer == layer && open.row.site == "product"; });
}

bool ErrorLog::regenerated(std::int64_t step, const std::string& layer, ErrorSite site, double change, double least)
{
    const bool was_corrected = corrected(step, layer);
    const auto in_block = [&](const Open& open) { return open.row.layer == layer && !is_alike(open); };
    if (end(step, "regenerated", in_block) || was_corrected) return true;
    // An altered input makes this rank's products wrong until the ranks compare their inputs.
    if (std::ranges::any_of(open_, is_alike)) return true;
    if (change <= least) return false;
    found(step, layer, text(site), change, "regenerated");
    return true;
}

void ErrorLog::state_kept()
{
    for (Open& open : open_) open.is_kept = true;
}

void ErrorLog::rolled_back(std::int64_t step)
{
    end(step, "rolled_back", [](const Open& open) { return !open.is_kept; });
}

void ErrorLog::outvoted(std::int64_t step)
{
    if (!end(step, "outvoted", is_alike)) found(step, {}, "replica", std::nullopt, "outvoted");
}

void ErrorLog::false_alarm(std::int64_t step, const std::string& layer, ErrorSite site)
{
    found(step, layer, text(site), std::nullopt, "false_alarm");
}

void ErrorLog::found(std::int64_t step, const std::string& layer, const std::string& site, std::optional<double> size,
                     const std::string& outcome)
{
    write({.step = step,
           .layer = layer,
           .site = site,
           .rank = rank_,
           .size = size,
           .detected_step = step,
           .detected_ns = base::now_ns(),
           .outcome = outcome});
}

void ErrorLog::write(const base::code::ErrorRow& row)
{
    rows_->write(base::cells_of(base::code::error_columns(), row));
}

}  // namespace ddl
