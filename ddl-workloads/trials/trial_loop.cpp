// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/trials/trial_loop.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/units.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace ddl {

namespace {

// Held-out samples are evaluated after 0, 1, 2, 4, ... steps and at the end.
bool is_looked_at(std::int64_t steps, std::int64_t last)
{
    return steps == last || (steps & (steps - 1)) == 0;
}

std::string look_text(std::int64_t steps, double accuracy)
{
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), accuracy).ptr;
    return base::join(steps, ":", std::string{digits.data(), end});
}

}  // namespace

// Result of a trial on one rank.
struct TrialLoop::OfRank {
    DrawnAlteration drawn = {};
    std::int64_t first_difference = -1;  // step whose loss first differs from the undisturbed training; -1: none
    std::int64_t not_finite_after = -1;  // steps until the loss is not finite, without undone steps; -1: never
    double loss = 0.0;
    std::optional<std::int64_t> caught = {};  // steps until a guard found something
    soft_errors::WeightRead read = {};        // for trials of kind `stored`
};

// Hook of the current trial: its guards, and its weights in memory whose bits flip.
class TrialLoop::OneTrial : public Hook {
 public:
    explicit OneTrial(ExchangeThread& exchanges) : exchanges_{exchanges} {}

    // Collective. Call before bits are flipped, after `steps_done` steps: new guards examine the state.
    void guard(const GuardPlan& plan, const Guarded& guarded, std::int64_t steps_done)
    {
        begin_ = steps_done;
        guards_.emplace(plan, guarded);
        guards_->after_update();
        // This also copies the state for rollbacks.
        guards_->before_forward(static_cast<std::uint64_t>(steps_done), steps_done);
        compares_ = plan.replicas_every > 0;
        if (plan.guards.empty()) guards_.reset();
    }

    // Sets the stored weights that each later pass reads; null: none.
    void read_each(StoredWeights* stored) { stored_ = stored; }

    // Ends the trial. Returns the steps until a guard of this rank found something; no value if none did.
    std::optional<std::int64_t> end()
    {
        guards_.reset();
        stored_ = nullptr;
        return std::exchange(caught_, std::nullopt);
    }

    // After a rollback the guards check the restored state again.
    void check_state(StepContext& context) override
    {
        while (guards_ && has_gone_back(context.state.taken)) {
            const std::int64_t back = guards_->went_back_to();
            go_back(context, back);
            context.state.taken = back;
            context.state.taken_back = 0;
        }
    }
    void before_passes(StepContext&) override
    {
        if (stored_ != nullptr) stored_->read();
    }
    void after_passes(StepContext&) override
    {
        if (stored_ != nullptr) stored_->put_back();
    }
    void before_update(StepContext& context) override
    {
        if (!guards_) return;
        guards_->before_update(static_cast<std::uint64_t>(context.state.taken));
        note(context.state.taken);
    }
    void after_update(StepContext&) override
    {
        if (guards_) guards_->after_update();
    }

 private:
    bool has_gone_back(std::int64_t steps_done)
    {
        const bool back = guards_->before_forward(static_cast<std::uint64_t>(steps_done), steps_done);
        if (compares_) {
            const ReplicaNews mine = guards_->news();
            std::vector<ReplicaNews> all(static_cast<std::size_t>(exchanges_.size()));
            exchanges_.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all})).get();
            guards_->receive(all);
        }
        note(steps_done);
        return back;
    }

    void note(std::int64_t steps_done)
    {
        if (!caught_ && guards_->has_found()) caught_ = steps_done - begin_;
    }

    ExchangeThread& exchanges_;
    std::optional<Guards> guards_;  // none: the trial has none, or the training is undisturbed
    bool compares_ = false;
    std::int64_t begin_ = 0;
    std::optional<std::int64_t> caught_;
    StoredWeights* stored_ = nullptr;
};

TrialLoop::TrialLoop(TrialParts parts, const std::vector<base::Trial>& trials, const std::filesystem::path& directory)
    : parts_{std::move(parts)},
      model_{parts_.context.model},
      exchanges_{parts_.context.exchanges},
      trials_{trials},
      at_hand_{std::make_shared<OneTrial>(exchanges_)}
{
    parts_.context.hooks.add(at_hand_);
    if (exchanges_.rank() == 0) outcomes_.emplace(directory, trials_, parts_.strategy_name);
}

void TrialLoop::run()
{
    train_undisturbed();
    const std::size_t first = first_to_make();
    for (std::size_t i = first; i < trials_.size() && !stopped_; ++i) {
        parts_.show(static_cast<double>(i) / static_cast<double>(trials_.size()),
                    base::join("trial ", i + 1, " of ", trials_.size()));
        stopped_ = agree_to_stop();
        if (!stopped_) make(trials_[i]);
    }
    moments_.begin()->second.restore(model_);
}

