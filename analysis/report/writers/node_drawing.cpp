// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/node_drawing.hpp"

#include "analysis/report/writers/html_text.hpp"
#include "analysis/results/numbers.hpp"
#include "base/error.hpp"

#include <algorithm>

namespace analysis {

namespace {

using base::join;

constexpr std::size_t most_nodes = 8;
constexpr std::size_t most_squares = 1024;  // CPUs drawn for a node
constexpr int in_a_row = 16;
constexpr int pitch = 30;
constexpr int side = 26;

struct Owner {
    const char* css_class;
    const char* text;
};
constexpr Owner training{"had-training", "training rank"};
constexpr Owner noise{"had-noise", "noise"};
constexpr Owner both{"had-both", "training rank and noise"};
constexpr Owner nobody{"had-nobody", "nobody"};

Owner owner(const NodePlaces& node, int cpu)
{
    const bool trains = node.training.contains(cpu);
    const bool stressed = node.noise.contains(cpu);
    if (trains && stressed) return both;
    return trains ? training : stressed ? noise : nobody;
}

// All CPUs of the node if they are numbered without gaps, else the recorded ones.
base::CpuSet cpus_of(const NodePlaces& node)
{
    base::CpuSet cpus = node.training;
    cpus.insert(node.noise.begin(), node.noise.end());
    if (!cpus.empty() && *cpus.rbegin() < static_cast<int>(node.online))
        for (int cpu = 0; cpu < static_cast<int>(node.online); ++cpu) cpus.insert(cpu);
    return cpus;
}

std::string list_of(const base::CpuSet& cpus)
{
    return cpus.empty() ? "none" : base::format_cpus(cpus);
}

std::string drawing(const NodePlaces& node)
{
    const base::CpuSet cpus = cpus_of(node);
    if (cpus.size() > most_squares) return "";
    std::string squares;
    int at = 0;
    for (const int cpu : cpus) {
        const Owner had = owner(node, cpu);
        const int x = at % in_a_row * pitch + 2;
        const int y = at / in_a_row * pitch + 2;
        squares +=
            join(R"(<g><title>CPU )", cpu, ": ", had.text, R"(</title><rect class=")", had.css_class, R"(" x=")", x,
                 R"(" y=")", y, R"(" width=")", side, R"(" height=")", side, R"(" rx="4"/><text class="cpu" x=")",
                 x + side / 2, R"(" y=")", y + 17, R"(">)", cpu, "</text></g>");
        ++at;
    }
    const int width = std::min(at, in_a_row) * pitch;
    const int height = (at + in_a_row - 1) / in_a_row * pitch;
    const std::string description =
        join("Training ranks: ", list_of(node.training), ". Noise: ", list_of(node.noise), ".");
    return fill(R"(<div class="node"><b>{}</b><svg role="img" viewBox="0 0 {} {}" style="max-width:{}px">)"
                R"(<title>CPUs of {} by who had them</title><desc>{}</desc>{}</svg></div>
)",
                {escape(node.host), join(width), join(height), join(width), escape(node.host), description, squares});
}

std::string legend()
{
    std::string html;
    for (const Owner& one : {training, noise, both, nobody})
        html += fill(R"(<span class="key-word"><span class="dot {}"></span>{}</span> )", {one.css_class, one.text});
    return html;
}

}  // namespace

std::string node_drawing(const std::vector<NodePlaces>& nodes)
{
    std::string drawings;
    for (std::size_t n = 0; n < std::min(nodes.size(), most_nodes); ++n) drawings += drawing(nodes[n]);
    if (drawings.empty()) return "";
    std::string more = "A square is a CPU as the kernel counts them: a core, or one of its hardware threads.";
    if (nodes.size() > most_nodes)
        more += join(" ", counted(nodes.size() - most_nodes, "more node"), " in verdict.json.");
    return fill(R"(<div class="nodes">{}</div><p class="small">{}<br>{}</p>
)",
                {drawings, legend(), more});
}

}  // namespace analysis
