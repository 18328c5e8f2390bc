// SPDX-License-Identifier: Apache-2.0
// Confines the job to fewer cores in its slots, and runs a neighbour on the freed cores: measures how many cores the
// job needs.
#include "base/contract/job_cores.hpp"

#include "base/contract/control_file.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/local_rank.hpp"
#include "noisegen/stressors/guardian.hpp"
#include "noisegen/stressors/job/confinement_guardian.hpp"
#include "noisegen/stressors/registry.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <unistd.h>

namespace noisegen {

namespace {

namespace contract = base::job_cores;

// The stressor that runs on the freed cores.
struct Neighbour {
    const StressorCard* card = nullptr;
    base::Settings settings;
};

std::optional<Neighbour> neighbour_of(const base::Settings& settings)
{
    const std::string name = settings.text(contract::neighbour);
    if (name == contract::no_neighbour) return {};
    const bool is_file = name.find('/') != std::string::npos;
    const StressorCard& card = stressors().find(is_file ? "job.run" : name);
    if (card.role != base::Role::treatment || card.cpus != StressorCard::Cpus::own || card.acts_on_the_job)
        base::fail_usage("job.cores[neighbour=", name, "] is not a stressor that runs on noise CPUs");
    base::Settings own = stressors().settings(
        card, is_file ? std::map<std::string, std::string>{{"file", name}} : std::map<std::string, std::string>{});
    return Neighbour{&card, std::move(own)};
}

std::size_t cores_to_keep(const base::Settings& settings)
{
    constexpr std::int64_t most = ConfinementNews::most_cpus;
    const auto keep = settings.get<std::int64_t>(contract::keep);
    if (keep < 1 || keep > most)
        base::fail_usage("job.cores[keep=", settings.text(contract::keep), "] is not a number of cores from 1 to ",
                         most);
    return static_cast<std::size_t>(keep);
}

// Processes of the job on this host; each is a rank.
std::map<pid_t, base::Process> ranks_of(const Place& place)
{
    if (!place.victims.empty()) return base::processes(place.victims);
    const base::ControlFile control = base::ControlFile::open(place.control_run, base::host_name());
    return base::processes(base::training_processes(control.page()));
}

// Shared by the instances: the CPUs that each rank keeps, and the neighbour's own shared state.
struct FreedCores : Shared {
    std::map<pid_t, base::Process> ranks;
    contract::CpusOfRanks kept;
    std::vector<int> freed;  // noise CPUs on cores that no rank keeps
    std::optional<Neighbour> neighbour;
    std::unique_ptr<Shared> of_neighbour;
};

std::vector<int> without_kept_cores(const std::vector<int>& cpus, const contract::CpusOfRanks& kept,
                                    const std::vector<base::Core>& cores)
{
    base::CpuSet held;
    for (const auto& [rank, its] : kept)
        for (const base::Core& core : cores)
            if (base::have_common(core.cpus, its)) held.insert(core.cpus.begin(), core.cpus.end());
    std::vector<int> left;
    std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(left), [&](int cpu) { return !held.contains(cpu); });
    return left;
}

// The neighbour's Place on the freed CPU with this index.
Place place_of_neighbour(const Place& place, const FreedCores& cores, std::size_t index)
{
    Place freed = place;
    freed.cpu = cores.freed[index];
    freed.index = index;
    freed.count = cores.freed.size();
    freed.cpus = cores.freed;
    freed.shared = cores.of_neighbour.get();
    return freed;
}

std::unique_ptr<FreedCores> share_cores(const base::Settings& settings, const Place& place)
{
    auto cores = std::make_unique<FreedCores>();
    cores->ranks = ranks_of(place);
    if (cores->ranks.empty())
        base::fail("job.cores: no process of the job is in the control file; start the job first, or give --victim");
    std::set<pid_t> pids;
    for (const auto& [pid, process] : cores->ranks) pids.insert(pid);
    const std::map<pid_t, base::Process> all = base::processes();
    check_may_confine(base::with_descendants(pids, all), all);
    const std::vector<base::Core> machine = base::physical_cores(base::present_cpus());
    cores->kept = contract::share(contract::usable_cpus(pids), cores_to_keep(settings), machine);
    cores->freed = without_kept_cores(place.cpus, cores->kept, machine);
    cores->neighbour = neighbour_of(settings);
    if (cores->freed.empty()) cores->neighbour.reset();
    if (cores->neighbour && cores->neighbour->card->share)
        cores->of_neighbour =
            cores->neighbour->card->share(cores->neighbour->settings, place_of_neighbour(place, *cores, 0));
    return cores;
}

// Confines the job from begin() to end(), or until this process ends. One noise process per host does this.
class Confiner {
 public:
    explicit Confiner(const FreedCores& cores) : cores_{cores}, guardian_{Guardian::Duty::cores, "", {}} {}

