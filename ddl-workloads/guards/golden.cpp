// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/golden.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/soft_error_tables.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ddl {

namespace fs = std::filesystem;

namespace {

template <class Number>
TensorDistance distance_of(std::span<const std::byte> numbers, std::span<const std::byte> golden)
{
    TensorDistance all;
    for (std::size_t at = 0; at + sizeof(Number) <= numbers.size(); at += sizeof(Number)) {
        Number is{};
        Number was{};
        std::memcpy(&is, numbers.data() + at, sizeof is);
        std::memcpy(&was, golden.data() + at, sizeof was);
        all.differing += std::memcmp(numbers.data() + at, golden.data() + at, sizeof is) != 0 ? 1 : 0;
        const auto here = static_cast<double>(is);
        const auto there = static_cast<double>(was);
        if (!std::isfinite(here)) ++all.not_finite;
        if (!std::isfinite(here) || !std::isfinite(there)) continue;
        all.squares.add(here - there);
        all.golden_squares.add(there);
        all.largest = std::max(all.largest, std::abs(here - there));
    }
    return all;
}

}  // namespace

double TensorDistance::relative_l2() const
{
    const double norm = squares.root();
    if (norm == 0.0) return 0.0;
    const double golden = golden_squares.root();
    return golden > 0.0 ? norm / golden : std::numeric_limits<double>::infinity();
}

TensorDistance distance(ElementType type, std::span<const std::byte> numbers, std::span<const std::byte> golden)
{
    switch (type) {
        case ElementType::float32:
            return distance_of<float>(numbers, golden);
        case ElementType::float64:
            return distance_of<double>(numbers, golden);
        case ElementType::int32:
            return distance_of<std::int32_t>(numbers, golden);
        case ElementType::int64:
            return distance_of<std::int64_t>(numbers, golden);
        case ElementType::uint8:
            break;
    }
    return distance_of<std::uint8_t>(numbers, golden);
}

GoldenComparison::GoldenComparison(const fs::path& directory)
{
    if (is_checkpoint(directory)) {
        const fs::path one = fs::canonical(directory);
        directory_ = one.parent_path();
        checkpoints_.insert(one);
        return;
    }
    directory_ = directory / base::part::train / "checkpoints";
    const std::vector<fs::path> all = checkpoints_in(directory_);
    checkpoints_.insert(all.begin(), all.end());
    if (checkpoints_.empty())
        base::fail("--golden: ", directory.string(), " has no checkpoint; write some with --checkpoint-every");
}

void GoldenComparison::record(otf2::Recorder& recorder, otf2::LocationRecorder& location, const fs::path& directory,
                              int rank, std::int64_t trial)
{
    location_ = &location;
    rank_ = rank;
    trial_ = trial;
    region_ = recorder.in_group(base::region_group::guards, recorder.region(base::region::golden));
    weight_distance_ =
        recorder.metric(base::metric::weight_distance, "", otf2::Type::real, otf2::MetricMode::absolute_point,
                        "L2 norm of the model's difference from an unaltered one, as a share of its norm");
    rows_.emplace(directory / base::soft_errors::propagation, base::soft_errors::propagation_columns,
                  base::CsvWriter::Appear::more_rows);
}

bool GoldenComparison::is_due(std::int64_t steps_done) const
{
    return checkpoints_.contains(checkpoint_path(directory_, steps_done));
}

void GoldenComparison::compare(std::int64_t steps_done, Model& model)
{
    const otf2::Scope scope{*location_, region_};
    std::vector<StateTensor> state = model.state();
    // State that may differ between ranks is only compared on the rank that wrote it.
    std::erase_if(state, [this](const StateTensor& tensor) {
        return tensor.path.starts_with("meta/") || (tensor.owner == Owner::rank0 && rank_ != 0);
    });
    std::vector<StateTensor> there = state;
    golden_.resize(state.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
        golden_[i].resize(state[i].bytes.size());
        there[i].bytes = golden_[i];
    }
    CheckpointReader{checkpoint_path(directory_, steps_done)}.read(there, rank_);

    ++compared_;
    TensorDistance whole;
    for (std::size_t i = 0; i < state.size(); ++i) {
        const TensorDistance one = distance(state[i].type, state[i].bytes, golden_[i]);
        if (state[i].path.starts_with("model/")) {
            whole.squares.add(one.squares);
            whole.golden_squares.add(one.golden_squares);
            whole.not_finite += one.not_finite;
        }
        if (one.differing == 0) continue;
        if (!first_differing_) first_differing_ = steps_done;
        rows_->row(trial_, steps_done, rank_, state[i].path, one.differing, one.relative_l2(), one.largest,
                   one.not_finite);
    }
    const double infinite = std::numeric_limits<double>::infinity();
    location_->metric(weight_distance_, whole.not_finite > 0 ? infinite : whole.relative_l2());
}

nlohmann::ordered_json GoldenComparison::summary() const
{
    return {{"compared", compared_},
            {"first_differing", first_differing_ ? nlohmann::ordered_json(*first_differing_) : nullptr}};
}

}  // namespace ddl
