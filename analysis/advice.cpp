#include "analysis/advice.hpp"

namespace analysis {

namespace {

// How to keep jobs of this kind away or in bounds. Settings named here were not tried in this run.
std::string limit(const std::string& kind)
{
    if (kind == "memory")
        return "Slurm cannot cap memory bandwidth: keep such jobs off these nodes (OverSubscribe=NO or EXCLUSIVE for "
               "the "
               "training's partition), or cap it with resctrl MB from the prolog.";
    if (kind == "network")
        return "Keep such jobs off these nodes (OverSubscribe=NO or EXCLUSIVE, or --exclusive for the training); a "
               "licence "
               "limits how many network-heavy jobs run at once.";
    if (kind == "io")
        return "Give I/O-heavy jobs a licence (Licenses=) so that few run at once, and cap them on the node with "
               "cgroup v2 "
               "io.max or io.weight; on Lustre with NRS TBF by job id.";
    if (kind == "cpu")
        return "Keep a core free for the training's helpers (CoreSpecCount), bind jobs to their cores "
               "(ConstrainCores=yes, "
               "--cpu-bind), or OverSubscribe=NO.";
    return "Keep such jobs off these nodes: OverSubscribe=NO or EXCLUSIVE for the training's partition.";
}

}  // namespace

std::string advice(const std::string& stressor, const std::string& verdict)
{
    if (verdict == "safe")
        return "Idle cores may go to such jobs: a partition with OverSubscribe=FORCE, explicit cores (--cpu-bind) and "
               "ConstrainCores=yes so that they stay on them.";
    if (verdict == "undecided") return "None yet: measure longer first.";
    return limit(stressor.substr(0, stressor.find('.')));
}

}  // namespace analysis