// Trains once without disturbance, from the first step to the last step of any trial. Keeps the state at the first step
// of each trial, and the loss of every step.
void TrialLoop::train_undisturbed()
{
    std::int64_t end = 0;
    for (const base::Trial& trial : trials_) end = std::max(end, trial.step + trial.steps);
    const auto is_moment = [&](std::int64_t step) {
        return std::any_of(trials_.begin(), trials_.end(), [step](const auto& trial) { return trial.step == step; });
    };
    const auto is_end = [&](std::int64_t step) {
        return std::any_of(trials_.begin(), trials_.end(),
                           [step](const auto& trial) { return trial.step + trial.steps == step; });
    };
    const std::int64_t first = parts_.context.state.first;
    go_to(first);
    for (std::int64_t number = first; number <= end; ++number) {
        if (is_moment(number)) moments_[number].keep(model_, number);
        if (is_end(number)) undisturbed_[number] = all_state_checksums();
        if (number == end) break;
        parts_.strategy.step(parts_.context);
        losses_.push_back(model_.loss().value_or(0.0));
    }
}

std::string TrialLoop::all_state_checksums()
{
    std::string all;
    for (const std::string& one : exchanges_.gather(state_checksum(model_)).get()) all += one;
    return all;
}

// Evaluation replaces the ranks' running means by rank 0's, so they are saved and restored here.
std::optional<double> TrialLoop::guess()
{
    std::vector<std::vector<std::byte>> own;
    for (const std::span<std::byte> bytes : model_.statistics()) own.emplace_back(bytes.begin(), bytes.end());
    const std::optional<double> accuracy = parts_.accuracy();
    const std::vector<std::span<std::byte>> statistics = model_.statistics();
    for (std::size_t i = 0; i < own.size(); ++i) std::copy(own[i].begin(), own[i].end(), statistics[i].begin());
    model_.written(statistics);
    return accuracy;
}

std::size_t TrialLoop::first_to_make()
{
    std::uint64_t first = outcomes_ ? outcomes_->ended() : 0;
    exchanges_.broadcast(std::as_writable_bytes(std::span{&first, 1}), 0).get();
    return first;
}

bool TrialLoop::agree_to_stop()
{
    std::byte stop{base::stop_requested()};
    exchanges_.broadcast(std::span{&stop, 1}, 0).get();
    return stop != std::byte{0};
}

std::int64_t TrialLoop::number_of(const base::Trial& trial) const
{
    return &trial - trials_.data() + 1;
}

void TrialLoop::make(const base::Trial& trial)
{
    const std::int64_t begun_ns = base::now_ns();
    if (outcomes_) outcomes_->begin(trial);
    moments_.at(trial.step).restore(model_);
    base::Outcome outcome;
    const OfRank mine = go_on(trial, outcome.accuracies, outcome.accuracy);
    const StateNumbers numbers = numbers_of(model_);
    const nlohmann::ordered_json word{{"path", mine.drawn.path},
                                      {"bits", mine.drawn.bits},
                                      {"index", mine.drawn.index},
                                      {"drawn_from", mine.drawn.drawn_from},
                                      {"first_difference", mine.first_difference},
                                      {"caught", mine.caught.value_or(-1)},
                                      {"flipped", mine.read.flipped},
                                      {"detected", mine.read.detected},
                                      {"loss_is_finite", mine.not_finite_after < 0},
                                      {"state", state_checksum(model_)},
                                      {"largest", numbers.largest},
                                      {"not_finite", numbers.not_finite}};
    const std::vector<std::string> ranks = exchanges_.gather(base::json_text(word, base::one_line)).get();
    if (!outcomes_) return;
    if (trial.steps > 0) outcome.loss = mine.loss;
    outcome.seconds = static_cast<double>(base::now_ns() - begun_ns) / 1e9;
    write(trial, ranks, std::move(outcome));
}

