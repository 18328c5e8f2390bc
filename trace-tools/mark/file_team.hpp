// SPDX-License-Identifier: Apache-2.0
// A team of processes that know only their rank, the number of ranks, and a directory that all of them see.
#pragma once

#include "trace-tools/otf2/write/team.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace mark {

class FileTeam : public otf2::Team {
 public:
    // Collective. Creates `directory`, which only this team uses, and removes what a killed job left there. Throws
    // Error if the other ranks do not arrive within a minute.
    FileTeam(std::filesystem::path directory, int rank, int size);

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::string process_name() const override;
    std::vector<std::string> gather(const std::string& mine) override;
    std::string broadcast(const std::string& of_rank_0) override;
    void barrier() override;
    // Offset between hosts from their clocks, which NTP synchronises: only as accurate as NTP.
    otf2::ClockOffset clock_offset(const std::string& clock_identity) override;

    // Collective, after all other calls: removes the directory.
    void close();

 private:
    std::string take(const std::filesystem::path& file) const;
    void meet();

    std::filesystem::path directory_;
    std::filesystem::path session_;  // subdirectory with the files of this job only
    int rank_;
    int size_;
    int gathered_ = 0;
    int broadcast_ = 0;
};

}  // namespace mark
