// SPDX-License-Identifier: Apache-2.0
// Emulates a training step: computing takes its time but no CPU, as on a node whose GPU computes; input is really read
// and gradients are really exchanged. Serves as a victim whose true effects are known, and as a proxy for a GPU node.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/saturating.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "ddl-workloads/models/bucket_model.hpp"
#include "ddl-workloads/models/emulated_work.hpp"
#include "ddl-workloads/models/gpu_clockwork.hpp"
#include "ddl-workloads/models/layered_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ddl {

namespace {

// A part of forward or backward, between two offsets from its start, in ns of undisturbed computing.
struct Part {
    std::int64_t begun_ns = 0;  // when forward or backward began
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    std::int64_t deadline_ns() const { return begun_ns + to_ns; }
};

// How the model spends its computing time (option `device`).
class Computer {
 public:
    virtual ~Computer() = default;
    virtual void compute(const Part& part) = 0;
    // True if computing ends at a fixed time, however much CPU time the process got.
    virtual bool goes_by_the_clock() const { return true; }
    // Undisturbed duration of a piece of its work, if the work is divided into pieces.
    virtual std::optional<base::Nanoseconds> piece() const { return std::nullopt; }
    virtual std::optional<int> gpu() const { return std::nullopt; }
};

class Sleeper : public Computer {
 public:
    void compute(const Part& part) override { base::sleep_through(part.deadline_ns()); }
};

class Spinner : public Computer {
 public:
    void compute(const Part& part) override
    {
        while (base::now_ns() < part.deadline_ns()) {
        }
    }
};

// Does a fixed amount of real work, which takes the given time if undisturbed; a disturbance prolongs it. `piece` is
// the duration of one piece; zero: measure it.
class Worker : public Computer {
 public:
    Worker(std::unique_ptr<EmulatedWork> work, base::Nanoseconds piece)
        : work_{std::move(work)},
          ns_per_piece_{piece.count() > 0 ? static_cast<double>(piece.count()) : work_->ns_per_piece()}
    {
    }

    void compute(const Part& part) override
    {
        owed_ns_ += static_cast<double>(part.to_ns - part.from_ns);
        for (; owed_ns_ >= ns_per_piece_; owed_ns_ -= ns_per_piece_) work_->piece();
    }
    bool goes_by_the_clock() const override { return false; }
    std::optional<base::Nanoseconds> piece() const override
    {
        return base::Nanoseconds{static_cast<std::int64_t>(std::lround(ns_per_piece_))};
    }

 private:
    std::unique_ptr<EmulatedWork> work_;
    double ns_per_piece_;
    double owed_ns_ = 0.0;  // remainder shorter than a piece, carried to the next part
};

class GpuWorker : public Computer {
 public:
    explicit GpuWorker(int preferred_gpu) : gpu_{preferred_gpu} {}
    void compute(const Part& part) override { gpu_.work(part.deadline_ns() - base::now_ns()); }
    std::optional<int> gpu() const override { return gpu_.number(); }

