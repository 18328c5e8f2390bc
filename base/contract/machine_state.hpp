// What of a machine may change from run to run: how fast its clock ticks, what its host takes away, how it makes pages.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace base {

// clocksource; huge_pages: when the kernel makes them; mhz: mean over CPUs, as /proc/cpuinfo has them; steal_s: of all
// CPUs since boot, in which the host ran something else; free_bytes: memory. What the kernel does not say is null.
nlohmann::ordered_json machine_state();

}  // namespace base
