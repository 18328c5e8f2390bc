// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/advice.hpp"

#include "base/contract/job_cores.hpp"
#include "base/contract/os_table.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <string_view>
#include <vector>

namespace analysis {

namespace {

// An advice. It names settings that were not tried in this run. Backquotes enclose commands and settings to copy; they
// are removed from the printed advice.
struct Knob {
    std::string_view kind;  // family of the stressor, before the dot
    Mechanism mechanism;    // Mechanism::unknown: any mechanism
    std::string words;
};

constexpr std::string_view keep_away =
    "keep such jobs off these nodes: run the training with `--exclusive`, or in a partition with "
    "`OverSubscribe=EXCLUSIVE` (NO still shares a node, core by core)";

constexpr std::string_view idle_cores =
    "Idle cores may go to such jobs: same partition with `OverSubscribe=NO` under select/cons_tres and CR_Core "
    "(whole cores to each job), the training not --exclusive, `ConstrainCores=yes` so that jobs stay on their cores.";

// How to give the running neighbours `share` of a resource. A group of resctrl limits only threads that are in it, and
// those that they start.
std::string limited_by_resctrl(const std::string& share)
{
    return "resctrl, as root on the node: `mkdir /sys/fs/resctrl/neighbours; echo '" + share +
           "' > /sys/fs/resctrl/neighbours/schemata`, then put the threads of each running neighbour into that group: "
           "`for pid in $(scontrol listpids JOBID | awk 'NR > 1 {print $1}'); do for thread in /proc/$pid/task/*; do "
           "echo ${thread##*/} > /sys/fs/resctrl/neighbours/tasks; done; done`";
}

// The first entry that fits is used.
const std::vector<Knob> knobs{
    {"memory", Mechanism::input,
     "Reading and preparing input competes for memory bandwidth: give the training more readers, or cap the "
     "neighbours with " +
         limited_by_resctrl("MB:0=40")},
    {"memory", Mechanism::transfer,
     "The exchange goes through the memory that the neighbours use: put them on the socket without the network "
     "adapter, or cap them with " +
         limited_by_resctrl("MB:0=40")},
    {"memory", Mechanism::unknown,
     "Slurm cannot cap memory bandwidth: put the neighbours on another socket (NUMA node), or cap them with " +
         limited_by_resctrl("MB:0=40")},
    {"cache", Mechanism::unknown,
     "Put the neighbours on another socket, or give them a part of the last-level cache with " +
         limited_by_resctrl("L3:0=f")},
    {"capacity", Mechanism::unknown,
     "Hold jobs to the memory they requested: `ConstrainRAMSpace=yes` in cgroup.conf, and a --mem for every job"},
    {"network", Mechanism::compute,
     "Interrupts and copies of the neighbours' messages run on the training's cores: keep a core for them "
     "(`CoreSpecCount=1` for the node in slurm.conf) and send the interrupts there: `echo 0 > "
     "/proc/irq/NUMBER/smp_affinity_list`"},
    {"network", Mechanism::input,
     "The training reads its input over the same network: bring it to the node's own disk first (sbcast), or limit "
     "how many network-heavy jobs run at once: `Licenses=network:4` in slurm.conf, `sbatch -L network:1`"},
    {"network", Mechanism::checkpoint,
     "Checkpoints go over the same network: write them asynchronously, or limit how many network-heavy jobs "
     "run at once: `Licenses=network:4` in slurm.conf, `sbatch -L network:1`"},
    {"network", Mechanism::unknown,
     "Limit how many network-heavy jobs run at once: `Licenses=network:4` in slurm.conf, `sbatch -L network:1`; or "
     "give the training's messages a service level of their own (UCX_IB_SL, NCCL_IB_SL)"},
    {"io", Mechanism::input,
     "The training waits for its input: bring it to another disk than the neighbours' (sbcast), or cap them: `echo "
     "'259:0 rbps=500000000 wbps=500000000' > io.max` in their cgroup; on Lustre with NRS TBF by job id"},
    {"io", Mechanism::checkpoint,
     "Checkpoints share the disk: write them asynchronously or to another disk, or cap the neighbours: `echo "
     "'259:0 wbps=500000000' > io.max` in their cgroup; on Lustre with NRS TBF by job id"},
    {"io", Mechanism::compute,
     "The kernel's work for the disk runs on the training's cores: keep it off (`echo MASK > "
     "/sys/devices/virtual/workqueue/cpumask`), and reserve a core for it (`CoreSpecCount=1` for the node in "
     "slurm.conf)"},
    {"io", Mechanism::unknown,
     "Limit how many I/O-heavy jobs run at once (`Licenses=scratch:4` in slurm.conf, `sbatch -L scratch:1`), and cap "
     "them on the node with io.max or io.weight of cgroup v2; on Lustre with NRS TBF by job id"},
    {"metadata", Mechanism::input,
     "The training waits for its input: pack it into few large files, or put it on another file system than the "
     "neighbours'"},
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
     "Input reaches the GPU over the PCI Express that the neighbours use: give them GPUs behind another switch, or "
     "none (`nvidia-smi topo -m` shows which share one), and use pinned memory for the input"},
    {"gpu", Mechanism::unknown,
     "Give no job a GPU that a training uses: --gpus-per-node with `ConstrainDevices=yes` in cgroup.conf, neither "
     "MPS nor gres/shard on these nodes; jobs with GPUs of their own behind another PCIe switch (`nvidia-smi topo "
     "-m`)"},
};

// Advice by what kept the training's threads from running; it precedes the advice by the noise's kind.
struct EvidenceKnob {
    std::string_view cause;
    std::string_view words;
};

constexpr std::string_view interrupts_elsewhere =
    "Interrupts of disk and network run on the training's cores: send them to others (`echo 0 > "
    "/proc/irq/NUMBER/smp_affinity_list`), and keep a core for them (`CoreSpecCount=1` for the node in slurm.conf)";

constexpr std::string_view memory_kept =
    "Memory runs short: limit that of the neighbours (`echo 8G > memory.high` in their cgroup), and hold jobs to the "
    "memory they requested: `ConstrainRAMSpace=yes` in cgroup.conf, and a --mem for every job";

const std::vector<EvidenceKnob> evidence_knobs{
    {base::os::cause::neighbour,
     "Bind the training to cores of its own (`--cpu-bind=cores`) and other jobs to theirs (`ConstrainCores=yes` in "
     "cgroup.conf); services of the system get theirs by `CoreSpecCount=1` for the node in slurm.conf"},
    {base::os::cause::own_thread,
     "The training has more threads than CPUs: start fewer (`OMP_NUM_THREADS=1` for each rank, fewer readers), or give "
     "each rank more CPUs (`--cpus-per-task=4`)"},
    {base::os::cause::kernel_thread,
     "The kernel works on the training's cores: keep it off (`echo MASK > /sys/devices/virtual/workqueue/cpumask`), "
     "and reserve a core for it (`CoreSpecCount=1` for the node in slurm.conf)"},
    {base::os::cause::runqueue_wait,
     "Bind the training to cores of its own: `--cpu-bind=cores`, `ConstrainCores=yes` in cgroup.conf; run trace-os as "
     "root to see which tasks use them"},
    {base::os::cause::interrupt, interrupts_elsewhere},
    {base::os::cause::softirq, interrupts_elsewhere},
    {base::os::cause::throttled,
     "Give the job more CPUs in its quota (`--cpus-per-task=4`), or raise it: `echo '400000 100000' > cpu.max` in its "
     "cgroup"},
    {base::os::cause::steal,
     "The host of this virtual machine has too few CPUs for all of its machines, which no setting inside it can "
     "change: have "
     "its virtual CPUs pinned to CPUs of their own (`virsh vcpupin`), or take a machine with dedicated CPUs"},
    {base::os::cause::block_io,
     "Keep the training's data on another disk than the neighbours' (sbcast), or cap them: `echo '259:0 rbps=500000000 "
     "wbps=500000000' > io.max` in their cgroup; on Lustre with NRS TBF by job id"},
    {base::os::cause::major_faults, memory_kept},
    {base::os::cause::reclaim, memory_kept},
};

std::string_view knob_for(const std::string& stressor, const Cause& cause)
{
    for (const EvidenceKnob& knob : evidence_knobs)
        if (knob.cause == cause.evidence) return knob.words;
    const std::string kind = stressor.substr(0, stressor.find('.'));
    for (const Knob& knob : knobs)
        if (knob.kind == kind && (knob.mechanism == cause.mechanism || knob.mechanism == Mechanism::unknown))
            return knob.words;
    return {};
}

std::string limit(const std::string& stressor, const Cause& cause)
{
    const std::string_view words = knob_for(stressor, cause);
    return words.empty() ? base::join("K", keep_away.substr(1), ".") : base::join(words, ". Or ", keep_away, ".");
}

// Removes the backquotes from the text, and lists the texts between each two of them as commands.
Advice advice_in(std::string_view words)
{
    Advice advice;
    bool is_command = false;
    for (bool is_last = false; !is_last; is_command = !is_command) {
        const std::size_t end = words.find('`');
        is_last = end == std::string_view::npos;
        advice.text += words.substr(0, end);
        if (is_command) advice.commands.emplace_back(words.substr(0, end));
        words.remove_prefix(is_last ? words.size() : end + 1);
    }
    return advice;
}

}  // namespace

Advice advice(const std::string& stressor, const Cause& cause, const std::string& verdict)
{
    if (stressor == base::job_cores::stressor && verdict == base::verdict_word::safe)
        return advice_in(
            "The cores that this leaves may go to other jobs; for settings see the number of cores to keep.");
    if (stressor == base::job_cores::stressor && verdict == base::verdict_word::unsafe)
        return advice_in("The job needs more cores than that.");
    if (verdict == base::verdict_word::safe) return advice_in(idle_cores);
    if (verdict != base::verdict_word::unsafe) return advice_in("None yet: measure longer first.");
    return advice_in(limit(stressor, cause));
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
