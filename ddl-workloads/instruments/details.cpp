// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/details.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace ddl {

namespace {

const std::vector<std::string>& level_names()
{
    static const std::vector<std::string> names{"L0", "L1", "L2", "L3"};
    return names;
}

// Finds regions by name. Most names are constants and are found by their address; but some are temporaries, so the text
// at an address may have changed and is compared.
class RegionsByName {
 public:
    otf2::RegionRef find(otf2::Recorder& recorder, const char* name)
    {
        Slot& slot = slots_[std::hash<const char*>{}(name) / alignof(void*) % slots_.size()];
        if (slot.place == name && std::strcmp(slot.known->first.c_str(), name) == 0) return slot.known->second;
        auto known = regions_.find(std::string_view{name});
        if (known == regions_.end()) known = regions_.emplace(name, recorder.region(name)).first;
        slot = {name, &*known};
        return known->second;
    }

 private:
    using Regions = std::map<std::string, otf2::RegionRef, std::less<>>;
    struct Slot {
        const char* place = nullptr;
        const Regions::value_type* known = nullptr;
    };
    Regions regions_;
    std::array<Slot, 4096> slots_{};
};

std::string name_of_this_thread()
{
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    const std::string text{name.data()};
    const std::string of_autograd = "pt_autograd_";  // LibTorch's threads for backward, one for each device
    return text.starts_with(of_autograd) ? "autograd " + text.substr(of_autograd.size()) : "operators of " + text;
}

// Records the thread's kernel id, by which GPU calls of the thread are identified.
otf2::Recorder::Placement with_its_number()
{
    return {.kind = otf2::LocationKind::cpu_thread,
            .accelerator = {},
            .properties = {{base::property::thread, std::to_string(::gettid())}}};
}

}  // namespace

DetailLevel parse_detail_level(const std::string& text)
{
    for (std::size_t i = 0; i < level_names().size(); ++i)
        if (level_names()[i] == text) return static_cast<DetailLevel>(i);
    base::fail_usage("'", text, "' is not L0, L1, L2 or L3", base::did_you_mean(text, level_names()));
}

std::string text(DetailLevel level)
{
    return level_names()[static_cast<std::size_t>(level)];
}

TraceSteps parse_trace_steps(const std::string& text)
{
    if (text.empty()) return {};
    const std::vector<std::string> words = base::split(text, ':');
    if (words.size() != 2 && words.size() != 3)
        base::fail_usage("--trace-steps ", text, ": give FIRST:END or FIRST:END:EVERY, such as 100:200:10");
    TraceSteps steps{.first = base::parse<std::uint64_t>(words[0]), .end = base::parse<std::uint64_t>(words[1])};
    if (words.size() == 3) steps.every = base::parse<std::uint64_t>(words[2]);
    if (steps.end <= steps.first) base::fail_usage("--trace-steps ", text, ": END must be greater than FIRST");
    if (steps.every < 1) base::fail_usage("--trace-steps ", text, ": EVERY must be at least 1");
    return steps;
}

struct Details::OfThread {
    struct Open {
        otf2::RegionRef region;
        std::int64_t sequence = no_sequence;
        bool recorded = false;
        bool operation = false;
        bool numbered = false;  // gpu_->enter() was called for this region
    };

    std::uint64_t owner = 0;  // number of the Details object that this data belongs to
    otf2::LocationRecorder* location = nullptr;
    RegionsByName regions;
    std::vector<Open> open;
    int operations = 0;  // number of open operators
};

Details::Details(otf2::Recorder& recorder, otf2::LocationRecorder& main, DetailLevel level, const TraceSteps& steps,
                 gpu::GpuRecording* gpu)
    : recorder_{recorder},
      main_{main},
      gpu_{gpu},
      sequence_{recorder.attribute(
          "seq", otf2::Type::uint64,
          "pairs an operator of forward with the node of backward that it created in the same step")},
      external_id_{
          recorder.attribute(base::attribute::external_id, otf2::Type::int64, "joins an operator and its kernels")},
      level_{level},
      steps_{steps},
      main_thread_{std::this_thread::get_id()}
{
    static std::atomic<std::uint64_t> made = 0;
    number_ = ++made;
}

Details::OfThread& Details::here()
{
    thread_local std::unique_ptr<OfThread> mine;
    if (!mine || mine->owner != number_) {
        mine = std::make_unique<OfThread>();
        mine->owner = number_;
        mine->location = std::this_thread::get_id() == main_thread_
                             ? &main_
                             : &recorder_.location(name_of_this_thread(), with_its_number());
    }
    return *mine;
}

void Details::enter(Kind kind, const char* name, std::int64_t sequence)
{
    OfThread& mine = here();
    OfThread::Open opened{.region = {}, .sequence = sequence, .operation = kind == Kind::operation};
    opened.recorded = kind == Kind::module || level_ == DetailLevel::L3 || mine.operations == 0;
    if (opened.recorded) {
        opened.region = mine.regions.find(recorder_, name);
        const bool shown = !mine.open.empty() && mine.open.back().sequence == sequence;
        const bool paired = sequence >= 0 && !shown;
        opened.numbered = gpu_ != nullptr;
        const std::array both{otf2::AttributeValue{sequence_, paired ? in_step(sequence) : 0},
                              otf2::AttributeValue{external_id_, opened.numbered ? gpu_->enter() : 0}};
        const std::span attributes =
            std::span{both}.subspan(paired ? 0 : 1, (paired ? 1 : 0) + (opened.numbered ? 1 : 0));
        mine.location->enter_with(opened.region, base::now_ns(), attributes);
    }
    if (opened.operation) ++mine.operations;
    mine.open.push_back(opened);
}

void Details::enter_unseen()
{
    here().open.emplace_back();
}

void Details::leave()
{
    OfThread& mine = here();
    if (mine.open.empty()) return;  // the region was entered before recording began
    const OfThread::Open closed = mine.open.back();
    mine.open.pop_back();
    if (closed.operation) --mine.operations;
    if (closed.numbered) gpu_->leave();
    if (closed.recorded) mine.location->leave(closed.region);
}

// The first sequence number seen in a step becomes 0. Any thread may set it, as no part of backward runs before forward
// has begun.
std::int64_t Details::in_step(std::int64_t sequence)
{
    std::int64_t first = first_sequence_;
    if (first == no_sequence && first_sequence_.compare_exchange_strong(first, sequence)) first = sequence;
    return sequence - first;
}

void Details::begin_step(std::uint64_t step)
{
    first_sequence_ = no_sequence;
    turn(level_ != DetailLevel::L0 && steps_.contains(step));
}

void Details::end_step()
{
    turn(false);
}

void Details::end_phase(std::int64_t at_ns)
{
    if (!on_) return;
    OfThread& mine = here();
    for (auto open = mine.open.rbegin(); open != mine.open.rend(); ++open) {
        if (open->recorded) mine.location->leave(open->region, at_ns);
        open->recorded = false;
    }
}

void Details::turn(bool on)
{
    if (on == on_) return;
    on_ = on;
    if (listener_) listener_(on);
}

}  // namespace ddl
