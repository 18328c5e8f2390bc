// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/advice.hpp"

#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <set>
#include <string_view>
#include <vector>

namespace analysis {

namespace {

// An advice. It names settings that were not tried in this run. Backquotes enclose commands and settings to copy; they
// are removed from the printed advice.
struct Knob {
    std::string_view kind;  // family of the stressor, before the dot
    Mechanism mechanism;    // Mechanism::unknown: any mechanism
    std::string_view words;
};

constexpr std::string_view keep_away =
    "keep such jobs off these nodes: run the training with `--exclusive`, or in a partition with "
    "`OverSubscribe=EXCLUSIVE` (NO still shares a node, core by core)";

constexpr std::string_view idle_cores =
    "Idle cores may go to such jobs: same partition with `OverSubscribe=NO` under select/cons_tres and CR_Core "
    "(whole cores to each job), the training not --exclusive, `ConstrainCores=yes` so that jobs stay on their cores.";

// The first entry that fits is used.
const std::vector<Knob> knobs{
    {"memory", Mechanism::input,
     "Reading and preparing input competes for memory bandwidth: give the training more readers, or cap the "
     "neighbours with resctrl from the prolog: `echo 'MB:0=40' > /sys/fs/resctrl/neighbours/schemata`"},
    {"memory", Mechanism::transfer,
     "The exchange goes through the memory that the neighbours use: put them on the socket without the network "
     "adapter, or cap them with resctrl from the prolog: `echo 'MB:0=40' > /sys/fs/resctrl/neighbours/schemata`"},
    {"memory", Mechanism::unknown,
     "Slurm cannot cap memory bandwidth: put the neighbours on another socket (NUMA node), or cap them with resctrl "
     "from the prolog: `mkdir /sys/fs/resctrl/neighbours; echo 'MB:0=40' > /sys/fs/resctrl/neighbours/schemata`"},
    {"cache", Mechanism::unknown,
     "Give the neighbours a part of the last-level cache with resctrl from the prolog: `mkdir "
     "/sys/fs/resctrl/neighbours; echo 'L3:0=f' > /sys/fs/resctrl/neighbours/schemata`; or put them on another socket"},
    {"capacity", Mechanism::unknown,
     "Hold jobs to the memory they asked for: `ConstrainRAMSpace=yes` in cgroup.conf, and a --mem for every job"},
    {"network", Mechanism::compute,
     "Interrupts and copies of the neighbours' messages run on the training's cores: keep a core for them "
     "(`CoreSpecCount=1` for the node in slurm.conf) and send the interrupts there: `echo 0 > "
     "/proc/irq/NUMBER/smp_affinity_list`"},
    {"network", Mechanism::input,
     "The training reads its input over the same network: bring it to the node's own disk first (sbcast), or limit "
     "how many network-heavy jobs run at once: `Licenses=network:4` in slurm.conf, `sbatch -L network:1`"},
    {"network", Mechanism::checkpoint,
     "Checkpoints go over the same network: write them beside the next steps, or limit how many network-heavy jobs "
     "run at once: `Licenses=network:4` in slurm.conf, `sbatch -L network:1`"},
    {"network", Mechanism::unknown,
     "Limit how many network-heavy jobs run at once: `Licenses=network:4` in slurm.conf, `sbatch -L network:1`; or "
     "give the training's messages a service level of their own (UCX_IB_SL, NCCL_IB_SL)"},
    {"io", Mechanism::input,
     "The training waits for its input: bring it to another disk than the neighbours' (sbcast), or cap them: `echo "
     "'259:0 rbps=500000000 wbps=500000000' > io.max` in their cgroup; on Lustre with NRS TBF by job id"},
    {"io", Mechanism::checkpoint,
     "Checkpoints share the disk: write them beside the next steps or to another one, or cap the neighbours: `echo "
     "'259:0 wbps=500000000' > io.max` in their cgroup; on Lustre with NRS TBF by job id"},
    {"io", Mechanism::compute,
     "The kernel's work for the disk runs on the training's cores: keep it off (`echo MASK > "
     "/sys/devices/virtual/workqueue/cpumask`), and a core for it (`CoreSpecCount=1` for the node in slurm.conf)"},
    {"io", Mechanism::unknown,
     "Limit how many I/O-heavy jobs run at once (`Licenses=scratch:4` in slurm.conf, `sbatch -L scratch:1`), and cap "
     "them on the node with io.max or io.weight of cgroup v2; on Lustre with NRS TBF by job id"},
    {"metadata", Mechanism::input,
     "The training waits for its input: pack it into few large files, or on another file system than the neighbours'"},
    {"metadata", Mechanism::unknown,
     "Limit how many jobs with many small files run at once: `Licenses=metadata:4` in slurm.conf, `sbatch -L "
     "metadata:1`"},
    {"cpu", Mechanism::transfer,
     "The threads and the kernel's work of the exchange need a core: `CoreSpecCount=1` for the node in slurm.conf; "
     "jobs bound to their cores: `ConstrainCores=yes` in cgroup.conf"},
    {"cpu", Mechanism::unknown,
     "Bind jobs to whole cores of their own: `ConstrainCores=yes` in cgroup.conf, `SelectTypeParameters=CR_Core`, "
     "`--hint=nomultithread`; keep a core for the training's helpers (`CoreSpecCount=1` for the node in slurm.conf)"},
    {"gpu", Mechanism::input,
     "Input goes to the GPU by the PCI Express that the neighbours use: give them GPUs behind another switch, or "
     "none (`nvidia-smi topo -m` shows which share one), and the training pinned input"},
    {"gpu", Mechanism::unknown,
     "Give no job a GPU that a training uses: --gpus-per-node with `ConstrainDevices=yes` in cgroup.conf, neither "
     "MPS nor gres/shard on these nodes; jobs with GPUs of their own behind another PCIe switch (`nvidia-smi topo "
     "-m`)"},
};

std::string limit(const std::string& stressor, Mechanism mechanism)
{
    const std::string kind = stressor.substr(0, stressor.find('.'));
    for (const Knob& knob : knobs)
        if (knob.kind == kind && (knob.mechanism == mechanism || knob.mechanism == Mechanism::unknown))
            return base::join(knob.words, ". Or ", keep_away, ".");
    return base::join("K", keep_away.substr(1), ".");
}

std::string without_marks(std::string_view words)
{
    return base::join_words(base::split(words, '`'), "");
}

// Adds the commands, which are every second part of the words between backquotes.
void add_commands(std::set<std::string>& commands, std::string_view words)
{
    const std::vector<std::string> parts = base::split(words, '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) commands.insert(parts[i]);
}

}  // namespace

std::string advice(const std::string& stressor, Mechanism mechanism, const std::string& verdict)
{
    if (verdict == base::verdict_word::safe) return without_marks(idle_cores);
    if (verdict != base::verdict_word::unsafe) return "None yet: measure longer first.";
    return without_marks(limit(stressor, mechanism));
}

std::vector<std::string> commands_in(const std::string& advice)
{
    std::set<std::string> known;
    for (const Knob& knob : knobs) add_commands(known, knob.words);
    add_commands(known, keep_away);
    add_commands(known, idle_cores);
    std::vector<std::string> found;
    for (std::size_t at = 0; at < advice.size();) {
        const std::string* here = nullptr;
        for (const std::string& command : known)  // the longest, where one is a prefix of another
            if (advice.compare(at, command.size(), command) == 0 && (here == nullptr || command.size() > here->size()))
                here = &command;
        if (here != nullptr) found.push_back(*here);
        at += here == nullptr ? 1 : here->size();
    }
    return found;
}

std::optional<std::string> tried_setting(const std::string& level)
{
    for (const char* without : unlimited_levels)
        if (level == without) return std::nullopt;
    if (level.starts_with("limit=")) return level.substr(6);
    if (level.starts_with("sched=")) return level;
    return std::nullopt;
}

}  // namespace analysis