 private:
    GpuClockwork gpu_;
};

base::Nanoseconds piece_asked(const base::Settings& settings)
{
    if (settings.text("piece") == "auto") return {};
    const auto piece = settings.get<base::Nanoseconds>("piece");
    if (piece.count() <= 0) base::fail_usage("emulated[piece]: ", settings.text("piece"), " is not a time above zero");
    return piece;
}

std::unique_ptr<Computer> computer(const base::Settings& settings, const ModelPlan& plan)
{
    const std::string& device = settings.text("device");
    const base::Nanoseconds piece = piece_asked(settings);
    if (device == "gemm") return std::make_unique<Worker>(std::make_unique<MatrixProducts>(), piece);
    if (device == "memory") return std::make_unique<Worker>(memory_streaming(), piece);
    if (piece.count() > 0) base::fail_usage("emulated[piece] needs device=gemm or device=memory, not ", device);
    if (device == "sleep") return std::make_unique<Sleeper>();
    if (device == "spin") return std::make_unique<Spinner>();
    if (device != "cuda") {
        const std::vector<std::string> known{"sleep", "spin", "gemm", "memory", "cuda"};
        base::fail_usage("emulated[device=", device, "] is not one of ", base::join_words(known, "|"),
                         base::did_you_mean(device, known));
    }
    return std::make_unique<GpuWorker>(plan.local_rank);
}

// Computing time of one step.
struct StepCompute {
    std::int64_t forward_ns = 0;
    std::int64_t backward_ns = 0;
};

struct Emulation {
    std::vector<StepCompute> steps;  // repeated cyclically; at least one
    std::vector<double> ready;       // bucket i is complete after this share of backward; ascending
    std::int64_t floats = 0;         // in all buckets
    std::int64_t activations = 0;    // numbers per sample between two layers
};

std::vector<std::size_t> equal_parts(std::int64_t whole, std::size_t parts)
{
    std::vector<std::size_t> sizes;
    const auto all = static_cast<std::size_t>(whole);
    for (std::size_t i = 0; i < parts; ++i) sizes.push_back(all * (i + 1) / parts - all * i / parts);
    return sizes;
}

// One layer for each bucket; the first bucket belongs to the last layer.
class Emulated : public BucketModel, public LayeredModel {
 public:
    Emulated(Emulation emulation, std::unique_ptr<Computer> computer, int rank)
        : BucketModel{equal_parts(emulation.floats, emulation.ready.size()), rank},
          emulation_{std::move(emulation)},
          computer_{std::move(computer)}
    {
    }

    LayeredModel* layered() override { return this; }
    std::vector<std::string> layer_names() const override
    {
        std::vector<std::string> names;
        for (std::size_t layer = 0; layer < layers(); ++layer) names.push_back(base::join("layer ", layer));
        return names;
    }
    std::size_t output_size(std::size_t layer, std::int64_t samples) const override
    {
        return layer + 1 == layers() ? 0 : static_cast<std::size_t>(emulation_.activations * samples);
    }
    void take_parts(std::vector<Batch> parts) override
    {
        parts_.assign(parts.size(), {});
        for (std::size_t i = 0; i < parts.size(); ++i) {
            parts_[i].samples = parts[i].samples;
            parts_[i].outputs.resize(layers());
            parts_[i].input_gradients.resize(layers());
        }
    }

    // In forward and backward each layer adds 1 to its input, so that a test can see which layers a number went
    // through.
    void put_input(std::size_t layer, std::size_t part, std::span<const float> numbers) override
    {
        parts_.at(part).outputs.at(layer - 1).assign(numbers.begin(), numbers.end());
    }
    void forward_layer(std::size_t layer, std::size_t part) override
    {
        compute_share(now().forward_ns, static_cast<double>(layer) / static_cast<double>(layers()),
                      static_cast<double>(layer + 1) / static_cast<double>(layers()));
        PartOfBatch& there = parts_.at(part);
        there.outputs[layer] =
            plus_one(layer == 0 ? std::vector<float>{} : there.outputs[layer - 1], output_size(layer, there.samples));
    }
    std::span<const float> output(std::size_t layer, std::size_t part) override
    {
        return parts_.at(part).outputs.at(layer);
    }
    void put_output_gradient(std::size_t layer, std::size_t part, std::span<const float> numbers) override
    {
        parts_.at(part).input_gradients.at(layer + 1).assign(numbers.begin(), numbers.end());
    }
    void backward_layer(std::size_t layer, std::size_t part) override
    {
        const std::size_t bucket = layers() - 1 - layer;
        compute_share(now().backward_ns, bucket == 0 ? 0.0 : emulation_.ready[bucket - 1], emulation_.ready[bucket]);
        PartOfBatch& there = parts_.at(part);
        there.input_gradients[layer] =
            plus_one(layer + 1 == layers() ? std::vector<float>{} : there.input_gradients[layer + 1],
                     layer == 0 ? 0 : output_size(layer - 1, there.samples));
        fill(bucket);
    }
    std::span<const float> input_gradient(std::size_t layer, std::size_t part) override
    {
        return parts_.at(part).input_gradients.at(layer);
    }
    std::optional<double> part_loss(std::size_t) const override { return std::nullopt; }

