// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/launchers/launcher.hpp"

#include <boost/program_options/parsers.hpp>

#include <csignal>

namespace crosstalk {

namespace {

class LocalLauncher : public Launcher {
 public:
    explicit LocalLauncher(const std::string& noise_launch)
        : noise_launch_{boost::program_options::split_unix(noise_launch)}
    {
    }

    Words job(const Placement& placement) const override
    {
        if (placement.ranks == 0) return {};
        return {"mpirun", "-n", std::to_string(placement.ranks), "--oversubscribe", "--bind-to", "none"};
    }

    Words noise(const Placement&) const override { return noise_launch_; }

 private:
    Words noise_launch_;
};

}  // namespace

void Launcher::end_noise(const base::Child& child) const
{
    child.signal(SIGTERM);
}

void Launcher::end_evidence(const base::Child& child) const
{
    child.signal(SIGTERM);
}

void Launcher::end_job(const base::Child& child) const
{
    child.signal(SIGTERM);
}

void Launcher::write_records(const std::filesystem::path&) const {}

std::unique_ptr<Launcher> local_launcher(const std::string& noise_launch)
{
    return std::make_unique<LocalLauncher>(noise_launch);
}

}  // namespace crosstalk
