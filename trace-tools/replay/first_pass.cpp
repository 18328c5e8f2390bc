#include "trace-tools/replay/first_pass.hpp"

#include "base/words.hpp"
#include "trace-tools/otf2/aside/handover.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/steps/use_of_regions.hpp"

#include <algorithm>
#include <deque>
#include <iostream>
#include <utility>

namespace replay {

namespace {

// Of a thread, at the locations that it reads.
struct Look {
    Look(const otf2::Archive& archive, const FirstPass::Options& options) : soundness{archive}, all{&soundness}
    {
        if (options.steps) all.add(use.emplace(archive));
        if (starts_or_receives(archive, options.blocking_receives))
            all.add(starts.emplace(archive, options.blocking_receives));
    }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    otf2::Soundness soundness;
    std::optional<otf2::UseOfRegions> use;
    std::optional<StartCollector> starts;
    otf2::FanOut all;
};

std::deque<Look> looks_of(const otf2::Archive& archive, const FirstPass::Options& options)
{
    const auto threads = std::min<std::size_t>(static_cast<std::size_t>(options.threads), archive.locations.size());
    std::deque<Look> looks;
    do looks.emplace_back(archive, options);
    while (looks.size() < threads);
    return looks;
}

}  // namespace

FirstPass::FirstPass(otf2::Reader& reader, const Options& options) : reader_{reader}, threads_{options.threads}
{
    std::deque<Look> looks = looks_of(reader.archive(), options);
    std::vector<otf2::Visitor*> visitors;
    for (Look& look : looks) visitors.push_back(&look.all);
    events_.emplace(reader, visitors);
    for (; looks.size() > 1; looks.pop_back()) {
        Look& first = looks.front();
        first.soundness.add(looks.back().soundness);
        if (first.use) first.use->add(*looks.back().use);
        if (first.starts) first.starts->add(looks.back().starts->take());
    }
    Look& all = looks.front();
    otf2::refuse_unsound(reader, all.soundness);
    soundness_.emplace(std::move(all.soundness));
    if (all.use) steps_ = otf2::find_steps(reader.archive(), *all.use);
    if (all.starts) started_ = all.starts->take();
}

void FirstPass::replay(otf2::Visitor& visitor)
{
    if (threads_ < 2) return events_->read(visitor);
    otf2::Handover handover{reader_, visitor};
    events_->read(handover);
    handover.finish();
}

std::vector<std::string> FirstPass::oddities() const
{
    std::vector<std::string> all = soundness_->oddities();
    for (const std::string& one : reader_.oddities()) all.push_back(one);
    return all;
}

void replay_archive(FirstPass& first, MpiReplay& replay, const char* program)
{
    first.replay(replay);
    replay.finish();
    for (const std::vector<std::string>& list : {first.oddities(), replay.problems()})
        for (const std::string& one : list) std::cerr << program << ": " << base::printable(one) << '\n';
}

}  // namespace replay