    ~Confiner() { end(); }
    Confiner(const Confiner&) = delete;
    Confiner& operator=(const Confiner&) = delete;

    void begin(std::int64_t until_ns)
    {
        confined_ = {.since = base::ticks_since_boot()};
        if (!tell({.kind = ConfinementNews::Kind::begin, .since = confined_.since, .until_ns = until_ns}))
            base::fail("the guardian that gives the job its CPUs back has died: no process is confined");
        look_again();
        if (confined_.threads.empty()) ++without_job_;
        threads_ = std::max(threads_, confined_.threads.size());
    }

    // Confines processes and threads that were started since the last call, and records them.
    void look_again()
    {
        contract::CpusOfRanks kept;
        for (const auto& [pid, process] : base::processes(pids()))
            if (process.started == cores_.ranks.at(pid).started) kept[pid] = cores_.kept.at(pid);
        const auto remember = [this](pid_t id, const ConfinedThread& thread) {
            tell({.kind = ConfinementNews::Kind::add,
                  .thread = id,
                  .process = thread.process,
                  .rank = thread.rank,
                  .started = thread.started,
                  .before = mask_of(thread.before),
                  .within = mask_of(thread.within)});
        };
        refused_ = std::max(refused_, confine(kept, confined_, remember));
    }

    void end()
    {
        bound_otherwise_ = std::max(bound_otherwise_, restore(confined_));
        confined_.threads.clear();
        tell({.kind = ConfinementNews::Kind::end});
    }

    std::string note() const
    {
        base::CpuSet kept;
        for (const auto& [rank, cpus] : cores_.kept) kept.insert(cpus.begin(), cpus.end());
        return base::join("confined ", cores_.kept.size(), cores_.kept.size() == 1 ? " process (" : " processes (",
                          threads_, threads_ == 1 ? " thread)" : " threads)", " to CPUs ", base::format_cpus(kept));
    }

    Facts facts() const
    {
        std::vector<std::string> of_each;
        for (const auto& [rank, cpus] : cores_.kept) of_each.push_back(base::format_cpus(cpus));
        return {{contract::kept_cpus, of_each}};
    }

    std::string not_kept() const
    {
        std::vector<std::string> all;
        if (without_job_ > 0) all.push_back(base::join("no process of the job was left in ", slots(without_job_)));
        if (refused_ > 0) all.push_back(base::join(refused_, " threads of the job could not be confined"));
        if (bound_otherwise_ > 0)
            all.push_back(base::join(bound_otherwise_, " threads of the job were bound to other CPUs meanwhile"));
        return base::join_words(all, ", ");
    }

 private:
    static std::string slots(std::size_t count) { return base::join(count, count == 1 ? " slot" : " slots"); }

    std::set<pid_t> pids() const
    {
        std::set<pid_t> pids;
        for (const auto& [pid, process] : cores_.ranks) pids.insert(pid);
        return pids;
    }

    // False if the guardian is gone.
    bool tell(const ConfinementNews& news) const
    {
        return guardian_.pipe() < 0 || ::write(guardian_.pipe(), &news, sizeof news) == sizeof news;
    }

    const FreedCores& cores_;
    Guardian guardian_;
    Confined confined_;
    std::size_t threads_ = 0;
    std::size_t without_job_ = 0;
    std::size_t refused_ = 0;
    std::size_t bound_otherwise_ = 0;
};

// Runs the neighbour on this CPU if it is freed. The instance on the last noise CPU, which is freed first, also
// confines the job.
class JobCores final : public Stressor {
 public:
    JobCores(std::unique_ptr<Stressor> neighbour, const FreedCores* to_confine) : neighbour_{std::move(neighbour)}
    {
        if (to_confine != nullptr) confiner_.emplace(*to_confine);
    }

