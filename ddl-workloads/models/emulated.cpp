// A training step without the training: computing takes its time and no CPU, as on a node whose GPU does it; input is
// really read and gradients are really exchanged. The victim whose truth is known, and the proxy for a GPU node.
#include "base/error.hpp"
#include "base/words.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/waiting.hpp"

#include <algorithm>
#include <future>

#ifdef CROSSTALK_DDL_CUDA
#include "ddl-workloads/models/gpu_clockwork.hpp"
#endif

namespace ddl {

namespace {

// How the time of computing is spent.
class Computer {
 public:
    virtual ~Computer() = default;
    virtual void compute_until(std::int64_t deadline_ns) = 0;
};

class Sleeper : public Computer {
 public:
    void compute_until(std::int64_t deadline_ns) override { sleep_through(deadline_ns); }
};

class Spinner : public Computer {
 public:
    void compute_until(std::int64_t deadline_ns) override
    {
        while (base::now_ns() < deadline_ns) {
        }
    }
};

#ifdef CROSSTALK_DDL_CUDA
class GpuWorker : public Computer {
 public:
    explicit GpuWorker(int preferred_gpu) : gpu_{preferred_gpu} {}
    void compute_until(std::int64_t deadline_ns) override { gpu_.work(deadline_ns - base::now_ns()); }

 private:
    GpuClockwork gpu_;
};
#endif

std::unique_ptr<Computer> computer(const std::string& device, const ModelPlan& plan)
{
    if (device == "sleep") return std::make_unique<Sleeper>();
    if (device == "spin") return std::make_unique<Spinner>();
    if (device != "cuda") {
        const std::vector<std::string> known{"sleep", "spin", "cuda"};
        base::fail_usage("emulated[device=", device, "] is none of sleep|spin|cuda", base::did_you_mean(device, known));
    }
#ifdef CROSSTALK_DDL_CUDA
    return std::make_unique<GpuWorker>(plan.local_rank);
#else
    static_cast<void>(plan);
    base::unavailable("emulated[device=cuda] needs a ddl-train that was built with CUDA's compiler");
#endif
}

struct Emulation {
    std::int64_t forward_ns = 0;
    std::int64_t backward_ns = 0;
    std::vector<double> ready;  // bucket i is complete after this share of backward; ascending
    std::int64_t floats = 0;    // of all buckets
};

class Emulated : public Model {
 public:
    Emulated(Emulation emulation, std::unique_ptr<Computer> computer, int rank)
        : emulation_{std::move(emulation)},
          computer_{std::move(computer)},
          rank_{rank},
          gradients_(static_cast<std::size_t>(emulation_.floats), 1.0F),
          parameters_(2 * emulation_.ready.size())
    {
        const std::size_t buckets = emulation_.ready.size();
        for (std::size_t i = 0; i < buckets; ++i) {
            const std::size_t begin = gradients_.size() * i / buckets;
            const std::size_t end = gradients_.size() * (i + 1) / buckets;
            buckets_.push_back(
                {.index = i, .gradients = std::span{gradients_}.subspan(begin, end - begin), .last = i + 1 == buckets});
        }
    }

    std::vector<std::span<std::byte>> parameters() override { return {std::as_writable_bytes(std::span{parameters_})}; }
    std::int64_t parameter_count() const override { return emulation_.floats; }

    void exchange_in_buckets(const BucketCaps&, Transport&, StartExchange start) override { start_ = std::move(start); }

    void take(Batch) override {}

    void forward() override { computer_->compute_until(base::now_ns() + emulation_.forward_ns); }

    void backward() override
    {
        const std::int64_t begin = base::now_ns();
        std::vector<std::future<void>> exchanges;
        for (const Bucket& bucket : buckets_) {
            const double share = emulation_.ready[bucket.index];
            computer_->compute_until(begin +
                                     static_cast<std::int64_t>(share * static_cast<double>(emulation_.backward_ns)));
            bucket.gradients.front() = static_cast<float>(rank_ + 1);
            bucket.gradients.back() = static_cast<float>(rank_ + steps_ % steps_of_a_pattern);
            if (start_) exchanges.push_back(start_(bucket, {}));
        }
        for (std::future<void>& exchange : exchanges) exchange.get();
    }

    // A real update would run on the device. This one only remembers both ends of each averaged bucket, so that ranks
    // end with equal parameters if, and only if, every exchange of every step was right there.
    void update() override
    {
        for (const Bucket& bucket : buckets_) {
            parameters_[2 * bucket.index] += learning_rate * bucket.gradients.front();
            parameters_[2 * bucket.index + 1] += learning_rate * bucket.gradients.back();
        }
        ++steps_;
    }

    std::vector<std::span<float>> gradients() override
    {
        std::vector<std::span<float>> all;
        for (const Bucket& bucket : buckets_) all.push_back(bucket.gradients);
        return all;
    }

 private:
    static constexpr int steps_of_a_pattern = 97;
    static constexpr float learning_rate = 0x1p-10F;

    Emulation emulation_;
    std::unique_ptr<Computer> computer_;
    int rank_;
    int steps_ = 0;
    std::vector<float> gradients_;
    std::vector<float> parameters_;
    std::vector<Bucket> buckets_;
    StartExchange start_;
};

double percent(const std::string& option, const std::string& text)
{
    const double value = base::parse<base::Percent>(text).fraction();
    if (value < 0.0 || value > 1.0) base::fail_usage("emulated[", option, "]: ", text, " is not between 0% and 100%");
    return value;
}

// "50%/80%/100%", or evenly spread over backward.
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

Emulation emulation(const base::Settings& settings)
{
    const std::int64_t compute = settings.get<base::Nanoseconds>("compute").count();
    const std::int64_t bytes = settings.get<base::Bytes>("gradients").count;
    const int buckets = settings.get<int>("buckets");
    if (compute < 0) base::fail_usage("emulated[compute]: ", settings.text("compute"), " is negative");
    if (buckets < 1) base::fail_usage("emulated[buckets]: at least 1 is needed");
    if (bytes < 4L * buckets)
        base::fail_usage("emulated[gradients]: ", settings.text("gradients"),
                         " is less than one number for each bucket");

    Emulation result;
    result.forward_ns =
        static_cast<std::int64_t>(percent("forward", settings.text("forward")) * static_cast<double>(compute));
    result.backward_ns = compute - result.forward_ns;
    result.ready = ready_shares(settings, buckets);
    result.floats = bytes / static_cast<std::int64_t>(sizeof(float));
    return result;
}

}  // namespace

extern const ModelCard emulated_model;
const ModelCard emulated_model{
    .name = "emulated",
    .summary = "computing takes time but no CPU, as with a GPU; real input, real exchange",
    .options = {{"compute", "80ms", "time of forward and backward"},
                {"forward", "33%", "share of forward"},
                {"gradients", "100MiB", "size of what is exchanged"},
                {"buckets", "4", "into which gradients are cut"},
                {"ready", "", "when buckets are complete: 50%/80%/100% of backward; evenly if empty"},
                {"device", "sleep", "sleep leaves the CPU idle; spin keeps it busy; cuda keeps a GPU busy"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) -> std::unique_ptr<Model> {
        return std::make_unique<Emulated>(emulation(settings), computer(settings.text("device"), plan), plan.rank);
    },
};

}  // namespace ddl
