// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/streams/stream_replay.hpp"

#include <algorithm>
#include <string>

namespace gpu {

StreamReplay::StreamReplay(const otf2::Archive& archive, replay::DelayReplay& delays)
    : archive_{archive}, delays_{delays}, accelerators_{archive}, launches_{archive, accelerators_}
{
    if (!any()) return;
    waits_attribute_ = archive.find_attribute(base::attribute::waits_for_stream);
    open_.resize(archive.locations.size());
    streams_.resize(archive.locations.size());
    waiting_.resize(archive.processes.size());
    last_caller_.resize(archive.processes.size(), otf2::nowhere);
    find_threads(archive);
}

void StreamReplay::find_threads(const otf2::Archive& archive)
{
    const std::string calls = base::location::gpu_calls;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> by_number;  // by process and thread id
    std::map<std::uint32_t, std::uint32_t> first;                              // by process: its first location
    std::map<std::uint32_t, std::size_t> with_calls;                           // by process: locations with calls
    for (std::uint32_t i = 0; i < archive.locations.size(); ++i) {
        const otf2::Location& location = archive.locations[i];
        thread_of_.push_back(i);
        if (is_stream(i)) continue;
        if (location.name.starts_with(calls)) {
            ++with_calls[location.process];
            continue;
        }
        first.try_emplace(location.process, i);
        const auto number = location.properties.find(base::property::thread);
        if (number != location.properties.end()) by_number.try_emplace({location.process, number->second}, i);
    }
    for (std::uint32_t i = 0; i < archive.locations.size(); ++i) {
        const otf2::Location& location = archive.locations[i];
        if (is_stream(i) || !location.name.starts_with(calls)) continue;
        const auto own = by_number.find({location.process, location.name.substr(calls.size())});
        const auto main = first.find(location.process);
        if (own != by_number.end())
            thread_of_[i] = own->second;
        else if (main != first.end() && with_calls[location.process] == 1)
            thread_of_[i] = main->second;
    }
}

void StreamReplay::begin_work(const otf2::At& at, StreamWork work, const otf2::EventAttributes* attributes)
{
    Stream& stream = streams_[at.location];
    if (stream.running++ > 0 || work == StreamWork::none || !delays_.enabled()) return;
    Launches<PathLaunch>::Pointer launch;
    if (attributes != nullptr) launch = launches_.of(at, work, *attributes);
    start(at, stream.idle_since_ns, launch);
}

void StreamReplay::start(const otf2::At& at, std::int64_t idle_since_ns, const Launches<PathLaunch>::Pointer& launch)
{
    if (!launch) {  // the last caller is the best guess
        const std::uint32_t user = accelerators_.user_of[at.location];
        const std::uint32_t caller = user < last_caller_.size() ? last_caller_[user] : otf2::nowhere;
        if (caller == otf2::nowhere) return;
        joined_ = true;
        return delays_.start_task(at.location, delays_.hand_over(caller), idle_since_ns, otf2::nowhere);
    }
    joined_ = true;
    if (launch->end_ns == INT64_MAX) {  // the kernel begins while its launching call is still open
        delays_.work_until(launch->thread, at.time_ns, launch->where);
        delays_.start_task(at.location, delays_.hand_over(launch->thread), idle_since_ns, otf2::nowhere);
    } else if (launch->end_ns > idle_since_ns && launch->left.location != otf2::nowhere) {
        delays_.start_task(at.location, launch->left, idle_since_ns, otf2::nowhere);
    }
}

void StreamReplay::end_work(const otf2::At& at, StreamWork work)
{
    Stream& stream = streams_[at.location];
    if (stream.running == 0 || --stream.running > 0 || work == StreamWork::none) return;
    stream.idle_since_ns = at.time_ns;
    stream.done_ns = at.time_ns;
    if (work != StreamWork::copy) stream.kernel_done_ns = at.time_ns;
    const std::uint32_t user = accelerators_.user_of[at.location];
    const bool awaited = user < waiting_.size() && waiting_[user] > 0;
    stream.done = awaited && delays_.enabled() ? delays_.hand_over(at.location) : replay::Handoff{};
}

void StreamReplay::begin_call(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes,
                              std::uint32_t thread, std::uint32_t where)
{
    const gpu::Call kind = accelerators_.call_of[region];
    const std::uint32_t user = accelerators_.user_of[at.location];
    if (kind == gpu::Call::none || user >= waiting_.size()) return;
    Call& call =
        open_[at.location].emplace_back(Call{.region = region, .launch = {}, .thread = thread, .begin_ns = at.time_ns});
    last_caller_[user] = thread;
    call.copies = kind == gpu::Call::blocking_copy;
    call.waits = call.copies || kind == gpu::Call::synchronise;
    if (call.waits) {
        call.streams = streams_waited_for(at, attributes);
        ++waiting_[user];
    }
    if (kind == gpu::Call::synchronise) return;
    call.launch = launches_.begin_call(at, region, attributes);
    if (!call.launch || call.launch->begin_ns != at.time_ns) return;
    call.launch->thread = thread;
    call.launch->where = where;
}

std::vector<std::uint32_t> StreamReplay::streams_waited_for(const otf2::At& at,
                                                            const otf2::EventAttributes& attributes) const
{
    const std::uint32_t user = accelerators_.user_of[at.location];
    if (attributes.size() > 0) {
        if (const auto said = launches_.stream_said(attributes)) return {*said};
        const auto number = waits_attribute_ ? attributes.number(*waits_attribute_) : std::nullopt;
        if (number) {
            const auto found = streams_numbered(archive_, accelerators_, user, static_cast<std::int64_t>(*number));
            if (!found.empty()) return found;
        }
    }
    return streams_numbered(archive_, accelerators_, user, -1);
}

std::optional<StreamReplay::Wait> StreamReplay::end_call(const otf2::At& at, std::uint32_t region)
{
    std::vector<Call>& open = open_[at.location];
    const auto found =
        std::find_if(open.rbegin(), open.rend(), [&](const Call& call) { return call.region == region; });
    if (found == open.rend()) return std::nullopt;
    const Call call = std::move(*found);
    for (auto inside = open.rbegin(); inside != found; ++inside)
        if (inside->waits) --waiting_[accelerators_.user_of[at.location]];
    open.erase(std::prev(found.base()), open.end());
    if (call.launch) {
        call.launch->end_ns = at.time_ns;
        if (delays_.enabled()) call.launch->left = delays_.hand_over(call.thread);
    }
    if (!call.waits) return std::nullopt;
    --waiting_[accelerators_.user_of[at.location]];
    std::int64_t until_ns = call.begin_ns;
    for (const std::uint32_t stream : call.streams)
        until_ns = std::max(until_ns, call.copies ? streams_[stream].kernel_done_ns : streams_[stream].done_ns);
    const bool inside_another = std::any_of(open.begin(), open.end(), [](const Call& around) { return around.waits; });
    if (until_ns <= call.begin_ns || inside_another) return std::nullopt;
    return Wait{call.begin_ns, until_ns};
}

bool StreamReplay::end_wait(std::uint32_t location, std::uint32_t thread, std::int64_t now_ns, std::uint32_t where)
{
    if (!delays_.enabled() || open_[location].empty()) return false;
    const Stream* last = nullptr;
    for (Call& call : open_[location]) {
        if (!call.waits) continue;
        for (const std::uint32_t place : call.streams) {
            const Stream& stream = streams_[place];
            if (stream.done_ns <= std::max(call.begin_ns, call.joined_ns) || stream.done.location == otf2::nowhere)
                continue;
            if (last == nullptr || stream.done_ns > last->done_ns) last = &stream;
        }
        if (last != nullptr) call.joined_ns = now_ns;
    }
    if (last == nullptr) return false;
    joined_ = true;
    delays_.join_task(thread, now_ns, where, last->done);
    return true;
}

}  // namespace gpu
