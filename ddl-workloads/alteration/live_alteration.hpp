// SPDX-License-Identifier: Apache-2.0
// Bits that flip in a training while it runs: in its model, its optimizer, its input, its gradients.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/models/model.hpp"
#include "soft-errors/state/injection_sequence.hpp"
#include "soft-errors/state/number_format.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

// How a number of that type stands in memory.
soft_errors::NumberFormat format_of(ElementType type);

// Where a path begins decides when it is altered in its step:
//     model/, optimizer/   before forward
//     input/               before forward: input/images, input/tokens or input/labels of the (first) batch
//     gradient/            when this rank has computed it, before the exchange
//     mean/                after the exchange, before the update
struct LiveAlteration {
    int rank = -1;  // all
    std::uint64_t step = 0;
    std::string record;
    std::vector<soft_errors::Injection> injections;
};

// "1:50:R.json", "all:50:R.json". Reads the record. Throws UsageError, Error.
LiveAlteration parse_live_alteration(const std::string& text);

// Is some rank meant to end with other parameters than the rest? Inputs and gradients become part of every rank's mean.
bool told_to_differ(const std::vector<LiveAlteration>& alterations);

class AlterationOptions {
 public:
    // Adds them; both must outlive it.
    AlterationOptions(base::Options& options, std::vector<LiveAlteration>& alterations);

    // Completes the plan once the options were parsed. Throws UsageError, Error.
    void read() const;

 private:
    std::vector<LiveAlteration>& alterations_;
    std::vector<std::string> texts_;
};

// Alters, with a region for each number. Used by the main thread and where gradients are computed, which may be
// another, while the main thread waits.
class LiveAlterer {
 public:
    // All of them are of this rank. The model must outlive it. Throws UsageError for a gradient that the model has not.
    LiveAlterer(otf2::Recorder& recorder, otf2::LocationRecorder& location, Model& model,
                std::vector<LiveAlteration> alterations);

    // Each throws Error for a tensor or a number that is not there.
    void before_step(std::uint64_t step);
    void input(Batch& batch);
    void before_update();

    std::int64_t count() const { return count_; }

 private:
    using Wanted = std::map<std::string, std::vector<const soft_errors::Injection*>>;

    void gradient(std::size_t tensor, std::span<float> values);
    void alter_state();
    void alter(const std::string& path, const soft_errors::NumberFormat& format, std::span<const std::int64_t> shape,
               std::span<std::byte> bytes);

    otf2::LocationRecorder& location_;
    Model& model_;
    std::vector<LiveAlteration> alterations_;
    std::vector<std::string> gradient_paths_;
    Wanted wanted_;  // of the step at hand, by path
    otf2::RegionRef region_;
    otf2::AttributeRef tensor_;
    otf2::AttributeRef element_;
    otf2::AttributeRef bits_;
    std::map<std::string, otf2::TextRef> texts_;
    std::int64_t count_ = 0;
};

}  // namespace ddl
