#include "ddl-workloads/transports/transport.hpp"

namespace ddl {

extern const TransportCard mpi_transport;
extern const TransportCard self_transport;
#ifdef CROSSTALK_HAS_GLOO
extern const TransportCard gloo_transport;
#endif

namespace {

std::vector<const TransportCard*> cards()
{
    std::vector<const TransportCard*> cards{&mpi_transport, &self_transport};
#ifdef CROSSTALK_HAS_GLOO
    cards.push_back(&gloo_transport);
#endif
    return cards;
}

}  // namespace

const base::Registry<TransportCard>& transports()
{
    static const base::Registry<TransportCard> registry{"transport", "ddl-train", cards()};
    return registry;
}

}  // namespace ddl
