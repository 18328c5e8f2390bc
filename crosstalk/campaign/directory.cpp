// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/directory.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/launcher.hpp"
#include "base/system/waiting.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

fs::path with_plan(const fs::path& path)
{
    if (!fs::exists(path / base::campaign::plan))
        base::fail_usage("no campaign in ", path.string(), " (make one: crosstalk campaign plan SPEC.ini -o DIR)");
    return fs::absolute(path).lexically_normal();
}

}  // namespace

CampaignDirectory::CampaignDirectory(const fs::path& path)
    : path_{with_plan(path)},
      spec_{read_spec(path_ / base::campaign::spec)},
      plan_{read_plan(path_ / base::campaign::plan)}
{
    const std::size_t planned = make_plan(spec_).size();
    if (plan_.size() != planned)
        base::fail((path_ / base::campaign::plan).string(), " lists ", plan_.size(), " runs, ", base::campaign::spec,
                   " plans ", planned);
}

void CampaignDirectory::make(const fs::path& path, const std::string& spec, const Plan& plan)
{
    base::WholeDirectory directory{path};
    base::write_whole(directory.path() / base::campaign::spec, spec);
    write_plan(directory.path() / base::campaign::plan, plan);
    fs::create_directory(directory.path() / base::campaign::runs);
    directory.finish();
}

fs::path CampaignDirectory::finished(const PlannedRun& run) const
{
    return path_ / base::campaign::runs / run.name;
}

fs::path CampaignDirectory::partial(const PlannedRun& run) const
{
    return path_ / base::campaign::runs / (run.name + base::campaign::partial);
}

fs::path CampaignDirectory::failed(const PlannedRun& run, int attempt) const
{
    return path_ / base::campaign::failed / base::join(run.name, ".", attempt);
}

bool CampaignDirectory::is_done(const PlannedRun& run) const
{
    return fs::exists(finished(run) / base::file::status);
}

int CampaignDirectory::failures(const PlannedRun& run) const
{
    int count = 0;
    while (fs::exists(failed(run, count + 1))) ++count;
    return count;
}

Plan CampaignDirectory::pending(int retries) const
{
    Plan left;
    for (const PlannedRun& run : plan_)
        if (!is_done(run) && failures(run) <= retries) left.push_back(run);
    return left;
}

bool CampaignDirectory::stop_requested() const
{
    return fs::exists(path_ / base::campaign::stop);
}

void CampaignDirectory::request_stop() const
{
    base::write_whole(path_ / base::campaign::stop, "");
}

void CampaignDirectory::withdraw_stop() const
{
    fs::remove(path_ / base::campaign::stop);
}

std::optional<nlohmann::ordered_json> status_of(const fs::path& run)
try {
    return base::read_json(run / base::file::status);
} catch (const std::exception&) {
    return {};
}

CampaignLock::CampaignLock(const CampaignDirectory& campaign, const std::string& name)
    : file_{base::check_errno(::open((campaign.path() / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), "open ",
                              (campaign.path() / name).string())}
{
    constexpr std::int64_t patience_ns = 3'000'000'000;  // a killed process takes a moment to disappear
    constexpr std::int64_t look_again_ns = 100'000'000;
    const auto locked = [&] { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; };
    if (!base::wait_until(locked, patience_ns, look_again_ns)) {
        const std::string holder = base::read_whole(campaign.path() / name);
        base::fail_usage("this campaign is run by ", holder.empty() ? "another process" : holder,
                         " (crosstalk campaign stop ", campaign.path().string(), ")");
    }
    const std::string own = base::join("process ", ::getpid(), " on ", base::host_name());
    base::check_errno(::ftruncate(file_, 0), "write ", name);
    base::check_errno(::pwrite(file_, own.data(), own.size(), 0), "write ", name);
}

bool CampaignLock::is_held(const CampaignDirectory& campaign, const std::string& name)
{
    const base::Descriptor file{::open((campaign.path() / name).c_str(), O_RDWR | O_CLOEXEC)};
    return file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0;
}

std::string block_lock(int block)
{
    return base::join("block-", block, ".lock");
}

bool is_being_run(const CampaignDirectory& campaign)
{
    std::set<std::string> locks{base::campaign::driver_lock};
    for (const PlannedRun& run : campaign.plan()) locks.insert(block_lock(run.block));
    return std::any_of(locks.begin(), locks.end(),
                       [&](const std::string& lock) { return CampaignLock::is_held(campaign, lock); });
}

}  // namespace crosstalk
