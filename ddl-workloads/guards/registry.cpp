// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/guard.hpp"

namespace ddl {

#define GUARD(card) extern const GuardCard card;
#include "ddl-workloads/guards/guards.inc"
#undef GUARD

const base::Registry<GuardCard>& guard_registry()
{
    static const base::Registry<GuardCard> registry{"guard",
                                                    "ddl-train",
                                                    {
#define GUARD(card) &(card),
#include "ddl-workloads/guards/guards.inc"
#undef GUARD
                                                    }};
    return registry;
}

}  // namespace ddl
