// SPDX-License-Identifier: Apache-2.0
// Coded training (CodeNet, Dutta et al. 2019): the weights of fully connected layers lie as coded blocks on the ranks,
// which all train with the same samples. Everything else is computed by every rank.
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "ddl-workloads/codes/options.hpp"
#include "ddl-workloads/guards/state_copy.hpp"
#include "ddl-workloads/strategies/coded/coded_plan.hpp"
#include "ddl-workloads/strategies/coded/replica_vote.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ddl {

namespace {

constexpr int most_rollbacks = 10;  // at one step

class Coded : public Strategy {
 public:
    Coded(StrategyPlan plan, ExchangeThread& exchanges, Instruments& instruments)
        : plan_{std::move(plan)},
          exchanges_{exchanges},
          instruments_{instruments},
          rollback_region_{instruments.recorder().region(base::region::code_rollback)}
    {
    }

    void attach(Model& model) override
    {
        products_ =
            plan_.products.precision == CodePrecision::fp64 ? products_of<double>(model) : products_of<float>(model);
        model.with_dense_layers()->leave_products_to(*products_);
    }

    void step(StepContext& context) override
    {
        if (!copy_.steps_done()) begin(context);
        if (requests_) requests_->post(products_->take_request());
        begin_step(context);
        while (products_->failed() || !attempt(context)) {
            context.clock.leave();
            roll_back(context);
            if (rollbacks_here_ == most_rollbacks) return give_up(context);
        }
        context.clock.leave();
        end_step(context);
        if (products_->take_verified()) keep_copy(context);
    }

    void resumed(bool own_state) override
    {
        if (!own_state) products_->encode();
    }

    void check_state(StepContext& context) override
    {
        if (!copy_.steps_done()) return;
        const bool agree = late() != nullptr || ranks_agree(context);  // with late=skip verify() sees to it
        if (agree && products_->verify()) return;
        roll_back(context);
        if (rollbacks_here_ == most_rollbacks) context.state.stop = Stop::guard;
    }

    void finish() override
    {
        if (copy_.steps_done()) products_->finish();
    }

    void describe(nlohmann::ordered_json& result) const override
    {
        result["code"] = products_->describe();
        result["code"]["rollbacks"] = rollbacks_.value();
    }

    std::optional<std::string> broken_promise() const override
    {
        if (rollbacks_here_ < most_rollbacks) return std::nullopt;
        return base::join("step ", failed_at_, " was rolled back ", most_rollbacks,
                          " times: more errors than the code corrects (see errors.csv)");
    }

 private:
    void begin(StepContext& context)
    {
        products_->begin();
        keep_copy(context);
        if (late() == nullptr) return;
        NewsBoard& board = context.hooks.board();
        board.wait_less(late()->lag);
        requests_ = board.add<Request>();
    }

    // Null: products wait for all ranks.
    const LatePlan* late() const { return plan_.products.late ? &*plan_.products.late : nullptr; }

    void keep_copy(StepContext& context)
    {
        copy_.keep(context.model, context.state.done());
        products_->log().state_kept();
        attempt_ = 0;
        rollbacks_at_.clear();
    }

    template <class Value>
    std::unique_ptr<CodedProducts> products_of(Model& model)
    {
        if (const auto* const product = std::get_if<ProductCode>(&plan_.code))
            return std::make_unique<PolyDotProduct<Value>>(*product, plan_.products, model, exchanges_, instruments_);
        return std::make_unique<CodedWeights<Value>>(std::get<WeightsPlan>(plan_.code), plan_.products, model,
                                                     exchanges_, instruments_);
    }

    // Returns false, on all ranks, if the state must be rolled back before the step is made: the ranks differ and there
    // is no majority.
    bool ranks_agree(StepContext& context)
    {
        if (late() != nullptr) return refreshed(context);
        if (exchanges_.size() == 1 || !products_->checks()) return true;
        return replicas_agree(context) && encoded_again(context);
    }

    bool replicas_agree(StepContext& context)
    {
        std::vector<StateTensor> replicas = replicas_of(context.model);
        replicas.push_back({.path = "alike", .shape = {1}, .bytes = products_->alike()});
        const Vote result = vote(replicas, exchanges_);
        products_->forget_alike();
        if (result.outvoted.empty()) return result.decided;
        if (std::ranges::find(result.outvoted, exchanges_.rank()) != result.outvoted.end()) {
            context.model.restored();
            products_->log().outvoted(static_cast<std::int64_t>(context.clock.step()));
        }
        products_->repair(result.outvoted);
        return !products_->failed();
    }

    // With late=wait, so that rounding does not add up over all updates of a training. Steps are counted as in an
    // uninterrupted training.
    bool encoded_again(StepContext& context)
    {
        const std::int64_t step = context.state.done();
        if (step == 0 || step % plan_.products.refresh != 0 || step == encoded_at_) return true;
        if (!products_->verify()) return false;
        encoded_at_ = step;
        products_->refresh();
        if (products_->take_verified()) keep_copy(context);
        return true;
    }

