// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/transport.hpp"

namespace ddl {

#define TRANSPORT(card) extern const TransportCard card;
#include "ddl-workloads/transports/transports.inc"
#undef TRANSPORT

const base::Registry<TransportCard>& transports()
{
    static const base::Registry<TransportCard> registry{"transport",
                                                        "ddl-train",
                                                        {
#define TRANSPORT(card) &(card),
#include "ddl-workloads/transports/transports.inc"
#undef TRANSPORT
                                                        }};
    return registry;
}

}  // namespace ddl
