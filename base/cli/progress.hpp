// SPDX-License-Identifier: Apache-2.0
// Progress of long work on stderr: a bar on a terminal, a plain line every 10 s elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace base {

class Progress {
 public:
    explicit Progress(std::string what);
    ~Progress();  // ends the bar's line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Prints the fraction (0..1) and the detail ("step 120 of 500, loss 0.31"), at most ten times a second, so it is
    // cheap.
    void show(double fraction, const std::string& detail);

    // Would show() print now? A caller may ask before it makes the detail.
    bool due() const;

 private:
    std::string what_;
    bool terminal_ = false;
    bool open_line_ = false;
    std::int64_t next_ns_ = 0;
};

}  // namespace base
