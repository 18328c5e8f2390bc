// The rows of results/bench, as a benchmark writes them: see results/bench/README.md.
#pragma once

#include "base/csv.hpp"
#include "testing/paired.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace base {
class Options;
}

namespace testing {

class BenchRows {
 public:
    // Of a benchmark's command line: --csv FILE, --machine NAME, --load TEXT, --run N. Without a file there are no
    // rows.
    void add_to(base::Options& options);
    // Creates the file, after the command line was read. Throws as CsvWriter.
    void open(const std::string& benchmark);

    // A ratio of pairs and what was aimed at: at most that.
    void at_most(const std::string& what, const std::string& beside, const Paired& found, const std::string& unit,
                 double aim);

    // One figure and what was aimed at: at most that.
    void at_most(const std::string& what, double found, const std::string& unit, double aim);

 private:
    void row(const std::string& what, const std::string& beside, const std::string& quantity, const std::string& unit,
             const std::string& value, const std::string& low = "", const std::string& high = "");
    void row(const std::string& what, const std::string& beside, const std::string& quantity, const std::string& unit,
             const Median& found);

    std::string file_;
    std::string machine_ = "vm";
    std::string load_ = "quiet";
    int run_ = 1;
    std::string benchmark_;
    std::string date_;
    std::optional<base::CsvWriter> rows_;
};

}  // namespace testing
