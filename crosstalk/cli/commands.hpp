// SPDX-License-Identifier: Apache-2.0
// Commands of crosstalk other than run and doctor.
#pragma once

#include "base/cli/commands.hpp"
#include "crosstalk/run/request/request.hpp"

#include <string>
#include <vector>

namespace crosstalk {

class TryCommand : public base::Command {
 public:
    TryCommand();
    int run() override;

 private:
    Request request_;
    std::string out_;
    std::string duration_ = "20s";
    std::string first_step_ = "10min";
    std::string job_cpus_;
    std::string noise_cpus_;
};

class CoresCommand : public base::Command {
 public:
    CoresCommand();
    int run() override;

 private:
    Request request_;
    std::string out_;
    std::string neighbour_ = "memory.stream";
    std::string levels_;
    std::string threads_;
    std::string duration_ = "5min";
    std::string first_step_ = "10min";
    std::string cpus_;
    bool dry_run_ = false;
};

class DiffCommand : public base::Command {
 public:
    DiffCommand();
    int run() override;

 private:
    std::vector<std::string> sides_;
    std::vector<std::string> before_;
    std::vector<std::string> after_;
    std::string out_;
    std::string format_ = "text";
    std::string fail_on_;
};

class ViewCommand : public base::Command {
 public:
    ViewCommand();
    int run() override;

 private:
    std::string directory_;
    int port_ = 0;
    bool serve_ = false;
};

class PruneCommand : public base::Command {
 public:
    PruneCommand();
    int run() override;

 private:
    std::vector<std::string> directories_;
    std::string older_than_;
    bool checkpoints_ = false;
    bool dry_run_ = false;
};

class SweepCommand : public base::Command {
 public:
    SweepCommand();
    int run() override;

 private:
    std::string spec_;
    std::string out_;
    std::string cpus_;
};

// Commands of crosstalk campaign: plan, run, status, stop, collect.
base::Commands campaign_commands();

}  // namespace crosstalk
