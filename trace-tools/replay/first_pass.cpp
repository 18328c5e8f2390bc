// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/first_pass.hpp"

#include "base/words.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/steps/use_of_regions.hpp"

#include <algorithm>
#include <deque>
#include <iostream>
#include <utility>

namespace replay {

namespace {

// The visitor of one reading thread. It calls its parts directly, not virtually, since there are many events.
class Look final : public otf2::EachEvent<Look> {
 public:
    Look(const otf2::Archive& archive, const FirstPass::Options& options) : soundness{archive}
    {
        if (options.steps) use.emplace(archive);
        if (starts_or_receives(archive, options.blocking_receives)) starts.emplace(archive, options.blocking_receives);
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        soundness.enter(at, region, attributes);
        if (use) use->enter(at, region, attributes);
        if (starts) starts->enter(at, region, attributes);
    }
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        soundness.leave(at, region, attributes);
        if (use) use->leave(at, region, attributes);
        if (starts) starts->leave(at, region, attributes);
    }
    void metric(const otf2::At& at, std::uint32_t metric, const otf2::MetricValue& value) override
    {
        soundness.metric(at, metric, value);
        if (use) use->metric(at, metric, value);
    }
    void collective_begin(const otf2::At& at) override
    {
        soundness.event(at);
        if (starts) starts->collective_begin(at);
    }
    void collective_end(const otf2::At& at, const otf2::CollectiveRecord& record) override
    {
        soundness.event(at);
        if (starts) starts->collective_end(at, record);
    }
    void collective_request(const otf2::At& at, std::uint64_t request) override
    {
        soundness.event(at);
        if (starts) starts->collective_request(at, request);
    }
    void collective_complete(const otf2::At& at, const otf2::CollectiveRecord& record) override
    {
        soundness.event(at);
        if (starts) starts->collective_complete(at, record);
    }
    void receive_request(const otf2::At& at, std::uint64_t request) override
    {
        soundness.event(at);
        if (starts) starts->receive_request(at, request);
    }
    void receive(const otf2::At& at, const otf2::MessageRecord& message) override
    {
        soundness.event(at);
        if (starts) starts->receive(at, message);
    }
    void event(const otf2::At& at) { soundness.event(at); }
    void other(const otf2::At& at) override
    {
        soundness.event(at);
        if (use) use->other(at);
    }

    otf2::Soundness soundness;
    std::optional<otf2::UseOfRegions> use;
    std::optional<StartCollector> starts;
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
    for (Look& look : looks) visitors.push_back(&look);
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
    events_->read(visitor, threads_ > 2);  // with only two threads, the other one analyses delays as well
}

std::vector<std::string> FirstPass::oddities() const
{
    std::vector<std::string> all = soundness_->oddities();
    for (const std::string& one : reader_.oddities()) all.push_back(one);
    return all;
}

void replay_archive(FirstPass& first, MpiReplay& replay, const char* program, otf2::Visitor* beside)
{
    if (beside == nullptr) {
        first.replay(replay);
    } else {
        otf2::FanOut both{beside, &replay};
        first.replay(both);
    }
    replay.finish();
    for (const std::vector<std::string>& list : {first.oddities(), replay.problems()})
        for (const std::string& one : list) std::cerr << program << ": " << base::printable(one) << '\n';
}

}  // namespace replay
