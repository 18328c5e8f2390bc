// Horovod's design: gradients become ready in whatever order, ranks negotiate in cycles which of them all have ready,
// and those are fused into few exchanges. Rounds of negotiation go on even while nothing is ready.
#include "base/error.hpp"
#include "ddl-workloads/strategies/negotiation.hpp"
#include "ddl-workloads/strategies/strategy.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <iostream>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ddl {

namespace {

struct CyclePlan {
    base::Nanoseconds cycle;
    std::int64_t fusion_bytes = 0;
    std::size_t cache = 0;
    base::Nanoseconds stall;
};

class Cycle : public Strategy, public Rounds {
 public:
    Cycle(const CyclePlan& plan, Transport& transport, Instruments& instruments)
        : plan_{plan},
          transport_{transport},
          instruments_{instruments},
          negotiator_{{.rank = transport.rank(),
                       .ranks = transport.size(),
                       .cache = plan.cache,
                       .stall_ns = plan.stall.count()}},
          negotiate_{instruments.recorder().region("negotiate")},
          copy_in_{instruments.recorder().region("fusion_copy_in")},
          copy_out_{instruments.recorder().region("fusion_copy_out")}
    {
    }

    void attach(Model& model) override
    {
        names_ = model.gradient_names();
        gradients_.resize(names_.size());
        for (std::size_t tensor = 0; tensor < names_.size(); ++tensor) by_name_[names_[tensor]] = tensor;
        model.announce_gradients([this](std::size_t tensor, std::span<float> gradient) { ready(tensor, gradient); });
        transport_.go_round(this);
    }

    void finish() override { transport_.go_round(nullptr); }

    void backward(Model& model, PhaseClock& clock) override
    {
        clock.enter(Phase::backward);
        {
            const std::lock_guard lock{mutex_};
            step_ = clock.step();
            ready_ = 0;
            averaged_ = 0;
        }
        model.backward();
        clock.enter(Phase::wait_exchange);
        std::unique_lock lock{mutex_};
        if (ready_ != names_.size()) base::fail(names_.size() - ready_, " gradients did not become ready");
        changed_.wait(lock, [this] { return averaged_ == names_.size() || failure_; });
        if (failure_) std::rethrow_exception(failure_);
    }

    base::Nanoseconds cycle() const override { return plan_.cycle; }

    bool round(Link& link, bool call_waits) override
    {
        if (broken_) return call_waits;
        try {
            const std::uint64_t step = take_ready();
            const std::vector<TensorResponse> agreed = negotiate(link, call_waits);
            exchange(link, agreed, step);
            return negotiator_.call_waits_everywhere();
        } catch (...) {
            broken_ = true;
            const std::lock_guard lock{mutex_};
            failure_ = std::current_exception();
            changed_.notify_one();
            return call_waits;
        }
    }

 private:
    // On the thread of backward().
    void ready(std::size_t tensor, std::span<float> gradient)
    {
        const std::int64_t now = base::now_ns();
        instruments_.bucket_ready({instruments_.clock().step(), tensor}, now);
        const std::lock_guard lock{mutex_};
        ++ready_;
        gradients_[tensor] = gradient;
        queue_.push_back({tensor, now});
    }

