// SPDX-License-Identifier: Apache-2.0
// Processes of a job that know of each other only their number and a directory that all of them see.
#pragma once

#include "trace-tools/otf2/write/team.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace mark {

class FileTeam : public otf2::Team {
 public:
    // Collective. `directory` is theirs alone, and is made; what a killed job left there is taken away. Throws Error if
    // the others do not come within a minute.
    FileTeam(std::filesystem::path directory, int rank, int size);

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::string process_name() const override;
    std::vector<std::string> gather(const std::string& mine) override;
    std::string broadcast(const std::string& of_rank_0) override;
    void barrier() override;
    // Offset of another host by the clocks that NTP keeps: as good as these.
    otf2::ClockOffset clock_offset(const std::string& clock_identity) override;

    // Collective, after the last of the above: takes the directory away.
    void close();

 private:
    std::string take(const std::filesystem::path& file) const;
    void meet();

    std::filesystem::path directory_;
    std::filesystem::path session_;  // in it: files of this job alone
    int rank_;
    int size_;
    int gathered_ = 0;
    int broadcast_ = 0;
};

}  // namespace mark
