// SPDX-License-Identifier: Apache-2.0
// Coded training (CodeNet, Dutta et al. 2019): the weights of fully connected layers lie as coded blocks on the ranks,
// which all train with the same samples. Everything else is computed by every rank.
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/options.hpp"
#include "ddl-workloads/guards/state_copy.hpp"
#include "ddl-workloads/strategies/coded/coded_weights.hpp"
#include "ddl-workloads/strategies/coded/polydot_product.hpp"
#include "ddl-workloads/strategies/coded/replica_vote.hpp"
#include "ddl-workloads/strategies/strategy.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ddl {

namespace {

constexpr int most_rollbacks = 10;  // at one step

struct StrategyPlan {
    std::variant<WeightsPlan, ProductCode> code;
    CodedPlan products;
};

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
        DenseModel& dense = *model.with_dense_layers();
        products_ =
            plan_.products.precision == CodePrecision::fp64 ? products_of<double>(dense) : products_of<float>(dense);
        dense.leave_products_to(*products_);
    }

    void step(StepContext& context) override
    {
        if (!copy_.steps_done()) begin(context);
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
        if (!copy_.steps_done() || (ranks_agree(context) && products_->verify())) return;
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
    }

    void keep_copy(StepContext& context)
    {
        copy_.keep(context.model, context.state.done());
        attempt_ = 0;
    }

    template <class Value>
    std::unique_ptr<CodedProducts> products_of(DenseModel& dense)
    {
        if (const auto* const product = std::get_if<ProductCode>(&plan_.code))
            return std::make_unique<PolyDotProduct<Value>>(*product, plan_.products, dense, exchanges_, instruments_);
        return std::make_unique<CodedWeights<Value>>(std::get<WeightsPlan>(plan_.code), plan_.products, dense,
                                                     exchanges_, instruments_);
    }

    // The memory that must be equal on all ranks: state other than blocks and the weights that only blocks keep, and a
    // checksum of the inputs and results of products.
    std::vector<StateTensor> replicas(Model& model) const
    {
        std::vector<StateTensor> all = model.state();
        std::vector<const void*> coded;
        for (const DenseLayer& layer : model.with_dense_layers()->dense_layers())
            if (products_->keeps_weights()) coded.insert(coded.end(), {layer.weights.data(), layer.momentum.data()});
        std::erase_if(all, [&](const StateTensor& tensor) {
            return tensor.owner == Owner::each || std::ranges::find(coded, tensor.bytes.data()) != coded.end();
        });
        all.push_back({.path = "alike", .shape = {1}, .bytes = products_->alike()});
        return all;
    }

    // Returns false, on all ranks, if the ranks differ and there is no majority.
    bool ranks_agree(StepContext& context)
    {
        if (exchanges_.size() == 1 || !products_->checks()) return true;
        const Vote result = vote(replicas(context.model), exchanges_);
        products_->forget_alike();
        if (result.outvoted.empty()) return result.decided;
        if (std::ranges::find(result.outvoted, exchanges_.rank()) != result.outvoted.end()) {
            context.model.restored();
            products_->log().outvoted(static_cast<std::int64_t>(context.clock.step()));
        }
        products_->repair(result.outvoted);
        return !products_->failed();
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
        rollbacks_here_ = step == failed_at_ ? rollbacks_here_ + 1 : 1;
        failed_at_ = step;
        ++attempt_;
        rollbacks_.add(1);
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
    std::unique_ptr<CodedProducts> products_;  // set by attach()
    StateCopy copy_;                           // to roll back to
    std::int64_t failed_at_ = -1;              // step of the last rollback
    int rollbacks_here_ = 0;                   // of that step
    int attempt_ = 0;                          // rollbacks since the copy was made
    otf2::PublishedCounter rollbacks_{"code_rollbacks", "rollbacks of coded trainings"};
};

const CodeCard& card_of(const base::Settings& settings)
{
    return codes().find(settings.text("code"));
}

// Throws UsageError for an option of another code.
base::Settings settings_of_code(const base::Settings& settings)
{
    std::map<std::string, std::string> given;
    for (const base::OptionCard* option :
         {&grid_option, &parity_option, &copies_option, &t_option, &s_option, &columns_option, &points_option})
        if (settings.given(option->name)) given[option->name] = settings.text(option->name);
    return codes().settings(card_of(settings), given);
}

CodePrecision precision_of(const base::Settings& settings)
{
    const std::string& check = settings.text("check");
    if (check != "fp32" && check != "fp64") base::fail_usage("coded[check=", check, "]: fp32 or fp64");
    return check == "fp64" ? CodePrecision::fp64 : CodePrecision::fp32;
}

// Throws UsageError for a code that its precision cannot decode.
void check_precision(const base::Settings& settings, const ProductCode& code)
{
    if (precision_of(settings) == CodePrecision::fp32) check_single_precision(code);
}

WeightsPlan weights_plan(const StrategyParts& parts)
{
    WeightsPlan plan{.code = card_of(parts.settings).layer(settings_of_code(parts.settings), parts.seed),
                     .optimizer = parts.optimizer,
                     .reencode = parts.settings.get<bool>("reencode")};
    if (plan.optimizer.name != "sgd" && !plan.reencode)
        base::fail_usage("--strategy coded needs --optimizer sgd: a step of ", plan.optimizer.name,
                         " does not keep the code, unless coded[reencode=yes] encodes the blocks again after it");
    if (plan.code.ranks() != parts.exchanges.size())
        base::fail_usage("--strategy coded: this code and grid take ", plan.code.ranks(), " ranks, not ",
                         parts.exchanges.size());
    return plan;
}

ProductCode product_code(const StrategyParts& parts)
{
    ProductCode code = card_of(parts.settings).product(settings_of_code(parts.settings), parts.exchanges.size());
    check_precision(parts.settings, code);
    return code;
}

// None: "auto".
std::optional<double> threshold_of(const base::Settings& settings)
{
    if (settings.text("threshold") == "auto") return std::nullopt;
    const auto threshold = settings.get<double>("threshold");
    if (!(threshold > 0.0)) base::fail_usage("coded[threshold=..] must be auto or more than 0");
    return threshold;
}

StrategyPlan parsed(const StrategyParts& parts)
{
    const CodedPlan products{.threshold = threshold_of(parts.settings),
                             .precision = precision_of(parts.settings),
                             .errors = parse_soft_errors(parts.soft_errors),
                             .directory = parts.directory};
    if (card_of(parts.settings).layer == nullptr) return {.code = product_code(parts), .products = products};
    return {.code = weights_plan(parts), .products = products};
}

}  // namespace

extern const StrategyCard coded_strategy{
    .name = "coded",
    .summary = "coded blocks of fully connected layers on the ranks, which train with the same samples (CodeNet)",
    .offers = {&equal_ranks, &same_samples, &soft_errors_of_blocks},
    .needs =
        [](const base::Settings& settings) {
            threshold_of(settings);
            precision_of(settings);
            const base::Settings of_code = settings_of_code(settings);
            if (card_of(settings).layer == nullptr) {
                check_precision(settings, card_of(settings).product(of_code, 0));
                return base::Capabilities{&single_product, &messages};
            }
            card_of(settings).layer(of_code, 1);
            return base::Capabilities{&dense_layers, &messages};
        },
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
                {"reencode", "no", "yes: encode the blocks again after each update, as --optimizer adamw needs"}},
    .make = [](const StrategyParts& parts) -> std::unique_ptr<Strategy> {
        return std::make_unique<Coded>(parsed(parts), parts.exchanges, parts.instruments);
    },
};

}  // namespace ddl
