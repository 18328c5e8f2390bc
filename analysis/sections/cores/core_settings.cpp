// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/cores/core_settings.hpp"

#include "base/error.hpp"

namespace analysis {

namespace {

using base::join;

// The setting by which a partition without GPUs never gets the CPUs that the ranks keep.
std::string partition_limit(const CoresKept& kept)
{
    const int left = kept.cpus_of_node - kept.kept_of_node;
    if (kept.kept_of_node == 0 || left <= 0) return "";
    return join("MaxCPUsPerNode=", left, " for the neighbours' partition");
}

std::string with_comma(const std::string& first, const std::string& second)
{
    return join(first, first.empty() || second.empty() ? "" : ", ", second);
}

}  // namespace

std::vector<CoreSetting> core_settings(const CoresKept& kept)
{
    const int cpus = kept.cpus_of_rank > 0 ? kept.cpus_of_rank : kept.cores_of_rank;
    std::vector<CoreSetting> settings;
    if (kept.rank_is_gpu) {
        settings.push_back({"slurm", join("RestrictedCoresPerGPU=", kept.cores_of_rank, " for the node")});
        settings.push_back(
            {"slurm_before_24_05", with_comma(join("--cpus-per-gpu=", cpus, " for the job"), partition_limit(kept))});
    } else {
        settings.push_back(
            {"slurm", with_comma(join("--cpus-per-task=", cpus, " for the job"), partition_limit(kept))});
    }
    std::string outside;
    if (!kept.kept_list.empty())
        outside = join("reservedSystemCPUs: \"", kept.kept_list, "\" for a job outside of pods");
    settings.push_back(
        {"kubelet", with_comma(join("cpuManagerPolicy: static and cpu: ", cpus, " in a Guaranteed pod"), outside)});
    return settings;
}

}  // namespace analysis
