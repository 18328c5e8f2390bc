// SPDX-License-Identifier: Apache-2.0
#include "base/contract/run_record.hpp"
#include "base/files.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

#include <unistd.h>

namespace base {

namespace {

using Json = nlohmann::ordered_json;

Json word_in(const char* path)
{
    std::ifstream file{path};
    std::string line;
    if (!std::getline(file, line)) return nullptr;
    return line;
}

// The word in brackets of "always [madvise] never".
Json huge_pages()
{
    const Json line = word_in("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!line.is_string()) return nullptr;
    const auto text = line.get<std::string>();
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    return open == std::string::npos || close < open ? Json(text) : Json(text.substr(open + 1, close - open - 1));
}

Json mean_mhz()
{
    double sum = 0.0;
    int cpus = 0;
    for (const std::string& line : lines_in("/proc/cpuinfo"))
        if (line.starts_with("cpu MHz")) {
            sum += std::stod(line.substr(line.find(':') + 1));
            ++cpus;
        }
    return cpus == 0 ? Json(nullptr) : Json(sum / cpus);
}

Json steal_s()
{
    std::ifstream file{"/proc/stat"};
    std::string name;
    double ticks = 0.0;
    file >> name;
    for (int column = 0; column < 8; ++column) file >> ticks;  // the eighth column is steal
    return file ? Json(ticks / static_cast<double>(::sysconf(_SC_CLK_TCK))) : Json(nullptr);
}

Json free_bytes()
{
    for (const std::string& line : lines_in("/proc/meminfo"))
        if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(line.find(':') + 1)) * 1024;
    return nullptr;
}

}  // namespace

Json machine_state()
{
    return {{"clocksource", word_in("/sys/devices/system/clocksource/clocksource0/current_clocksource")},
            {"huge_pages", huge_pages()},
            {"mhz", mean_mhz()},
            {"steal_s", steal_s()},
            {"free_bytes", free_bytes()}};
}

}  // namespace base
