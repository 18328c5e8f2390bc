// SPDX-License-Identifier: Apache-2.0
// Bit flips in a running training (--alter): in its model, optimizer, input or gradients.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/models/model.hpp"
#include "soft-errors/state/injection_sequence.hpp"
#include "soft-errors/state/number_format.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

// The bit layout of a number of this type in memory.
soft_errors::NumberFormat format_of(ElementType type);

// The prefix of a path says when in its step the tensor is altered:
//     model/, optimizer/   before forward
//     code/                before forward: a block of coded weights
//     input/               before forward: input/images, input/tokens or input/labels of the (first) batch
//     gradient/            when this rank has computed the gradient, before the exchange
//     mean/                after the exchange, before the update
//     activation/, product/, decoded/      in the forward pass of a coded layer: its input, the rank's term of the
//                          product, the output
struct LiveAlteration {
    int rank = -1;  // -1: every rank
    std::uint64_t step = 0;
    std::string record;
    std::vector<soft_errors::Injection> injections;
};

// Parses RANK:STEP:RECORD, such as "1:50:R.json" or "all:50:R.json", and reads the record. Throws UsageError, Error.
LiveAlteration parse_live_alteration(const std::string& text);

// True for numbers of coded products: activation/, product/, decoded/.
bool is_of_products(const std::string& path);

// True if the alterations leave the parameters of some rank different from the others'. Alterations of inputs and
// gradients do not: they enter the mean that every rank gets.
bool told_to_differ(const std::vector<LiveAlteration>& alterations);

// Adds the options; options.check() completes the list. Throws UsageError, Error.
void add_alteration_options(base::Options& options, std::vector<LiveAlteration>& alterations);

// Makes the alterations and records a region for each altered number. Called by the main thread, and by the thread that
// computes gradients (possibly another one) while the main thread waits.
class LiveAlterer {
 public:
    // `alterations` are those of this rank. The model must outlive the object. Throws UsageError for a tensor that the
    // model does not have.
    LiveAlterer(otf2::Recorder& recorder, otf2::LocationRecorder& location, Model& model,
                std::vector<LiveAlteration> alterations);

    // All throw Error for an input or an index that does not exist.
    void before_step(std::uint64_t step);
    void input(Batch& batch);
    void before_update();

    std::int64_t count() const { return count_; }

 private:
    using Wanted = std::map<std::string, std::vector<const soft_errors::Injection*>>;

    void gradient(std::size_t tensor, std::span<float> values);
    void check_state_paths() const;
    void alter_products();
    std::optional<double> numbers(const StateTensor& tensor);
    void alter_state();
    void alter(const std::string& path, const soft_errors::NumberFormat& format, std::span<const std::int64_t> shape,
               std::span<std::byte> bytes);

    otf2::LocationRecorder& location_;
    Model& model_;
    std::vector<LiveAlteration> alterations_;
    std::vector<std::string> gradient_paths_;
    Wanted wanted_;  // wanted alterations of the current step, by path
    otf2::RegionRef region_;
    otf2::AttributeRef tensor_;
    otf2::AttributeRef element_;
    otf2::AttributeRef bits_;
    std::map<std::string, otf2::TextRef> texts_;
    std::int64_t count_ = 0;
};

}  // namespace ddl
