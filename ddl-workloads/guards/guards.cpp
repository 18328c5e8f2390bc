// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/guards.hpp"

#include "base/contract/soft_error_tables.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "ddl-workloads/guards/repair.hpp"
#include "ddl-workloads/models/gradient_model.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace ddl {

namespace {

namespace tables = base::soft_errors;

// Appends if an earlier trial of this process has made the file.
base::CsvWriter::Appear how(const std::filesystem::path& file)
{
    return std::filesystem::exists(file) ? base::CsvWriter::Appear::more_rows : base::CsvWriter::Appear::rows;
}

std::vector<std::string> paths(const std::vector<StateTensor>& tensors)
{
    std::vector<std::string> all;
    for (const StateTensor& tensor : tensors) all.push_back(tensor.path);
    return all;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------ construction

Guards::Guards(const GuardPlan& plan, const Guarded& guarded)
    : plan_{plan}, guarded_{guarded}, rank_{guarded.exchanges.rank()}
{
    otf2::Recorder& recorder = guarded_.recorder;
    const auto region = [&](const std::string& name) {
        return recorder.in_group(base::region_group::guards, recorder.region(name));
    };
    if (!plan_.guards.empty() || plan_.replicas_every > 0) {
        state_names_ = paths(StateLook{guarded_.model}.tensors());
        if (state_names_.empty()) base::fail_usage("--guard: the model has no state to check");
    }
    for (const base::PlugInText& one : plan_.guards) {
        const GuardCard& card = guard_registry().find(one.name);
        watches_.push_back({.card = &card,
                            .guard = card.make(guard_registry().settings(card, one.options)),
                            .region = region(base::region::guard + card.name)});
    }
    if (plan_.acts_at_once()) {
        repairing_ = region(base::region::repair);
        going_back_ = region(base::region::rollback);
    }
    if (!plan_.guards.empty()) {
        const std::filesystem::path file = guarded_.directory / tables::guards;
        if (rank_ == 0) rows_.emplace(file, tables::guard_columns, how(file));
        guarded_.exchanges.barrier().get();
        if (rank_ != 0) rows_.emplace(file, tables::guard_columns, base::CsvWriter::Appear::more_rows);
    }
    if (plan_.replicas_every == 0) return;
    comparison_.emplace(guarded_.exchanges, plan_.replicas_every);
    comparing_ = region(base::region::guard + std::string{"replicas"});
    replicas_differ_ =
        recorder.metric(base::metric::replicas_differ, "tensors", otf2::Type::uint64, otf2::MetricMode::absolute_point,
                        "tensors of this rank that differ from the majority of ranks");
    const std::filesystem::path file = guarded_.directory / tables::divergence;
    if (rank_ == 0) divergence_.emplace(file, tables::divergence_columns, how(file));
}

// ------------------------------------------------------------------------------------------------------------ checks

bool Guards::before_forward(std::uint64_t step, std::int64_t steps_done)
{
    const bool compares = comparison_ && comparison_->due(step);
    const auto is_of_state = [](const Watch& watch) { return watch.card->looks_at == LooksAt::state; };
    if (!compares && !plan_.acts_at_once() && std::none_of(watches_.begin(), watches_.end(), is_of_state)) return false;
    StateLook look{guarded_.model};
    for (std::size_t i = 0; i < watches_.size(); ++i) {
        if (watches_[i].card->looks_at != LooksAt::state) continue;
        const otf2::Scope scope{guarded_.location, watches_[i].region};
        note_mine(i, step, watches_[i].guard->before_forward(look), state_names_);
    }
    if (compares) {
        const otf2::Scope scope{guarded_.location, comparing_};
        news_ = comparison_->look(step, look);
    }
    if (plan_.acts_at_once() && !stops_) return act(look, steps_done);
    if (plan_.reaction == Reaction::stop && !caught_.empty()) stops_ = true;
    settle(plan_.reaction == Reaction::report ? "reported" : "stopped");
    return false;
}

void Guards::before_update(std::uint64_t step)
{
    if (!look_at_gradients()) return;
    const std::vector<std::span<float>> gradients = gradients_of(guarded_.model).gradients();
    for (std::size_t i = 0; i < watches_.size(); ++i) {
        if (watches_[i].card->looks_at != LooksAt::gradients) continue;
        const otf2::Scope scope{guarded_.location, watches_[i].region};
        std::vector<Finding> found = watches_[i].guard->before_update(gradients);
        const bool repaired =
            !found.empty() && plan_.reaction == Reaction::repair && watches_[i].guard->repair_gradients(gradients);
        note_mine(i, step, std::move(found), gradient_names(gradients.size()));
        if (!repaired) continue;
        ++repaired_;
        settle("clipped");
    }
    if (plan_.reaction == Reaction::stop && !caught_.empty()) stops_ = true;
    if (!plan_.acts_at_once()) settle(plan_.reaction == Reaction::report ? "reported" : "stopped");
}

void Guards::after_update()
{
    std::optional<StateLook> look;
    for (const Watch& watch : watches_) {
        if (!watch.guard->remembers_update()) continue;
        const otf2::Scope scope{guarded_.location, watch.region};
        if (!look) look.emplace(guarded_.model);
        watch.guard->after_update(*look);
    }
}

bool Guards::look_at_gradients() const
{
    return std::any_of(watches_.begin(), watches_.end(),
                       [](const Watch& watch) { return watch.card->looks_at == LooksAt::gradients; });
}

// ---------------------------------------------------------------------------------------------------------- findings

// Takes the reports of all ranks. Reactions that must not wait are made in act() instead.
void Guards::receive(std::span<const ReplicaNews> all)
{
    if (!comparison_ || plan_.acts_at_once()) return;
    const std::optional<std::vector<Difference>> found = comparison_->receive(all);
    if (!found) return;
    if (note_differences(*found) && plan_.reaction == Reaction::stop) stops_ = true;
    settle(plan_.reaction == Reaction::report ? "reported" : "stopped");
}

// Returns true if the guard `replicas` is on and found a difference.
bool Guards::note_differences(const std::vector<Difference>& found)
{
    std::set<std::pair<int, std::size_t>> apart;
    std::int64_t mine = 0;
    std::vector<std::pair<int, Finding>> of_guard;
    for (const Difference& one : found) {
        apart.emplace(one.rank, one.tensor);
        if (one.rank == rank_ || one.rank < 0) ++mine;
        const std::string who = one.rank < 0 ? "ranks differ, no majority" : "differs from the majority of ranks";
        of_guard.push_back({one.rank, {one.tensor, who}});
        if (!divergence_ || apart_.contains({one.rank, one.tensor})) continue;
        divergence_->row(guarded_.trial, one.step, one.rank < 0 ? "" : std::to_string(one.rank), one.bucket,
                         state_names_.at(one.tensor));
    }
    guarded_.location.metric(replicas_differ_, mine);
    if (!found.empty()) {
        ++differing_;
        if (!first_differing_) first_differing_ = found.front().step;
        if (rank_ == 0 && apart_.empty())
            base::warn("step ", found.front().step, ": ranks differ in ", state_names_.at(found.front().tensor),
                       found.front().rank < 0
                           ? base::join("; there is no majority among ", guarded_.exchanges.size(),
                                        " ranks, so no rank is named")
                           : base::join(": rank ", found.front().rank, " differs from the majority"));
    }
    apart_ = std::move(apart);
    for (std::size_t i = 0; i < watches_.size(); ++i)
        if (watches_[i].card->looks_at == LooksAt::ranks) {
            note(i, found.empty() ? 0 : found.front().step, of_guard, state_names_);
            return !found.empty();
        }
    return false;
}

void Guards::note_mine(std::size_t watch, std::uint64_t step, std::vector<Finding> found,
                       const std::vector<std::string>& names)
{
    std::vector<std::pair<int, Finding>> mine;
    for (Finding& one : found) mine.emplace_back(rank_, std::move(one));
    note(watch, step, mine, names);
}

void Guards::note(std::size_t watch, std::uint64_t step, const std::vector<std::pair<int, Finding>>& found,
                  const std::vector<std::string>& names)
{
    std::set<std::pair<int, std::size_t>> now;
    for (const auto& [rank, finding] : found) {
        now.emplace(rank, finding.tensor);
        caught_.push_back({.step = step,
                           .rank = rank,
                           .watch = watch,
                           .finding = finding,
                           .tensor = names.at(finding.tensor),
                           .begins = !watches_[watch].last.contains({rank, finding.tensor})});
    }
    watches_[watch].last = std::move(now);
}

// Each rank writes its own findings; rank 0 writes those from the comparison of ranks.
void Guards::settle(const std::string& done)
{
    for (const Caught& one : caught_) {
        Watch& watch = watches_[one.watch];
        if (!one.begins || (watch.card->looks_at == LooksAt::ranks && rank_ != 0)) continue;
        const std::string& outcome = one.done.empty() ? done : one.done;
        if (watch.caught++ == 0)
            base::warn("step ", one.step, ": guard ", watch.card->name, ": ", one.tensor, ": ", one.finding.what, ": ",
                       outcome);
        rows_->row(guarded_.trial, one.step, one.rank < 0 ? "" : std::to_string(one.rank), watch.card->name, one.tensor,
                   one.finding.what, outcome);
    }
    caught_.clear();
}

std::vector<std::string> Guards::gradient_names(std::size_t count) const
{
    std::vector<std::string> names = gradients_of(guarded_.model).gradient_names();
    if (names.size() != count) names.assign(count, "of this rank's shard");
    for (std::string& name : names) name.insert(0, "mean/");
    return names;
}

// ----------------------------------------------------------------------------------------------- immediate reactions

bool Guards::act(StateLook& look, std::int64_t steps_done)
{
    struct Report {
        std::int64_t caught = 0;
        ReplicaNews replicas;
    };
    const Report mine{static_cast<std::int64_t>(caught_.size()), news_};
    std::vector<Report> all(static_cast<std::size_t>(guarded_.exchanges.size()));
    guarded_.exchanges.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all})).get();

    bool alarm = std::any_of(all.begin(), all.end(), [](const Report& one) { return one.caught > 0; });
    if (comparison_) {
        std::vector<ReplicaNews> news;
        for (const Report& one : all) news.push_back(one.replicas);
        if (const auto found = comparison_->receive(news)) alarm = note_differences(*found) || alarm;
    }
    if (alarm && plan_.reaction == Reaction::rollback) return roll_back(steps_done);
    if (alarm) repair(look);
    if (plan_.reaction == Reaction::rollback && (!copy_.steps_done() || steps_done % plan_.copy_every == 0))
        copy_.keep(guarded_.model, steps_done);
    return false;
}

