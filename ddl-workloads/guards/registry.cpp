#include "ddl-workloads/guards/guard.hpp"

namespace ddl {

extern const GuardCard range_guard;
extern const GuardCard norm_guard;
extern const GuardCard checksum_guard;
extern const GuardCard replicas_guard;

const base::Registry<GuardCard>& guard_registry()
{
    static const base::Registry<GuardCard> registry{
        "guard", "ddl-train", {&range_guard, &norm_guard, &checksum_guard, &replicas_guard}};
    return registry;
}

}  // namespace ddl
