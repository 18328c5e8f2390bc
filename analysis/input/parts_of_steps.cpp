#include "analysis/input/parts_of_steps.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace analysis {

namespace {

constexpr std::uint64_t most_parts = 8;  // of a kind

// Of a location "reader 3".
std::optional<std::uint64_t> number_of_reader(std::string_view name)
{
    const std::string_view begin = base::location::reader;
    if (!name.starts_with(begin)) return std::nullopt;
    name.remove_prefix(begin.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc{} && end == name.data() + name.size() ? std::optional{number} : std::nullopt;
}

void append(Training& training, const std::string& name, const Eigen::VectorXd& measure)
{
    base::LongColumn<double> column;
    for (const double ms : measure) column.push_back(ms);
    training.extra_ms.append(std::move(column));
    training.extra_names.push_back(name);
}

}  // namespace

PartsReader::PartsReader(const otf2::Archive& archive)
    : archive_{archive},
      step_attribute_{archive.find_attribute(base::attribute::step)},
      bucket_attribute_{archive.find_attribute(base::attribute::bucket)},
      open_(archive.locations.size())
{
    for (const otf2::Region& region : archive.regions) {
        is_exchange_.push_back(region.name == base::region::bucket_exchange);
        is_read_.push_back(region.name == base::region::read);
    }
    for (const otf2::Location& location : archive.locations) reader_of_.push_back(number_of_reader(location.name));
}

void PartsReader::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes)
{
    if (!is_exchange_[region] && !is_read_[region]) return;
    open_[at.location] = {at.time_ns, step_attribute_ ? attributes.number(*step_attribute_) : std::nullopt,
                          bucket_attribute_ ? attributes.number(*bucket_attribute_) : std::nullopt};
}

void PartsReader::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    if (!is_exchange_[region] && !is_read_[region]) return;
    const std::uint32_t process = archive_.locations[at.location].process;
    const Open& open = open_[at.location];
    if (is_exchange_[region] && open.step && open.bucket && *open.bucket < most_parts)
        exchange_ns_[{process, *open.bucket, *open.step}] += at.time_ns - open.begin_ns;
    else if (is_read_[region] && reader_of_[at.location])
        read_[{process, *reader_of_[at.location]}].push_back({open.begin_ns, at.time_ns});
}

PartsReader::Measure PartsReader::exchange(const Training& training, const std::vector<std::uint32_t>& processes,
                                           std::uint64_t bucket) const
{
    const base::LongColumn<std::int64_t>& numbers = training.steps.numbers;
    Eigen::VectorXd ms = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(numbers.size()));
    for (const std::uint32_t process : processes)
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto found = exchange_ns_.find({process, bucket, static_cast<std::uint64_t>(numbers[i])});
            if (found == exchange_ns_.end()) return std::nullopt;
            ms[static_cast<Eigen::Index>(i)] +=
                static_cast<double>(found->second) / 1e6 / static_cast<double>(processes.size());
        }
    return ms;
}

PartsReader::Measure PartsReader::read(const Training& training, const std::vector<std::uint32_t>& processes,
                                       std::uint64_t reader) const
{
    const std::size_t steps = training.steps.numbers.size();
    Eigen::VectorXd ms = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(steps));
    for (std::size_t r = 0; r < processes.size(); ++r) {
        const auto found = read_.find({processes[r], reader});
        if (found == read_.end()) return std::nullopt;
        const RankSteps& rank = training.steps.ranks[r];
        for (std::size_t i = 0; i < steps; ++i)
            ms[static_cast<Eigen::Index>(i)] +=
                static_cast<double>(overlap_ns(rank.begin_ns[i], rank.end_ns[i], found->second)) / 1e6 /
                static_cast<double>(processes.size());
    }
    return ms;
}

void PartsReader::add_to(Training& training, const std::vector<std::uint32_t>& processes) const
{
    for (std::uint64_t bucket = 0; bucket < most_parts; ++bucket)
        if (const Measure measure = exchange(training, processes, bucket))
            append(training, base::join("exchange bucket ", bucket), *measure);
    for (std::uint64_t reader = 0; reader < most_parts; ++reader)
        if (const Measure measure = read(training, processes, reader))
            append(training, base::join("read reader ", reader), *measure);
}

}  // namespace analysis
