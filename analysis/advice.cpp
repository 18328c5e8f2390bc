#include "analysis/advice.hpp"

namespace analysis {

namespace {

// How to keep jobs of this kind away or in bounds. Settings named here were not tried in this run.
std::string limit(const std::string& kind)
{
    const std::string keep_away =
        "run the training with --exclusive, or in a partition with OverSubscribe=EXCLUSIVE (NO still shares a node, "
        "core by core)";
    if (kind == "memory")
        return "Slurm cannot cap memory bandwidth. Keep such jobs off these nodes: " + keep_away +
               "; or cap them with resctrl MB from the prolog.";
    if (kind == "network")
        return "Keep such jobs off these nodes: " + keep_away +
               "; or limit with a licence (Licenses=) how many network-heavy jobs run at once.";
    if (kind == "io")
        return "Give I/O-heavy jobs a licence (Licenses=) so that few run at once, and cap them on the node with "
               "cgroup v2 "
               "io.max or io.weight; on Lustre with NRS TBF by job id.";
    if (kind == "cpu")
        return "Keep a core free for the training's helpers (CoreSpecCount), bind jobs to their cores "
               "(ConstrainCores=yes, "
               "--cpu-bind).";
    return "Keep such jobs off these nodes: " + keep_away + ".";
}

}  // namespace

std::string advice(const std::string& stressor, const std::string& verdict)
{
    if (verdict == "safe")
        return "Idle cores may go to such jobs: same partition with OverSubscribe=NO under select/cons_tres and "
               "CR_Core "
               "(whole cores to each job), the training not --exclusive, ConstrainCores=yes so that jobs stay on their "
               "cores.";
    if (verdict == "undecided") return "None yet: measure longer first.";
    return limit(stressor.substr(0, stressor.find('.')));
}

}  // namespace analysis