    // With late=skip: if it is time, or a rank requests it, all ranks check and repair the blocks and encode the same
    // weights again.
    bool refreshed(StepContext& context)
    {
        const std::int64_t step = context.state.taken;
        const bool is_news = step - late()->lag > agreed_at_;  // requests from before then have been answered
        const std::vector<Request> requests = is_news ? requests_->received() : std::vector<Request>{};
        const Request most = requests.empty() ? Request::none : std::ranges::max(requests);
        const bool is_due = step > context.state.first && step % plan_.products.refresh == 0;
        if (step == agreed_at_ || (most == Request::none && !is_due)) return true;
        agreed_at_ = step;
        if (most == Request::roll_back || !products_->verify()) return false;
        products_->refresh();
        if (products_->take_verified()) keep_copy(context);
        return true;
    }

    // Makes the passes and the update of a step. Returns false, on all ranks, if there were too many errors.
    bool attempt(StepContext& context)
    {
        context.clock.enter(Phase::wait_exchange);
        const bool agree = ranks_agree(context);
        context.clock.leave();
        if (!agree) return false;
        products_->begin_step(context.state.done(), attempt_);
        context.hooks.each(&Hook::before_passes, context);
        for (int pass = 1; pass <= context.passes; ++pass) {
            take_batch(context, next_batch(context, pass));
            context.clock.enter(Phase::forward);
            context.model.forward();
            if (products_->failed()) return false;
            context.clock.enter(Phase::backward);
            context.model.backward();
            if (products_->failed()) return false;
        }
        context.hooks.each(&Hook::after_passes, context);
        update_model(context);
        return true;
    }

    void roll_back(StepContext& context)
    {
        const otf2::Scope scope{instruments_.main(), rollback_region_};
        const std::int64_t step = context.state.done();
        rollbacks_here_ = ++rollbacks_at_[step];
        failed_at_ = step;
        ++attempt_;
        agreed_at_ = context.state.taken;
        rollbacks_.add(1);
        products_->settle();
        copy_.restore(context.model);
        products_->rolled_back();
        go_back(context, copy_.steps_done().value());
    }

    // Ends a step that was not made, and the training.
    void give_up(StepContext& context)
    {
        const StepTimes times = context.clock.end_step();
        ++context.state.taken;
        ++context.state.taken_back;
        context.state.stop = context.state.request = Stop::guard;
        context.hooks.each(&Hook::end_step, context, times);
    }

    StrategyPlan plan_;
    ExchangeThread& exchanges_;
    Instruments& instruments_;
    otf2::RegionRef rollback_region_;
    std::unique_ptr<CodedProducts> products_;           // set by attach()
    StateCopy copy_;                                    // to roll back to
    std::optional<NewsBoard::Slot<Request>> requests_;  // with late=skip
    std::int64_t agreed_at_ = -1;                       // step in which requests were answered last
    std::int64_t encoded_at_ = -1;                      // likewise of the newest encoded_again()
    std::map<std::int64_t, int> rollbacks_at_;          // since the copy was made, by step
    std::int64_t failed_at_ = -1;                       // step of the last rollback
    int rollbacks_here_ = 0;                            // of that step
    int attempt_ = 0;                                   // rollbacks since the copy was made
    otf2::PublishedCounter rollbacks_{"code_rollbacks", "rollbacks of coded trainings"};
};

}  // namespace

extern const StrategyCard coded_strategy{
    .name = "coded",
    .summary = "coded blocks of fully connected layers on the ranks, which train with the same samples (CodeNet)",
    .offers = {&equal_ranks, &same_samples, &soft_errors_of_blocks},
    .needs = coded_needs,
    .options = {{"code", "codenet", "uncoded, replication, codenet or polydot (ddl-code --list)"},
                grid_option,
                parity_option,
                copies_option,
                t_option,
                s_option,
                columns_option,
                points_option,
                {"threshold", "auto", "relative disagreement of symbols above which one is wrong; auto: calibrated"},
                {"check", "fp32", "precision of blocks, products and symbols: fp32, or fp64 to detect smaller errors"},
                {"reencode", "no", "yes: encode the blocks again after each update, as --optimizer adamw needs"},
                {"late", "wait", "wait for all symbols, or skip late ones: a product uses those that have arrived"},
                {"spare", "1", "with late=skip: symbols beyond those needed that a product waits for, as a check"},
                {"lag", "8", "with late=skip: steps that a rank may be behind before the others wait"},
                {"refresh", "500", "steps after which all ranks check the blocks and encode the same weights again"}},
    .make = [](const StrategyParts& parts) -> std::unique_ptr<Strategy> {
        return std::make_unique<Coded>(parse_coded(parts), parts.exchanges, parts.instruments);
    },
};

}  // namespace ddl
