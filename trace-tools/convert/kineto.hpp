// Traces that PyTorch's profiler exports: the Chrome trace JSON of Kineto.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace convert {

struct Slice {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t region = 0;                         // index into KinetoTrace::regions
    std::array<std::int64_t, 3> numbers{-1, -1, -1};  // correlation, External id, bytes; -1: not stated
};

// One end of an arrow: from a launch to its kernel ("ac2g"), from an operator to its part of backward ("fwdbwd").
struct FlowEnd {
    std::int64_t at_ns = 0;
    std::int64_t id = 0;     // both ends have it
    std::uint32_t kind = 0;  // index into KinetoTrace::flow_kinds
};

struct KinetoRow {
    std::string name;
    bool device = false;
    std::vector<Slice> slices;
    std::vector<FlowEnd> flow_ends;
};

struct KinetoProcess {
    std::string name;
    std::map<std::string, KinetoRow> rows;  // by tid
    std::string launcher;                   // pid of the process that uses this device; empty: a process itself
};

struct KinetoTrace {
    std::vector<std::pair<std::string, std::string>> regions;  // name and category, in lower case
    std::vector<std::string> flow_kinds;
    std::map<std::string, KinetoProcess> processes;  // by pid
};

// Complete events ('X'), flows ('s', 't', 'f') and the names of processes and threads, to the nanosecond; a file that
// is compressed with gzip, too. Memory grows with the events, not with their text. Throws Error, one clear line, for
// what is no whole JSON, has no such event, or one whose time makes no sense.
KinetoTrace read_kineto(const std::filesystem::path& file);

}  // namespace convert