void Guards::repair(StateLook& look)
{
    const otf2::Scope scope{guarded_.location, repairing_};
    std::set<std::size_t> suspects;
    for (const Caught& one : caught_)
        if (watches_[one.watch].card->looks_at == LooksAt::state) suspects.insert(one.finding.tensor);
    const Repaired repaired = repair_from_ranks(look, suspects, plan_.compares_ranks(), guarded_.exchanges);
    repaired_ += repaired.changed;
    std::set<std::size_t> clipped;
    for (Caught& one : caught_) {
        const auto from = repaired.from.find(one.finding.tensor);
        if (from != repaired.from.end() && from->second) {
            one.done = base::join("copied from rank ", *from->second);
        } else if (watches_[one.watch].guard->repair_state(look.tensors()[one.finding.tensor], one.finding)) {
            one.done = "clipped";
            clipped.insert(one.finding.tensor);
        }
    }
    repaired_ += static_cast<std::int64_t>(clipped.size());
    guarded_.model.restored();
    settle("not repaired");
}

bool Guards::roll_back(std::int64_t steps_done)
{
    const bool in_vain = !copy_.steps_done() || steps_done <= caught_at_;
    caught_at_ = std::max(caught_at_, steps_done);
    if (in_vain) {
        stops_ = true;
        settle(copy_.steps_done() ? "stopped: found again after a rollback" : "stopped: no sound copy to go back to");
        return false;
    }
    const otf2::Scope scope{guarded_.location, going_back_};
    copy_.restore(guarded_.model);
    ++rollbacks_;
    settle(base::join("rolled back to ", *copy_.steps_done(), " steps done"));
    return true;
}

// --------------------------------------------------------------------------------------------------------- reporting

bool Guards::has_found() const
{
    return !caught_.empty() ||
           std::any_of(watches_.begin(), watches_.end(), [](const Watch& watch) { return watch.caught > 0; });
}

nlohmann::ordered_json Guards::summary() const
{
    if (watches_.empty()) return nullptr;
    nlohmann::ordered_json json;
    for (const Watch& watch : watches_) json["caught"][watch.card->name] = watch.caught;
    json["repaired"] = repaired_;
    json["rollbacks"] = rollbacks_;
    json["stopped"] = stops_;
    return json;
}

nlohmann::ordered_json Guards::replicas() const
{
    if (!comparison_) return nullptr;
    return {{"every", plan_.replicas_every},
            {"compared", comparison_->compared()},
            {"differing", differing_},
            {"first_step", first_differing_ ? nlohmann::ordered_json(*first_differing_) : nullptr}};
}

}  // namespace ddl
