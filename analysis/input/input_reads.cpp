// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/input_reads.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace analysis {

namespace {

// The number in a location's name such as "reader 3".
std::optional<std::uint64_t> number_of_reader(std::string_view name)
{
    const std::string_view begin = base::location::reader;
    if (!name.starts_with(begin)) return std::nullopt;
    name.remove_prefix(begin.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc{} && end == name.data() + name.size() ? std::optional{number} : std::nullopt;
}

// Like overlap_ns(), for steps in order. first: index of the first read to look at.
std::int64_t read_within(std::int64_t begin_ns, std::int64_t end_ns, const base::LongColumn<TimeSpan>& reads,
                         std::size_t& first)
{
    while (first > 0 && reads[first - 1].end_ns > begin_ns) --first;
    while (first < reads.size() && reads[first].end_ns <= begin_ns) ++first;
    std::int64_t sum = 0;
    for (std::size_t i = first; i < reads.size() && reads[i].begin_ns < end_ns; ++i)
        sum += std::min(end_ns, reads[i].end_ns) - std::max(begin_ns, reads[i].begin_ns);
    return sum;
}

// [step]: mean time of reading, in ms. reads: [rank].
base::LongColumn<double> mean_reading(const StepTable& steps,
                                      const std::vector<const base::LongColumn<TimeSpan>*>& reads)
{
    base::LongColumn<double> means;
    std::vector<std::size_t> first(reads.size(), 0);
    for (std::size_t i = 0; i < steps.numbers.size(); ++i) {
        double mean = 0.0;
        for (std::size_t r = 0; r < reads.size(); ++r) {
            const RankSteps& rank = steps.ranks[r];
            const std::int64_t ns = read_within(rank.begin_ns[i], rank.end_ns[i], *reads[r], first[r]);
            mean += static_cast<double>(ns) / 1e6 / static_cast<double>(reads.size());
        }
        means.push_back(mean);
    }
    return means;
}

}  // namespace

ReadsReader::ReadsReader(const otf2::Archive& archive) : archive_{archive}, begin_ns_(archive.locations.size())
{
    for (const otf2::Region& region : archive.regions) is_read_.push_back(region.name == base::region::read);
    for (const otf2::Location& location : archive.locations) reader_of_.push_back(number_of_reader(location.name));
}

void ReadsReader::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    if (is_read_[region]) begin_ns_[at.location] = at.time_ns;
}

void ReadsReader::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    const std::optional<std::uint64_t> reader = reader_of_[at.location];
    if (!is_read_[region] || !reader || *reader >= most_parts) return;
    all_[{archive_.locations[at.location].process, *reader}].push_back({begin_ns_[at.location], at.time_ns});
}

void ReadsReader::add_to(Training& training, const std::vector<std::uint32_t>& processes) const
{
    for (std::uint64_t reader = 0; reader < most_parts; ++reader) {
        std::vector<const Reads*> reads;
        for (const std::uint32_t process : processes)
            if (const auto found = all_.find({process, reader}); found != all_.end()) reads.push_back(&found->second);
        if (reads.size() < processes.size()) continue;
        training.extra_ms.append(mean_reading(training.steps, reads));
        training.extra_names.push_back(base::join("read reader ", reader));
    }
}

}  // namespace analysis
