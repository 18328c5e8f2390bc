// SPDX-License-Identifier: Apache-2.0
// Rendezvous of ranks for Gloo: their addresses, and files in a directory that all of them see.
#pragma once

#include "base/system/launcher.hpp"

#include <filesystem>
#include <string>

#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace ddl {

// The launcher's number of this job, which distinguishes it from other jobs that use the same directory at the same
// time.
std::string gloo_job_name();

// The address of this rank for other ranks: 127.0.0.1 if all are on one host, whose name may not resolve.
gloo::transport::tcp::attr gloo_address(const std::string& host, const std::string& interface,
                                        const base::JobRank& job);

// Rendezvous: ranks write their addresses to a directory. Can be destroyed after they have connected or failed to
// connect.
class GlooMeeting {
 public:
    explicit GlooMeeting(const std::filesystem::path& path);
    ~GlooMeeting();
    GlooMeeting(const GlooMeeting&) = delete;
    GlooMeeting& operator=(const GlooMeeting&) = delete;

    gloo::rendezvous::FileStore& store() { return store_; }

 private:
    static const std::filesystem::path& made(const std::filesystem::path& path);

    std::filesystem::path path_;
    gloo::rendezvous::FileStore store_;
};

}  // namespace ddl
