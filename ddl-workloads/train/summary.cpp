// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/summary.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/trials.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace ddl {

namespace {

std::string digits(const char* format, double number)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, std::isnan(number) ? std::abs(number) : number);  // no "-nan"
    return text.data();
}

// Phases that take at least 1 % of a step, as a text such as "forward 33 %, backward 66 %".
std::string shares(const nlohmann::ordered_json& result)
{
    std::vector<std::string> words;
    const auto step_ms = result.at("mean_step_ms").get<double>();
    for (const auto& [phase, ms] : result.at("phases_ms").items())
        if (const double percent = 100.0 * ms.get<double>() / step_ms; percent >= 1.0)
            words.push_back(phase + digits(" %.0f %%", percent));
    return base::join_words(words, ", ");
}

std::string learnt(const nlohmann::ordered_json& result)
{
    if (result.at("loss").is_null()) return {};
    std::string words = digits(", loss %.4g", result["loss"].get<double>());
    if (!result.at("accuracy").is_null())
        words += digits(", accuracy %.1f %%", 100.0 * result["accuracy"].get<double>());
    return words;
}

}  // namespace

void print(std::ostream& out, const nlohmann::ordered_json& result, int ranks, const std::filesystem::path& directory)
{
    const auto steps = result.at("steps").get<std::int64_t>();
    if (result.contains("trials")) {
        const auto& trials = result.at("trials");
        out << trials.at("ended").get<std::int64_t>() << " of " << trials.at("count").get<std::int64_t>()
            << " trials ended, " << trials.at("crashed").get<std::int64_t>() << " of them crashed; "
            << base::printable((directory / base::part::train / base::file::outcomes).string()) << "\n";
        return;
    }
    out << steps << (steps == 1 ? " step" : " steps") << " on " << ranks
        << (ranks == 1 ? " rank (mpirun -n 2 ddl-train .. trains on two)" : " ranks")
        << ", ended by: " << result.at("ended_by").get<std::string>() << learnt(result) << "\n";
    if (steps > 0)
        out << digits("%.4g ms a step, ", result.at("mean_step_ms").get<double>())
            << digits("%.4g samples/s: ", result.at("samples_per_s").get<double>()) << shares(result) << "\n";
    out << "records: " << base::printable((directory / base::part::train).string()) << "\n";
}

}  // namespace ddl
