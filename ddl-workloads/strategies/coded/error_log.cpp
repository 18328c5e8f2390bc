// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/coded/error_log.hpp"

#include "base/system/clock.hpp"

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

void ErrorLog::injected(std::int64_t step, const std::string& layer, ErrorSite site, double size)
{
    open_.push_back({.step = step,
                     .layer = layer,
                     .site = text(site),
                     .rank = rank_,
                     .injected_ns = base::now_ns(),
                     .size = size,
                     .outcome = {}});
}

bool ErrorLog::end(const std::string& layer, std::int64_t step, const std::string& outcome)
{
    return std::erase_if(open_, [&](base::code::ErrorRow& row) {
               if (row.layer != layer) return false;
               row.detected_step = step;
               row.detected_ns = base::now_ns();
               row.outcome = outcome;
               write(row);
               return true;
           }) > 0;
}

void ErrorLog::end_all(std::int64_t step, const std::string& outcome)
{
    while (!open_.empty()) end(std::string{open_.front().layer}, step, outcome);
}

void ErrorLog::unknown(std::int64_t step, const std::string& layer, ErrorSite site, double size)
{
    found(step, layer, text(site), size, "regenerated");
}

void ErrorLog::outvoted(std::int64_t step)
{
    found(step, {}, "replica", std::nullopt, "outvoted");
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
