// SPDX-License-Identifier: Apache-2.0
// A call-path profile of all locations, as in Cube and pycubexr.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cube {

struct CubeMetric {
    enum class Kind {
        exclusive,  // values exclude those of child call paths
        inclusive,  // values include those of child call paths
        derived,    // computed by Cube from `expression` after the other metrics are aggregated
    };
    enum class Type { real, whole, signed_whole, least, most };  // DOUBLE, UINT64, INT64, MINDOUBLE, MAXDOUBLE
    std::string unique_name;                                     // "time"
    std::string display_name = {};                               // "Time"
    std::string unit = {};                                       // "sec", "occ"
    std::string description = {};
    Kind kind = Kind::exclusive;
    Type type = Type::real;
    std::string expression = {};  // CubePL: "metric::a()/metric::b()"
    // Index into CubeProfile::metrics of an earlier metric, whose values include those of this one.
    std::optional<std::size_t> parent = {};
    std::map<std::size_t, std::vector<double>> rows = {};  // by call path: a value per location; missing rows are 0
};

struct CubeRegion {
    std::string name;
    std::string paradigm = "unknown";
    std::string role = "unknown";
    auto operator<=>(const CubeRegion&) const = default;
};

struct CubeCallPath {
    std::size_t region = 0;                  // index into CubeProfile::regions
    std::optional<std::size_t> parent = {};  // index into CubeProfile::call_paths, smaller than its own; none: a root
};

struct CubeProcess {
    std::string name;
    std::string node;
    std::string kind = "process";  // process, metrics, accelerator
    std::int64_t rank = 0;
};

struct CubeLocation {
    std::string name;
    std::string kind = "thread";  // thread, gpu, metric
    std::size_t process = 0;      // index into CubeProfile::processes
};

struct CubeProfile {
    std::string machine;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<CubeMetric> metrics;
    std::vector<CubeRegion> regions;
    std::vector<CubeCallPath> call_paths{};
    std::vector<CubeProcess> processes;     // the processes of a node are adjacent
    std::vector<CubeLocation> locations{};  // the locations of a process are adjacent, in the order of processes
    std::vector<std::string> oddities{};    // noticed while reading: metrics whose values could not be read

    // Finds a metric by its unique name; nullptr if there is none.
    const CubeMetric* find_metric(const std::string& unique_name) const;
};

// Children of each call path, in order; the entry at call_paths.size() lists the roots.
std::vector<std::vector<std::size_t>> children_of(const std::vector<CubeCallPath>& call_paths);

// Call path of each possible row in a file, for metrics of this kind. Exclusive: depth first. Inclusive: depth first,
// but with the children of a call path adjacent.
std::vector<std::size_t> call_paths_by_row(const std::vector<CubeCallPath>& call_paths, CubeMetric::Kind kind);

// Puts an artificial root above all call paths, whose inclusive values are their sums.
void add_artificial_root(CubeProfile& profile);

// Adds an artificial root to a profile with several roots or none: readers of Cube files expect exactly one root.
void give_one_root(CubeProfile& profile);

// True for a root made by add_artificial_root().
bool is_artificial_root(const CubeProfile& profile, std::size_t call_path);

// Reorders the profile so that the processes of a node and the locations of a process are adjacent, as files require,
// and removes processes without locations. Returns the new index of each location. Call before values are added.
std::vector<std::size_t> put_in_order(CubeProfile& profile);

}  // namespace cube
