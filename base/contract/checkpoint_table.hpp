// SPDX-License-Identifier: Apache-2.0
// DIR/train/checkpoints.csv: the cost of each checkpoint. ddl-train and crosstalk-python append a row for each rank
// that wrote to it, once the checkpoint is complete. DIR/train/restarts.csv: the cost of resuming from one.
#pragma once

#include "base/contract/table_columns.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace base::checkpoint {

inline constexpr const char* table = "checkpoints.csv";
inline constexpr const char* restarts = "restarts.csv";

struct Save {
    std::int64_t step = 0;  // number of steps done, as in the name of the checkpoint's directory
    int rank = 0;
    std::string format;
    std::string content;
    std::string by;
    std::string mode;
    std::string fsync;
    std::int64_t begin_ns = 0;
    std::int64_t stall_ns = 0;  // the training of this rank waited, also for the previous checkpoint
    std::int64_t copy_ns = 0;
    std::int64_t write_ns = 0;  // without sync_ns
    std::int64_t sync_ns = 0;
    std::int64_t bytes = 0;  // length of this rank's file
    std::string compress{};  // none, or gzip=LEVEL; empty: not known
};

inline const std::vector<TableColumn<Save>>& columns()
{
    static const std::vector<TableColumn<Save>> all{table_column("step", &Save::step),
                                                    table_column("rank", &Save::rank),
                                                    table_column("format", &Save::format),
                                                    table_column("content", &Save::content),
                                                    table_column("by", &Save::by),
                                                    table_column("mode", &Save::mode),
                                                    table_column("fsync", &Save::fsync),
                                                    table_column("begin_ns", &Save::begin_ns),
                                                    table_column("stall_ns", &Save::stall_ns),
                                                    table_column("copy_ns", &Save::copy_ns),
                                                    table_column("write_ns", &Save::write_ns),
                                                    table_column("sync_ns", &Save::sync_ns),
                                                    table_column("bytes", &Save::bytes),
                                                    table_column("compress", &Save::compress, Since::later)};
    return all;
}

// A rank of a training that resumed.
struct Restart {
    std::int64_t step = 0;  // number of steps done at the checkpoint
    int rank = 0;
    std::string format;
    std::string content;
    std::string by;              // `by` and `compress`: as in the Save that wrote it
    std::int64_t begin_ns = 0;   // when the search for a checkpoint began
    std::int64_t verify_ns = 0;  // rank 0: until the newest sound one was found; other ranks wait, and have 0
    std::int64_t read_ns = 0;    // reading it into this rank's state
    std::int64_t end_ns = 0;
    std::int64_t bytes = 0;  // of this rank's state
    std::string compress{};
};

inline const std::vector<TableColumn<Restart>>& restart_columns()
{
    static const std::vector<TableColumn<Restart>> all{table_column("step", &Restart::step),
                                                       table_column("rank", &Restart::rank),
                                                       table_column("format", &Restart::format),
                                                       table_column("content", &Restart::content),
                                                       table_column("by", &Restart::by),
                                                       table_column("begin_ns", &Restart::begin_ns),
                                                       table_column("verify_ns", &Restart::verify_ns),
                                                       table_column("read_ns", &Restart::read_ns),
                                                       table_column("end_ns", &Restart::end_ns),
                                                       table_column("bytes", &Restart::bytes),
                                                       table_column("compress", &Restart::compress, Since::later)};
    return all;
}

}  // namespace base::checkpoint
