// SPDX-License-Identifier: Apache-2.0
#include "base/openmetrics.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace base {

namespace {

constexpr std::int64_t between_writes_ns = 5'000'000'000;

// Escapes help texts and label values. Quotes must be escaped in label values, and may be in help texts.
std::string escaped_text(const std::string& text)
{
    std::string safe;
    for (const char letter : text) {
        if (letter == '\\' || letter == '"') safe += '\\';
        if (letter == '\n')
            safe += "\\n";
        else
            safe += letter;
    }
    return safe;
}

std::string number_text(double value)
{
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string labels_text(const MetricFamily::Value& value)
{
    std::string text;
    for (const auto& [name, label] : value.labels)
        text += join(text.empty() ? "{" : ",", name, "=\"", escaped_text(label), "\"");
    return text.empty() ? "" : text + "}";
}

}  // namespace

std::string openmetrics(const std::vector<MetricFamily>& families)
{
    std::string text;
    for (const MetricFamily& family : families) {
        text += join("# TYPE ", family.name, family.counter ? " counter\n" : " gauge\n");
        if (!family.unit.empty()) text += join("# UNIT ", family.name, " ", family.unit, "\n");
        text += join("# HELP ", family.name, " ", escaped_text(family.help), "\n");
        for (const MetricFamily::Value& value : family.values)
            text += join(family.name, family.counter ? "_total" : "", labels_text(value), " ", number_text(value.value),
                         "\n");
    }
    return text + "# EOF\n";
}

void OpenMetricsFile::write(const std::vector<MetricFamily>& families, std::int64_t now_ns)
try {
    next_ns_ = now_ns + between_writes_ns;
    if (!path_.empty()) write_whole(path_, openmetrics(families));
} catch (const std::exception& error) {
    warn("metrics are no longer written to ", path_.string(), ": ", error.what());
    path_.clear();
}

std::filesystem::path openmetrics_file_of_process(const std::filesystem::path& file, int number_on_host)
{
    if (file.empty() || number_on_host == 0) return file;
    std::filesystem::path numbered = file;
    numbered.replace_extension(join(".", number_on_host, file.extension().string()));
    return numbered;
}

}  // namespace base
