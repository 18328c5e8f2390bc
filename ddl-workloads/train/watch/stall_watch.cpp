// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/watch/stall_watch.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <utility>

namespace ddl {

namespace fs = std::filesystem;

namespace {

constexpr base::Nanoseconds grace{2'000'000'000};  // a stall is noticed by all ranks within one polling interval

// Between phases, and between steps, a rank may be in any collective call.
bool waits_for_others(Phase phase)
{
    return phase == Phase::none || phase == Phase::other || base::card_of(phase).time == base::PhaseTime::waits;
}

fs::path word_of(const fs::path& directory, int rank)
{
    return directory / base::join("stalled.", rank, ".json");
}

std::vector<StalledRank> words_in(const fs::path& directory, int ranks)
{
    std::vector<StalledRank> all;
    for (int rank = 0; rank < ranks; ++rank) {
        const fs::path word = word_of(directory, rank);
        if (!fs::exists(word)) continue;
        const auto json = base::read_json(word);
        all.push_back({.rank = rank, .waits = json.at("waits"), .where = json.at("where")});
    }
    return all;
}

}  // namespace

std::string stall_report(const std::vector<StalledRank>& stalled, int ranks, base::Nanoseconds after)
{
    std::vector<std::string> waiting;
    std::vector<std::string> late;
    std::vector<std::string> silent;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto said =
            std::find_if(stalled.begin(), stalled.end(), [rank](const StalledRank& one) { return one.rank == rank; });
        const std::string name = base::join("rank ", rank);
        if (said == stalled.end())
            silent.push_back(name);
        else
            (said->waits ? waiting : late).push_back(base::join(name, " (", said->where, ")"));
    }
    std::string text = base::join("no progress for ", base::format(after));
    const auto add = [&text](const char* what, const std::vector<std::string>& names) {
        if (!names.empty()) text += base::join("; ", what, ": ", base::join_words(names, ", "));
    };
    add("waiting", waiting);
    add("not arrived", late);
    add("silent (stopped, dead or cut off)", silent);
    return text;
}

StallWatch::StallWatch(base::Nanoseconds after, fs::path directory, Instruments& instruments, ExchangeThread& exchanges)
    : after_{after}, directory_{std::move(directory)}, instruments_{instruments}, exchanges_{exchanges}
{
    // When trials are continued, a report file of an earlier start could be mistaken for this rank's report.
    fs::remove(word_of(directory_, exchanges_.rank()));
    instruments_.clock().mark();
    if (after_.count() > 0) thread_ = std::thread{[this] { watch(); }};
}

StallWatch::~StallWatch()
{
    {
        const std::lock_guard lock{mutex_};
        over_ = true;
    }
    over_changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

bool StallWatch::rest(base::Nanoseconds time)
{
    std::unique_lock lock{mutex_};
    return !over_changed_.wait_for(lock, time, [this] { return over_; });
}

void StallWatch::watch()
{
    const base::Nanoseconds look =
        std::clamp(after_ / 10, base::Nanoseconds{20'000'000}, base::Nanoseconds{5'000'000'000});
    for (std::int64_t looked = base::now_ns(); rest(look);) {
        const std::int64_t now = base::now_ns();
        // If this thread also woke up late, the whole process was stopped and has just been continued.
        const bool was_stopped = now - std::exchange(looked, now) > 2 * look.count();
        if (was_stopped) instruments_.clock().mark();
        if (now - instruments_.clock().whereabouts().since_ns < after_.count() || was_stopped) continue;
        try {
            report();
        } catch (const std::exception& error) {
            base::warn("stalled, and could not report it: ", error.what());
            exchanges_.abort(base::exit_failed);
        }
        return;
    }
}

StalledRank StallWatch::myself() const
{
    const auto [phase, step, since_ns] = instruments_.clock().whereabouts();
    std::string where = phase == Phase::none ? "between steps" : base::join(text(phase), " of step ", step);
    where += base::join(" for ", (base::now_ns() - since_ns) / 1'000'000'000, " s");
    if (const auto bucket = instruments_.bucket_being_exchanged())
        where += base::join(", bucket ", *bucket, " being exchanged");
    return {.rank = exchanges_.rank(), .waits = waits_for_others(phase), .where = std::move(where)};
}

void StallWatch::report() const
{
    const StalledRank mine = myself();
    base::write_whole(word_of(directory_, mine.rank),
                      nlohmann::json{{"waits", mine.waits}, {"where", mine.where}}.dump() + "\n");
    base::sleep_until_ns(base::now_ns() + grace.count());
    const std::vector<StalledRank> stalled = words_in(directory_, exchanges_.size());
    if (stalled.empty() || stalled.front().rank != mine.rank) return;  // the first stalled rank reports
    std::cerr << "ddl-train: " + stall_report(stalled, exchanges_.size(), after_) + "\n";
    exchanges_.abort(base::exit_failed);
}

}  // namespace ddl
