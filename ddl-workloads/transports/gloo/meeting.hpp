// SPDX-License-Identifier: Apache-2.0
// How ranks find each other for Gloo: their addresses, and files in a directory that all of them see.
#pragma once

#include "base/system/launcher.hpp"

#include <filesystem>
#include <string>

#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace ddl {

// No other job's that may use the same directory at the same time: the launcher's number of this one.
std::string gloo_job_name();

// Address for other ranks; 127.0.0.1 if all are on one host, whose name may have no address.
gloo::transport::tcp::attr gloo_address(const std::string& host, const std::string& interface,
                                        const base::JobRank& job);

// Rendezvous: ranks leave their addresses in a directory. Not needed after they have connected or failed to.
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
