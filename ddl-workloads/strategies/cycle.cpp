// SPDX-License-Identifier: Apache-2.0
// Horovod's design: gradients become ready in any order; in cycles, the ranks negotiate which gradients all of them
// have ready, and fuse these into few exchanges. Rounds of negotiation continue even while no gradient is ready.
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/strategies/fusion.hpp"
#include "ddl-workloads/strategies/negotiation.hpp"
#include "ddl-workloads/strategies/ready_gradients.hpp"
#include "ddl-workloads/strategies/strategy.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ddl {

namespace {

struct CyclePlan {
    base::Nanoseconds cycle;
    std::int64_t fusion_bytes = 0;
    std::int64_t alone_bytes = 0;
    std::size_t cache = 0;
    base::Nanoseconds stall;
};

class Cycle : public DataParallel, public Rounds {
 public:
    Cycle(const CyclePlan& plan, ExchangeThread& exchanges, Instruments& instruments)
        : plan_{plan},
          exchanges_{exchanges},
          instruments_{instruments},
          negotiator_{{.rank = exchanges.rank(),
                       .ranks = exchanges.size(),
                       .cache = plan.cache,
                       .stall_ns = plan.stall.count()}},
          fused_{plan.fusion_bytes, plan.alone_bytes, exchanges, instruments},
          negotiate_{instruments.recorder().region(base::region::negotiate, otf2::RegionRole::task)}
    {
    }

    void attach(Model& model) override
    {
        names_ = gradients_of(model).gradient_names();
        ready_.emplace(names_.size());
        const auto ready = [this](std::size_t tensor, std::span<float> gradient, std::function<void()> arrive) {
            const std::int64_t now = base::now_ns();
            instruments_.bucket_ready({instruments_.clock().step(), tensor}, now);
            ready_->add({tensor, gradient, now, std::move(arrive)});
        };
        gradients_of(model).announce_gradients(ready);
        exchanges_.go_round(this);
    }

    void finish() override { exchanges_.go_round(nullptr); }

    void backward(Model& model, PhaseClock& clock) override
    {
        clock.enter(Phase::backward);
        ready_->begin_step(clock.step());
        model.backward();
        clock.enter(Phase::wait_exchange);
        ready_->wait();
    }

    std::chrono::steady_clock::time_point due() const override { return due_; }

    bool round(Transport& transport, bool call_waits) override
    {
        due_ = std::chrono::steady_clock::now() + plan_.cycle;
        if (broken_) return call_waits;
        try {
            std::uint64_t step = 0;
            for (const ReadyGradients::Ready& ready : ready_->take(step)) {
                const std::string& name = names_[ready.tensor];
                gradients_[name] = ready;
                negotiator_.ask({name, static_cast<std::int64_t>(ready.gradient.size())}, ready.since_ns);
            }
            const std::vector<std::span<float>> agreed = arrived(negotiate(transport, call_waits));
            fused_.average(transport, agreed, step);
            ready_->averaged(agreed.size());
            return negotiator_.call_waits_everywhere();
        } catch (...) {
            broken_ = true;
            ready_->fail(std::current_exception());
            return call_waits;
        }
    }

 private:
    // Names of the gradients that all ranks have ready, in the same order on all.
    std::vector<std::string> negotiate(Transport& transport, bool call_waits)
    {
        const otf2::Scope scope{instruments_.transport_thread(), negotiate_};
        const std::int64_t now = base::now_ns();
        std::vector<std::uint64_t> bits = negotiator_.offer(call_waits, now);
        transport.bitwise_and(bits);
        // Counted from when the last rank has arrived: if each rank counted from its own start, all would always wait
        // for the same rank.
        due_ = std::chrono::steady_clock::now() + plan_.cycle;
        negotiator_.agree(bits);
        if (negotiator_.asks_coordinator()) ask_coordinator(transport, now);
        for (const Stalled& stalled : negotiator_.stalled(now)) base::warn(stall_warning(stalled, plan_.stall.count()));
        std::vector<std::string> agreed;
        for (const TensorResponse& response : negotiator_.take_agreed()) {
            if (!response.error.empty()) base::fail(response.error);
            agreed.push_back(response.tensor.name);
        }
        return agreed;
    }

    std::vector<std::span<float>> arrived(const std::vector<std::string>& names)
    {
        std::vector<std::span<float>> gradients;
        for (const std::string& name : names) {
            ReadyGradients::Ready& ready = gradients_.at(name);
            if (const std::function<void()> arrive = std::exchange(ready.arrive, {})) arrive();
            gradients.push_back(ready.gradient);
        }
        return gradients;
    }

    void ask_coordinator(Transport& transport, std::int64_t now)
    {
        const std::vector<std::string> questions = transport.gather(negotiator_.questions(now));
        std::string answer = transport.rank() == 0 ? negotiator_.answer(questions, now) : std::string{};
        std::uint64_t length = answer.size();
        transport.broadcast(std::as_writable_bytes(std::span{&length, 1}), 0);
        answer.resize(length);
        transport.broadcast(std::as_writable_bytes(std::span{answer}), 0);
        negotiator_.learn(answer);
    }

    CyclePlan plan_;
    ExchangeThread& exchanges_;
    Instruments& instruments_;
    std::vector<std::string> names_;
    std::optional<ReadyGradients> ready_;  // exists after attach()

    // Used by the transport thread only.
    std::unordered_map<std::string, ReadyGradients::Ready> gradients_;
    Negotiator negotiator_;
    FusedAverage fused_;
    otf2::RegionRef negotiate_;
    std::chrono::steady_clock::time_point due_;  // time of the next round
    bool broken_ = false;
};

CyclePlan parsed(const base::Settings& settings)
{
    const CyclePlan plan{.cycle = settings.get<base::Nanoseconds>("cycle"),
                         .fusion_bytes = settings.get<base::Bytes>("fusion").count,
                         .alone_bytes = settings.get<base::Bytes>("alone").count,
                         .cache = static_cast<std::size_t>(std::max(0, settings.get<int>("cache"))),
                         .stall = settings.get<base::Nanoseconds>("stall")};
    if (plan.cycle.count() < 0 || plan.stall.count() < 0 || plan.fusion_bytes < 0 || plan.alone_bytes < 0 ||
        settings.get<int>("cache") < 0)
        base::fail_usage("cycle: none of its options may be negative");
    return plan;
}

}  // namespace

extern const StrategyCard cycle_strategy{
    .name = "cycle",
    .summary = "ranks negotiate ready tensors in cycles and fuse them (Horovod's design)",
    .offers = {&equal_ranks, &whole_means, &whole_weights},
    .needs = needs_host_exchange,
    .options = {{"cycle", "1ms", "time between two rounds of negotiation"},
                {"fusion", "128MiB", "largest fused exchange; 0B: each tensor alone"},
                {"alone", "512KiB", "larger tensors are exchanged in place, without a copy"},
                {"cache", "1024", "entries of the response cache; 0: no cache"},
                {"stall", "60s", "warn of tensors that some ranks have waited for this long; 0s: never"}},
    .make = [](const StrategyParts& parts) -> std::unique_ptr<Strategy> {
        return std::make_unique<Cycle>(parsed(parts.settings), parts.exchanges, parts.instruments);
    },
};

}  // namespace ddl