    void forward() override
    {
        computer_->compute({.begun_ns = base::now_ns(), .from_ns = 0, .to_ns = now().forward_ns});
    }

    bool computes_while_stopped() const override { return computer_->goes_by_the_clock(); }
    std::optional<int> gpu() const override { return computer_->gpu(); }
    nlohmann::ordered_json describe() const override
    {
        const std::optional<base::Nanoseconds> piece = computer_->piece();
        return piece ? nlohmann::ordered_json{{"piece", base::format(*piece)}} : nlohmann::ordered_json::object();
    }

 private:
    void complete(const Bucket& bucket) override
    {
        if (bucket.index == 0) part_ = {.begun_ns = base::now_ns()};
        part_.from_ns = part_.to_ns;
        part_.to_ns =
            static_cast<std::int64_t>(emulation_.ready[bucket.index] * static_cast<double>(now().backward_ns));
        computer_->compute(part_);
    }

    const StepCompute& now() const
    {
        return emulation_.steps[static_cast<std::size_t>(steps()) % emulation_.steps.size()];
    }

    struct PartOfBatch {
        std::int64_t samples = 0;
        std::vector<std::vector<float>> outputs;          // by layer
        std::vector<std::vector<float>> input_gradients;  // by layer
    };

    std::size_t layers() const { return emulation_.ready.size(); }

    static std::vector<float> plus_one(const std::vector<float>& taken, std::size_t count)
    {
        std::vector<float> given(count, 1.0F);
        for (std::size_t i = 0; i < std::min(count, taken.size()); ++i) given[i] = taken[i] + 1.0F;
        return given;
    }

    // Computes between two shares of forward or backward, for one part of the batch.
    void compute_share(std::int64_t ns, double from, double to)
    {
        const double of_part = static_cast<double>(ns) / static_cast<double>(parts_.size());
        computer_->compute({.begun_ns = base::now_ns(),
                            .from_ns = 0,
                            .to_ns = static_cast<std::int64_t>(std::lround(of_part * (to - from)))});
    }