TrialLoop::OfRank TrialLoop::go_on(const base::Trial& trial, std::string& accuracies, std::optional<double>& accuracy)
{
    OfRank mine;
    Guarded guarded = parts_.guarded;
    guarded.trial = number_of(trial);
    at_hand_->guard(parse_trial_guard(trial.guard), guarded, trial.step);
    std::optional<StoredWeights> stored;
    if (alters(trial, exchanges_.rank())) alter(trial, mine, stored);
    StoredWeights* const read_each = trial.reads == base::stored::each && stored ? &*stored : nullptr;
    at_hand_->read_each(read_each);
    if (trial.steps > 0) go_to(trial.step);
    const StepState& state = parts_.context.state;
    std::int64_t looked = -1;
    for (std::int64_t done = 0;;) {
        if (done > std::exchange(looked, std::max(looked, done)) && is_looked_at(done, trial.steps)) {
            accuracy = look(read_each, done == trial.steps);
            if (accuracy) accuracies += (accuracies.empty() ? "" : " ") + look_text(done, *accuracy);
        }
        if (done == trial.steps) break;
        parts_.strategy.step(parts_.context);
        const std::int64_t made = state.taken - 1 - trial.step;  // less than `done` after a rollback
        if (mine.not_finite_after >= made) mine.not_finite_after = -1;
        mine.loss = model_.loss().value_or(0.0);
        if (!std::isfinite(mine.loss) && mine.not_finite_after < 0) mine.not_finite_after = made;
        const double undisturbed = losses_.at(static_cast<std::size_t>(trial.step + made - state.first));
        if (mine.loss != undisturbed && mine.first_difference < 0) mine.first_difference = made;
        done = made + 1;
    }
    mine.caught = at_hand_->end();
    if (stored) mine.read = stored->sum();
    if (stored) mine.drawn.drawn_from = static_cast<double>(mine.read.bits);
    return mine;
}

// Weights read once have the same errors on all ranks; weights read in every step have different errors on each rank.
void TrialLoop::alter(const base::Trial& trial, OfRank& mine, std::optional<StoredWeights>& stored)
{
    if (trial.kind == base::trial_kind::trial) mine.drawn = alter_state(model_, trial);
    if (trial.kind == base::trial_kind::positive) mine.drawn = put_nan(model_);
    if (trial.kind != base::trial_kind::stored) return;
    const bool once = trial.reads == base::stored::once;
    stored.emplace(model_, soft_errors::weight_memory(trial.store, trial.detect, trial.rate), trial.location,
                   trial.seed, once ? 0 : static_cast<std::uint64_t>(exchanges_.rank()));
    if (once) stored->read();
    mine.drawn.path = stored->paths();
}

// After the last evaluation the weights keep their read errors, so that the recorded state is the one that was
// evaluated.
std::optional<double> TrialLoop::look(StoredWeights* stored, bool last)
{
    if (stored != nullptr) stored->read();
    const std::optional<double> accuracy = guess();
    if (stored != nullptr && !last) stored->put_back();
    return accuracy;
}

// Repositions the training so that `step` steps are done.
void TrialLoop::go_to(std::int64_t step)
{
    parts_.context.state = {.first = parts_.context.state.first, .taken = step, .at_once = false};
    parts_.context.input.go_to(step);
}

void TrialLoop::write(const base::Trial& trial, const std::vector<std::string>& ranks, base::Outcome outcome)
{
    outcome.trial = trial.name;
    outcome.kind = trial.kind;
    outcome.strategy = parts_.strategy_name;
    outcome.rank = trial.rank;
    outcome.step = trial.step;
    outcome.guard = trial.guard;
    outcome.steps = trial.steps;
    outcome.checksum = parts_.checksum();
    bool finite = true;
    double largest = 0.0;
    std::int64_t caught = -1;  // -1: not caught
    for (const std::string& text : ranks) {
        const auto word = nlohmann::ordered_json::parse(text);
        if (outcome.path.empty()) {
            outcome.path = word.at("path");
            outcome.bits = word.at("bits");
            outcome.index = word.at("index");
            outcome.drawn_from = word.at("drawn_from");
        }
        finite = finite && word.at("loss_is_finite").get<bool>();
        outcome.state_checksum += word.at("state").get<std::string>();
        largest = std::max(largest, word.at("largest").get<double>());
        outcome.not_finite += word.at("not_finite").get<std::int64_t>();
        if (trial.kind == base::trial_kind::stored) {
            outcome.flipped = outcome.flipped.value_or(0) + word.at("flipped").get<std::int64_t>();
            outcome.detected = outcome.detected.value_or(0) + word.at("detected").get<std::int64_t>();
        }
        const auto until = word.at("caught").get<std::int64_t>();
        if (until >= 0 && (caught < 0 || until < caught)) caught = until;
        const auto first = word.at("first_difference").get<std::int64_t>();
        if (first >= 0 && (!outcome.first_difference || first < *outcome.first_difference))
            outcome.first_difference = first;
    }
    outcome.largest = largest;
    if (caught >= 0) outcome.caught = std::to_string(caught);
    if (!finite) outcome.loss = std::nan("");
    const bool same = outcome.state_checksum == undisturbed_.at(trial.step + trial.steps);
    outcome.what = !finite ? base::outcome_class::collapsed
                   : same  ? base::outcome_class::masked
                           : base::outcome_class::ended;
    outcomes_->end(outcome);
}

}  // namespace ddl
