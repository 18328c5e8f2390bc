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

// Ends a reading before its end.
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

// One of both is there.
std::unique_ptr<StepVisitor> visitor_of(const FoundSteps& steps, const Archive& archive, StepObserver* observer)
{
    return steps.region ? visits_as_steps(archive, *steps.region, observer)
                        : steps_between_visits(archive, *steps.call, observer);
}

ChosenSteps chosen(const FoundSteps& steps, const Archive& archive, StepTable table)
{
    const std::string& name = archive.regions[steps.region ? *steps.region : *steps.call].name;
    if (steps.region) return {name, false, std::move(table), {.region = name, .from = {}}};
    return {name + " to " + name, true, std::move(table), {.region = {}, .from = name}};
}

StepObserver* made(const NewObserver& observer)
{
    return observer ? &observer() : nullptr;
}

ChosenSteps read_as(Reader& reader, const FoundSteps& steps, const NewObserver& observer)
{
    StepObserver* const seeing = made(observer);
    const std::unique_ptr<StepVisitor> visitor = visitor_of(steps, reader.archive(), seeing);
    read_observed(reader, *visitor, seeing);
    return chosen(steps, reader.archive(), visitor->table());
}

// Reads by a guess, and looks in the same reading whether it was right.
std::optional<ChosenSteps> read_as_found(Reader& reader, const NewObserver& observer)
{
    const Archive& archive = reader.archive();
    const FoundSteps guess = guessed_steps(reader);
    FoundSteps found;
    if (guess.region || guess.call) {
        StepObserver* const seeing = made(observer);
        const std::unique_ptr<StepVisitor> visitor = visitor_of(guess, archive, seeing);
        UseOfRegions seen{archive};
        FanOut both{&seen, visitor.get()};
        read_observed(reader, both, seeing);
        found = find_steps(archive, seen);
        if (found == guess) return chosen(guess, archive, visitor->table());
    } else {
        found = find_steps(reader);
    }
    if (!found.region && !found.call) return {};
    return read_as(reader, found, observer);
}

// ", such as MPI_Allreduce": of MPI, or another library.
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
    if (!region.empty() && !from.empty()) base::fail_usage("--step-region and --step-from: one of them");
}

std::optional<ChosenSteps> chosen_steps(Reader& reader, const StepChoice& choice, const NewObserver& observer)
{
    const Archive& archive = reader.archive();
    if (!choice.region.empty()) return read_as(reader, {step_region_named(archive, choice.region), {}}, observer);
    if (!choice.from.empty())
        return read_as(reader, {{}, step_region_named(archive, choice.from, "--step-from")}, observer);
    return read_as_found(reader, observer);
}

std::string how_to_choose_steps(const std::string& anchor, const Archive& archive)
{
    constexpr std::size_t most = 8;
    std::vector<std::string> names;
    for (const Region& region : archive.regions)
        if (could_be_a_step(region)) names.push_back(region.name);
    if (names.empty())
        return base::join(anchor, " has no regions of the program's own: --step-from takes steps from call to call of ",
                          "one that is made once a step", calls_of(archive),
                          "; trace-info shows how often each is made");
    const bool more = names.size() > most;
    if (more) names.resize(most);
    return base::join("no region of ", anchor,
                      " repeats as a step does (trace-steps --help says how that is); --step-region names one: ",
                      base::join_words(names, ", "), more ? ", .." : "");
}

}  // namespace otf2