    Emulation emulation_;
    std::unique_ptr<Computer> computer_;
    Part part_;  // current part of backward
    std::vector<PartOfBatch> parts_;
};

double percent(const std::string& option, const std::string& text)
{
    const double value = base::parse<base::Percent>(text).fraction();
    if (value < 0.0 || value > 1.0) base::fail_usage("emulated[", option, "]: ", text, " is not between 0% and 100%");
    return value;
}

// Parses "50%/80%/100%"; if empty, the buckets become ready at equal intervals in backward.
std::vector<double> ready_shares(const base::Settings& settings, int buckets)
{
    const std::vector<std::string> given = base::split(settings.text("ready"), '/');
    std::vector<double> shares;
    for (const std::string& text : given) shares.push_back(percent("ready", text));
    for (int i = 1; given.empty() && i <= buckets; ++i) shares.push_back(static_cast<double>(i) / buckets);
    if (shares.size() != static_cast<std::size_t>(buckets))
        base::fail_usage("emulated[ready=", settings.text("ready"), "] names ", shares.size(), " times for ", buckets,
                         " buckets");
    if (!std::is_sorted(shares.begin(), shares.end()))
        base::fail_usage("emulated[ready=", settings.text("ready"), "]: times must not decrease");
    return shares;
}

StepCompute replayed_step(const base::CsvTable& csv, std::size_t row)
{
    const StepCompute step{csv.get<std::int64_t>(row, "forward_ns"), csv.get<std::int64_t>(row, "backward_ns")};
    if (step.forward_ns < 0 || step.backward_ns < 0)
        base::fail_usage("emulated[replay]: ", csv.place(row, step.forward_ns < 0 ? "forward_ns" : "backward_ns"),
                         ": a negative time");
    if (!csv.has("begin_ns") || !csv.has("end_ns")) return step;
    const std::int64_t length_ns =
        base::saturated_difference(csv.get<std::int64_t>(row, "end_ns"), csv.get<std::int64_t>(row, "begin_ns"));
    if (base::saturated_sum(step.forward_ns, step.backward_ns) > length_ns)
        base::fail_usage("emulated[replay]: ", csv.place(row, "end_ns"),
                         ": forward and backward take longer than their step");
    return step;
}

// Computing times of this rank's steps in an earlier run, or of rank 0 if that run had fewer ranks.
std::vector<StepCompute> replayed(const std::string& file, int rank)
{
    const base::CsvTable csv{file};
    std::map<int, std::vector<StepCompute>> steps;
    for (std::size_t row = 0; row < csv.rows(); ++row)
        steps[csv.get<int>(row, "rank")].push_back(replayed_step(csv, row));
    std::vector<StepCompute>& mine = steps[steps.contains(rank) ? rank : 0];
    if (mine.empty()) base::fail_usage("emulated[replay]: ", file, " has no steps of rank ", rank, " or 0");
    return std::move(mine);
}

Emulation emulation(const base::Settings& settings, int rank)
{
    const std::int64_t compute = settings.get<base::Nanoseconds>("compute").count();
    const std::int64_t bytes = settings.get<base::Bytes>("gradients").count;
    const int buckets = settings.get<int>("buckets");
    if (compute < 0) base::fail_usage("emulated[compute]: ", settings.text("compute"), " is negative");
    if (buckets < 1) base::fail_usage("emulated[buckets] must be at least 1");
    if (bytes < 4L * buckets)
        base::fail_usage("emulated[gradients]: ", settings.text("gradients"),
                         " is less than one number for each bucket");

    Emulation result;
    const double forward = percent("forward", settings.text("forward")) * static_cast<double>(compute);
    const auto forward_ns = static_cast<std::int64_t>(forward);
    const std::string& replay = settings.text("replay");
    result.steps =
        replay.empty() ? std::vector<StepCompute>{{forward_ns, compute - forward_ns}} : replayed(replay, rank);
    result.ready = ready_shares(settings, buckets);
    result.activations = settings.get<base::Bytes>("activations").count / static_cast<std::int64_t>(sizeof(float));
    if (result.activations < 0)
        base::fail_usage("emulated[activations]: ", settings.text("activations"), " is negative");
    result.floats = bytes / static_cast<std::int64_t>(sizeof(float));
    return result;
}

}  // namespace

extern const ModelCard emulated_model{
    .name = "emulated",
    .summary = "emulated computing takes time but no CPU, as on a GPU; input and exchange are real",
    .options =
        {{"compute", "80ms", "time of forward and backward"},
         {"forward", "33%", "share of forward"},
         {"gradients", "100MiB", "bytes of gradients exchanged"},
         {"buckets", "4", "number of buckets, one per layer"},
         {"activations", "64KiB", "activations of a sample sent between layers on different ranks"},
         {"ready", "", "when buckets become ready: 50%/80%/100% of backward; empty: evenly"},
         {"replay", "", "steps.csv of an earlier run, whose forward and backward times are replayed step by step"},
         {"device", "sleep",
          "sleep: idle CPU; spin: busy CPU; gemm (matrix products), memory (streaming): as much work as takes this "
          "time undisturbed; cuda: busy GPU"},
         {"piece", "auto",
          "gemm, memory: undisturbed time of a unit of work; auto measures it at the start, where noise would "
          "reduce the work"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) -> std::unique_ptr<Model> {
        return std::make_unique<Emulated>(emulation(settings, plan.rank), computer(settings, plan), plan.rank);
    },
    .offers = {&exchanged_gradients, &layered},
};

}  // namespace ddl
