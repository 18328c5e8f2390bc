#include "trace-tools/steps/chosen_steps.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "trace-tools/steps/step_region.hpp"

#include <vector>

namespace otf2 {

namespace {

ChosenSteps visits_of(Reader& reader, std::uint32_t region, StepObserver* observer)
{
    const std::string& name = reader.archive().regions[region].name;
    return {name, false, read_steps(reader, region, observer), {.region = name, .from = {}}};
}

ChosenSteps between_visits_of(Reader& reader, std::uint32_t region, StepObserver* observer)
{
    const std::string& call = reader.archive().regions[region].name;
    return {call + " to " + call, true, read_steps_between(reader, region, observer), {.region = {}, .from = call}};
}

// ", such as MPI_Allreduce": of MPI, or another library.
std::string calls_of(const Archive& archive)
{
    constexpr std::size_t most = 4;
    std::vector<std::string> names;
    for (const Region& region : archive.regions)
        if (region.paradigm == Paradigm::mpi && !region.name.starts_with("MPI_Init") && region.name != "MPI_Finalize" &&
            names.size() < most)
            names.push_back(region.name);
    return names.empty() ? "" : ", such as " + base::join_words(names, ", ");
}

}  // namespace

void StepChoice::check() const
{
    if (!region.empty() && !from.empty()) base::fail_usage("--step-region and --step-from: one of them");
}

std::optional<ChosenSteps> chosen_steps(Reader& reader, const StepChoice& choice, StepObserver* observer)
{
    const Archive& archive = reader.archive();
    if (!choice.region.empty()) return visits_of(reader, step_region_named(archive, choice.region), observer);
    if (!choice.from.empty())
        return between_visits_of(reader, step_region_named(archive, choice.from, "--step-from"), observer);
    const FoundSteps found = find_steps(reader);
    if (found.region) return visits_of(reader, *found.region, observer);
    if (found.call) return between_visits_of(reader, *found.call, observer);
    return {};
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
