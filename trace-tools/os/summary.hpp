// SPDX-License-Identifier: Apache-2.0
// Interruptions summed up by cause and task, as a table for the terminal.
#pragma once

#include "base/contract/os_table.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace os {

class Summary {
 public:
    void add(const std::vector<base::os::Row>& rows);

    // Sum of a cause of a source.
    std::int64_t ns_of(const std::string& source, const std::string& cause) const;

    // Lists the causes with the most time first, at most `most` lines for each source. `rest` says where the others
    // are.
    std::string text(double seconds, std::size_t most, const std::string& rest) const;

 private:
    struct Sum {
        std::int64_t count = 0;
        std::int64_t ns = 0;
        std::int64_t longest_ns = 0;
        std::set<std::int64_t> cpus;
    };
    struct Key {
        std::string source;
        std::string cause;
        std::string by;
        auto operator<=>(const Key&) const = default;
    };
    std::map<Key, Sum> sums_;
};

}  // namespace os
