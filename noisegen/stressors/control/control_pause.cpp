// SPDX-License-Identifier: Apache-2.0
// Stops all processes of the training on this node for known times: a positive control that works without the
// training's cooperation.
#include "base/contract/control_file.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/local_rank.hpp"
#include "base/system/processes.hpp"
#include "noisegen/stressors/control/process_stopper.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace noisegen {

namespace {

// A slot is divided into equal parts of about length `every`, with a pause in the middle of each, at the same times on
// all nodes.
struct Rhythm {
    base::Nanoseconds stop{4'000'000};
    base::Nanoseconds every{100'000'000};
};

Rhythm rhythm(const base::Settings& settings)
{
    constexpr base::Nanoseconds shortest{100'000};
    constexpr base::Nanoseconds longest{50'000'000};  // noise must be able to end within a tenth of a second
    const Rhythm rhythm{settings.get<base::Nanoseconds>("stop"), settings.get<base::Nanoseconds>("every")};
    if (rhythm.stop < shortest || rhythm.stop > longest)
        base::fail_usage("control.pause[stop=", settings.text("stop"), "] is not between 100us and 50ms");
    if (rhythm.every < 2 * rhythm.stop)
        base::fail_usage("control.pause[every=", settings.text("every"), "] is less than twice stop");
    return rhythm;
}

class ControlPause final : public Stressor {
 public:
    ControlPause(const Rhythm& rhythm, const Place& place) : rhythm_{rhythm}
    {
        if (!leads_) return;
        named_ = base::processes(place.victims);
        if (!place.victims.empty()) stopper_.choose({}, named_);  // throws now if a process must not be stopped
        if (place.victims.empty()) control_.emplace(base::ControlFile::open(place.control_run, base::host_name()));
    }

    void begin(const Turn& turn) override
    {
        if (leads_ && control_) stopper_.choose(base::training_processes(control_->page()));
        if (leads_ && !control_) stopper_.choose({}, named_);
        most_ = std::max(most_, stopper_.count());
        const std::int64_t length = turn.deadline_ns - turn.begin_ns;
        const std::int64_t parts = std::max<std::int64_t>(1, length / rhythm_.every.count());
        every_ns_ = length / parts;
        next_ns_ = turn.begin_ns + (every_ns_ - rhythm_.stop.count()) / 2;
        deadline_ns_ = turn.deadline_ns;
    }

    Work step() override
    {
        const std::int64_t now = base::now_ns();
        while (next_ns_ < now - every_ns_ / 4) next_ns_ += every_ns_;  // skips pauses missed before a late start
        if (now < next_ns_) return {.rest_until_ns = next_ns_};
        next_ns_ += every_ns_;
        if (stopper_.count() == 0 || now + rhythm_.stop.count() > deadline_ns_) return {.rest_until_ns = next_ns_};
        const ProcessStopper::Pause pause = stopper_.pause(rhythm_.stop.count());
        missed_ += pause.all_stopped ? 0 : 1;
        return {.operations = 1,
                .rest_until_ns = next_ns_,
                .stopped_from_ns = pause.begin_ns,
                .stopped_until_ns = pause.end_ns};
    }

    std::string note() const override
    {
        if (!leads_) return "done by the first noise process of the host";
        if (most_ == 0)
            return control_ ? "stopped no process: none in the control file (give --victim)"
                            : "stopped no process: --victim has ended";
        return base::join("stopped ", most_, most_ == 1 ? " process" : " processes",
                          missed_ > 0 ? base::join(", not all of them in ", missed_, " pauses") : "");
    }

 private:
    Rhythm rhythm_;
    bool leads_ = base::local_rank().rank == 0;  // one process per host does the pausing
    std::map<pid_t, base::Process> named_;       // processes of --victim
    std::optional<base::ControlFile> control_;   // used if no victims are named
    ProcessStopper stopper_;
    std::int64_t every_ns_ = 0;
    std::int64_t next_ns_ = 0;
    std::int64_t deadline_ns_ = 0;
    std::size_t most_ = 0;
    std::int64_t missed_ = 0;
};

}  // namespace

extern const StressorCard control_pause{
    .name = "control.pause",
    .summary =
        "positive control without the training's cooperation: stops its processes (SIGSTOP) for known times; on "
        "GPUs, whose queues keep running, use control.delay; an operation is a pause",
    .role = base::Role::pause,
    .options = {{"stop", "4ms", "length of a pause"}, {"every", "100ms", "approximate time between pauses"}},
    .cpus = StressorCard::Cpus::none,
    .acts_on_the_job = true,
    .needs = [](const base::Settings& settings) -> Needs {
        rhythm(settings);
        return {};
    },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<ControlPause>(rhythm(settings), place);
    },
};

}  // namespace noisegen
