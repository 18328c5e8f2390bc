// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/gloo/meeting.hpp"

#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "base/system/local_rank.hpp"

#include <algorithm>
#include <cctype>

#include <netdb.h>
#include <sys/utsname.h>

namespace ddl {

namespace fs = std::filesystem;

namespace {

// Fails for an unknown host name, on which Gloo would crash.
void check_known(const std::string& host)
{
    addrinfo* addresses = nullptr;
    const int code = ::getaddrinfo(host.c_str(), nullptr, nullptr, &addresses);
    if (code != 0)
        base::fail("the host name ", host, " has no address (", ::gai_strerror(code),
                   "): give --transport gloo[host=NAME] or gloo[interface=NAME]");
    ::freeaddrinfo(addresses);
}

std::string own_name()
{
    utsname name{};
    ::uname(&name);
    return name.nodename;
}

}  // namespace

std::string gloo_job_name()
{
    std::string name;
    for (const char* variable :
         {"PMIX_NAMESPACE", "TORCHELASTIC_RUN_ID", "MASTER_PORT", "SLURM_JOB_ID", "SLURM_STEP_ID"})
        if (const auto value = base::environment(variable)) name += "." + *value;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
    return "gloo" + name;
}

gloo::transport::tcp::attr gloo_address(const std::string& host, const std::string& interface, const base::JobRank& job)
{
    gloo::transport::tcp::attr attributes;
    attributes.iface = interface;
    if (!interface.empty()) return attributes;
    const bool one_host = base::local_rank().size == job.size;
    attributes.hostname = !host.empty() ? host : one_host ? "127.0.0.1" : own_name();
    check_known(attributes.hostname);
    return attributes;
}

GlooMeeting::GlooMeeting(const fs::path& path) : path_{made(path)}, store_{path} {}

GlooMeeting::~GlooMeeting()
{
    std::error_code ignored;
    for (const std::string& file : store_.getAllKeyFilePaths()) fs::remove(file, ignored);
    fs::remove(path_, ignored);  // succeeds for the last rank, when the directory is empty
}

const fs::path& GlooMeeting::made(const fs::path& path)
{
    fs::create_directories(path);
    return path;
}

}  // namespace ddl