    void begin(const Turn& turn) override
    {
        deadline_ns_ = turn.deadline_ns;
        neighbour_rests_until_ns_ = 0;
        if (confiner_) confiner_->begin(deadline_ns_);
        next_look_ns_ = confiner_ ? base::now_ns() + look_again_after_ns : deadline_ns_;
        if (neighbour_) neighbour_->begin(turn);
    }

    Work step() override
    {
        if (confiner_ && base::now_ns() >= next_look_ns_) {
            confiner_->look_again();
            next_look_ns_ = base::now_ns() + look_again_after_ns;
        }
        Work work;
        if (neighbour_ && base::now_ns() >= neighbour_rests_until_ns_) {
            work = neighbour_->step();
            neighbour_rests_until_ns_ = work.rest_until_ns;
        }
        work.rest_until_ns = std::min(next_look_ns_, neighbour_ ? neighbour_rests_until_ns_ : deadline_ns_);
        return work;
    }

    void end() override
    {
        if (confiner_) confiner_->end();
        if (neighbour_) neighbour_->end();
    }

    std::string note() const override
    {
        const std::string of_neighbour = neighbour_ ? neighbour_->note() : "";
        if (!confiner_) return "";
        return base::join(confiner_->note(), of_neighbour.empty() ? "" : "; ", of_neighbour);
    }

    Facts facts() const override
    {
        Facts all = neighbour_ ? neighbour_->facts() : Facts{};
        if (confiner_) all.merge(confiner_->facts());
        return all;
    }

    std::string not_kept() const override
    {
        const std::string of_neighbour = neighbour_ ? neighbour_->not_kept() : "";
        const std::string own = confiner_ ? confiner_->not_kept() : "";
        return base::join(own, own.empty() || of_neighbour.empty() ? "" : "; ", of_neighbour);
    }

 private:
    static constexpr std::int64_t look_again_after_ns = 200'000'000;

    std::unique_ptr<Stressor> neighbour_;
    std::optional<Confiner> confiner_;
    std::int64_t deadline_ns_ = 0;
    std::int64_t next_look_ns_ = 0;
    std::int64_t neighbour_rests_until_ns_ = 0;
};

std::unique_ptr<Stressor> make_on(const Place& place)
{
    const auto& cores = static_cast<const FreedCores&>(*place.shared);
    const auto freed = std::ranges::find(cores.freed, place.cpu);
    std::unique_ptr<Stressor> neighbour;
    if (cores.neighbour && freed != cores.freed.end())
        neighbour = cores.neighbour->card->make(
            cores.neighbour->settings,
            place_of_neighbour(place, cores, static_cast<std::size_t>(freed - cores.freed.begin())));
    const bool confines = base::local_rank().rank == 0 && place.index + 1 == place.count;
    if (!neighbour && !confines) return nullptr;
    return std::make_unique<JobCores>(std::move(neighbour), confines ? &cores : nullptr);
}

}  // namespace

extern const StressorCard job_cores{
    .name = contract::stressor,
    .summary =
        "confines each process of the job (--victim, or the control file's) to some of its cores, and gives a "
        "neighbour "
        "the others; noise CPUs are the job's own (--share)",
    .options = {{contract::keep, "1", "physical cores that each process of the job, with its descendants, keeps"},
                {contract::neighbour, contract::no_neighbour,
                 "on the noise CPUs that are freed: none, a stressor with its default options, or the path of a "
                 "program as for job.run[file=..]"}},
    .acts_on_the_job = true,
    .needs = [](const base::Settings& settings) -> Needs {
        cores_to_keep(settings);
        const std::optional<Neighbour> neighbour = neighbour_of(settings);
        return neighbour ? neighbour->card->needs(neighbour->settings) : Needs{};
    },
    .share = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Shared> {
        return share_cores(settings, place);
    },
    .make = [](const base::Settings&, const Place& place) -> std::unique_ptr<Stressor> { return make_on(place); },
};

}  // namespace noisegen
