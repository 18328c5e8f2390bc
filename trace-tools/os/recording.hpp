// SPDX-License-Identifier: Apache-2.0
// Writes observations to files: os.csv row by row, and the interruptions of each thread as an OTF2 archive.
#pragma once

#include "base/contract/os_table.hpp"
#include "base/csv.hpp"
#include "trace-tools/os/job.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace os {

class Recording {
 public:
    // `directory` must exist and be empty.
    Recording(const std::filesystem::path& directory, const std::string& host);

    void add(const std::vector<base::os::Row>& rows, const Job& job);

    // Writes the archive. In it, a thread is in a region while it is kept from running. If two interruptions overlap,
    // the later region begins where the first ends.
    void finish();

 private:
    void write_until(std::int64_t end_ns);
    otf2::LocationRecorder& location(std::int64_t thread);

    base::CsvWriter table_;
    otf2::Recorder recorder_;
    std::map<std::int64_t, otf2::LocationRecorder*> locations_;  // by thread
    std::map<std::int64_t, std::string> names_;
    // By begin; kept back, since interruptions that began earlier may still arrive.
    std::multimap<std::int64_t, base::os::Row> waiting_;
    std::int64_t newest_ns_ = 0;
};

}  // namespace os
