// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/steps/chosen_steps.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/steps/step_region.hpp"
#include "trace-tools/steps/use_of_regions.hpp"

#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace otf2 {

namespace {

constexpr std::uint64_t events_to_guess_from = 20'000;

// Thrown to end a pass over the events early.
class SeenEnough : public std::exception {};

class Limit : public Visitor {
 public:
    void enter(const At&, std::uint32_t, const EventAttributes&) override
    {
        if (++seen_ > events_to_guess_from) throw SeenEnough{};
    }

 private:
    std::uint64_t seen_ = 0;
};

FoundSteps guessed_steps(Reader& reader)
{
    UseOfRegions seen{reader.archive()};
    Limit limit;
    FanOut both{&seen, &limit};
    try {
        reader.read_by_location(both);
    } catch (const SeenEnough&) {
    }
    return find_steps(reader.archive(), seen);
}

// Requires steps.region or steps.call.
std::unique_ptr<StepVisitor> visitor_of(const FoundSteps& steps, int every, const Archive& archive,
                                        StepObserver* observer)
{
    return steps.region ? visits_as_steps(archive, *steps.region, observer)
                        : steps_between_visits(archive, *steps.call, every, observer);
}

// "MPI_Allreduce", "the 5th MPI_Allreduce after it"
std::string name_of_next(const std::string& name, int every)
{
    if (every == 1) return name;
    const char* ending = every % 100 / 10 == 1 ? "th"
                         : every % 10 == 1     ? "st"
                         : every % 10 == 2     ? "nd"
                         : every % 10 == 3     ? "rd"
                                               : "th";
    return base::join("the ", every, ending, " ", name, " after it");
}

ChosenSteps chosen(const FoundSteps& steps, int every, const Archive& archive, StepTable table)
{
    const std::string& name = archive.regions[steps.region ? *steps.region : *steps.call].name;
    if (steps.region && every > 1)
        base::fail_usage("--step-every counts calls, but steps are visits of ", name, ": give --step-from");
    if (steps.region) return {name, false, std::move(table), {.region = name, .from = {}}};
    return {name + " to " + name_of_next(name, every), true, std::move(table), {.from = name, .every = every}};
}

StepObserver* made(const NewObserver& observer)
{
    return observer ? &observer() : nullptr;
}

ChosenSteps read_as(Reader& reader, const FoundSteps& steps, int every, const NewObserver& observer)
{
    StepObserver* const seeing = made(observer);
    const std::unique_ptr<StepVisitor> visitor = visitor_of(steps, every, reader.archive(), seeing);
    read_observed(reader, *visitor, seeing);
    return chosen(steps, every, reader.archive(), visitor->table());
}

// Collects steps by a guess from the first events and checks it in the same pass; makes another pass if it was wrong.
std::optional<ChosenSteps> read_as_found(Reader& reader, int every, const NewObserver& observer)
{
    const Archive& archive = reader.archive();
    const FoundSteps guess = guessed_steps(reader);
    FoundSteps found;
    if (guess.region || guess.call) {
        StepObserver* const seeing = made(observer);
        const std::unique_ptr<StepVisitor> visitor = visitor_of(guess, every, archive, seeing);
        UseOfRegions seen{archive};
        FanOut both{&seen, visitor.get()};
        read_observed(reader, both, seeing);
        found = find_steps(archive, seen);
        if (found == guess) return chosen(guess, every, archive, visitor->table());
    } else {
        found = find_steps(reader);
    }
    if (!found.region && !found.call) return {};
    return read_as(reader, found, every, observer);
}

// ", such as MPI_Allreduce": up to four MPI calls that the archive defines.
std::string calls_of(const Archive& archive)
{
    constexpr std::size_t most = 4;
    std::vector<std::string> names;
    for (const Region& region : archive.regions) {
        const std::string call = mpi_call_name(region);
        if (!call.empty() && !call.starts_with("MPI_Init") && call != "MPI_Finalize" && names.size() < most)
            names.push_back(region.name);
    }
    return names.empty() ? "" : ", such as " + base::join_words(names, ", ");
}

}  // namespace

void StepChoice::check() const
{
    if (!region.empty() && !from.empty()) base::fail_usage("give only one of --step-region and --step-from");
    if (every < 1) base::fail_usage("--step-every must be at least 1");
    if (every > 1 && !region.empty()) base::fail_usage("--step-every needs --step-from");
}

std::optional<ChosenSteps> chosen_steps(Reader& reader, const StepChoice& choice, const NewObserver& observer)
{
    const Archive& archive = reader.archive();
    if (!choice.region.empty())
        return read_as(reader, {step_region_named(archive, choice.region), {}}, choice.every, observer);
    if (!choice.from.empty())
        return read_as(reader, {{}, step_region_named(archive, choice.from, "--step-from")}, choice.every, observer);
    return read_as_found(reader, choice.every, observer);
}

std::string how_to_choose_steps(const Archive& archive)
{
    constexpr std::size_t most = 8;
    std::vector<std::string> names;
    for (const Region& region : archive.regions)
        if (could_be_a_step(region)) names.push_back(region.name);
    if (names.empty())
        return base::join("no call repeats on all ranks; give one with --step-from", calls_of(archive),
                          " (trace-info counts them)");
    const bool more = names.size() > most;
    if (more) names.resize(most);
    return base::join("no region repeats like a step (see trace-steps --help); give one with --step-region: ",
                      base::join_words(names, ", "), more ? ", .." : "");
}

}  // namespace otf2