    // The step of what is ready: one step's gradients are averaged before the next step's become ready.
    std::uint64_t take_ready()
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [tensor, since_ns] : std::exchange(queue_, {}))
            negotiator_.ask({names_[tensor], static_cast<std::int64_t>(gradients_[tensor].size())}, since_ns);
        return step_;
    }

    std::vector<TensorResponse> negotiate(Link& link, bool call_waits)
    {
        const otf2::Scope scope{instruments_.transport_thread(), negotiate_};
        const std::int64_t now = base::now_ns();
        std::vector<std::uint64_t> bits = negotiator_.offer(call_waits, now);
        link.bitwise_and(bits);
        negotiator_.agree(bits);
        if (negotiator_.asks_coordinator()) ask_coordinator(link, now);
        for (const Stalled& stalled : negotiator_.stalled(now))
            std::cerr << "ddl-train: " + stall_warning(stalled, plan_.stall.count()) + "\n";
        return negotiator_.take_agreed();
    }

    void ask_coordinator(Link& link, std::int64_t now)
    {
        const std::vector<std::string> questions = link.gather(negotiator_.questions(now));
        std::string answer = link.rank() == 0 ? negotiator_.answer(questions, now) : std::string{};
        std::uint64_t length = answer.size();
        link.broadcast(std::as_writable_bytes(std::span{&length, 1}), 0);
        answer.resize(length);
        link.broadcast(std::as_writable_bytes(std::span{answer}), 0);
        negotiator_.learn(answer);
    }

    void exchange(Link& link, const std::vector<TensorResponse>& agreed, std::uint64_t step)
    {
        std::vector<std::int64_t> bytes;
        for (const TensorResponse& response : agreed) {
            if (!response.error.empty()) base::fail(response.error);
            bytes.push_back(response.tensor.floats * static_cast<std::int64_t>(sizeof(float)));
        }
        for (const FusedRange& range : fusion_plan(bytes, plan_.fusion_bytes)) {
            std::vector<std::span<float>> parts;
            for (std::size_t i = range.begin; i < range.end; ++i)
                parts.push_back(gradients_[by_name_.at(agreed[i].tensor.name)]);
            average(link, parts, step);
        }
    }

    void average(Link& link, const std::vector<std::span<float>>& parts, std::uint64_t step)
    {
        if (std::exchange(exchanged_step_, step) != step) exchanges_ = 0;
        const BucketTag tag{step, exchanges_++};
        if (parts.size() == 1) {
            transport_.average_now(link, parts.front(), tag);
        } else {
            const std::span<float> fused = copy_in(parts);
            transport_.average_now(link, fused, tag);
            copy_out(parts);
        }
        const std::lock_guard lock{mutex_};
        averaged_ += parts.size();
        if (averaged_ == names_.size()) changed_.notify_one();
    }

    std::span<float> copy_in(const std::vector<std::span<float>>& parts)
    {
        const otf2::Scope scope{instruments_.transport_thread(), copy_in_};
        std::size_t size = 0;
        for (const std::span<float> part : parts) size += part.size();
        fusion_buffer_.clear();
        fusion_buffer_.reserve(size);
        for (const std::span<float> part : parts) fusion_buffer_.insert(fusion_buffer_.end(), part.begin(), part.end());
        return fusion_buffer_;
    }

    void copy_out(const std::vector<std::span<float>>& parts)
    {
        const otf2::Scope scope{instruments_.transport_thread(), copy_out_};
        auto from = fusion_buffer_.cbegin();
        for (const std::span<float> part : parts) {
            const auto size = static_cast<std::ptrdiff_t>(part.size());
            std::copy(from, from + size, part.begin());
            from += size;
        }
    }

    CyclePlan plan_;
    Transport& transport_;
    Instruments& instruments_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::size_t> by_name_;

    std::mutex mutex_;  // of these, which both threads use
    std::condition_variable changed_;
    std::uint64_t step_ = 0;
    std::vector<std::pair<std::size_t, std::int64_t>> queue_;  // ready since, and nobody has heard of it yet
    std::vector<std::span<float>> gradients_;
    std::size_t ready_ = 0;
    std::size_t averaged_ = 0;
    std::exception_ptr failure_;

    Negotiator negotiator_;  // the transport thread's, as all below
    std::vector<float> fusion_buffer_;
    std::uint64_t exchanged_step_ = UINT64_MAX;
    std::uint64_t exchanges_ = 0;  // of that step
    bool broken_ = false;
    otf2::RegionRef negotiate_;
    otf2::RegionRef copy_in_;
    otf2::RegionRef copy_out_;
};

CyclePlan parsed(const base::Settings& settings)
{
    const CyclePlan plan{.cycle = settings.get<base::Nanoseconds>("cycle"),
                         .fusion_bytes = settings.get<base::Bytes>("fusion").count,
                         .cache = static_cast<std::size_t>(std::max(0, settings.get<int>("cache"))),
                         .stall = settings.get<base::Nanoseconds>("stall")};
    if (plan.cycle.count() < 0 || plan.stall.count() < 0 || plan.fusion_bytes < 0 || settings.get<int>("cache") < 0)
        base::fail_usage("cycle: none of its options may be negative");
    return plan;
}

}  // namespace

extern const StrategyCard cycle_strategy;
const StrategyCard cycle_strategy{
    .name = "cycle",
    .summary = "ranks negotiate in cycles what is ready and fuse it (Horovod's design)",
    .options = {{"cycle", "1ms", "time from one round of negotiation to the next"},
                {"fusion", "128MiB", "at most so much is exchanged at once; 0B: each tensor alone"},
                {"cache", "1024", "responses that ranks remember, so that they need only bits; 0: none"},
                {"stall", "60s", "warn of tensors that some ranks have waited for so long; 0s: never"}},
    .make = [](const base::Settings& settings, Transport& transport, Instruments& instruments)
        -> std::unique_ptr<Strategy> { return std::make_unique<Cycle>(parsed(settings), transport, instruments); },
};

}  // namespace ddl
