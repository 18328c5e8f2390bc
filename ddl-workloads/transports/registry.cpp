#include "ddl-workloads/transports/transport.hpp"

namespace ddl {

#ifdef CROSSTALK_HAS_MPI
extern const TransportCard mpi_transport;
#endif
extern const TransportCard self_transport;
extern const TransportCard nccl_transport;
#ifdef CROSSTALK_HAS_GLOO
extern const TransportCard gloo_transport;
#endif

namespace {

std::vector<const TransportCard*> cards()
{
    std::vector<const TransportCard*> cards{&self_transport};
#ifdef CROSSTALK_HAS_MPI
    cards.insert(cards.begin(), &mpi_transport);
#endif
#ifdef CROSSTALK_HAS_GLOO
    cards.push_back(&gloo_transport);
#endif
    cards.push_back(&nccl_transport);
    return cards;
}

}  // namespace

const base::Registry<TransportCard>& transports()
{
    static const base::Registry<TransportCard> registry{"transport", "ddl-train", cards()};
    return registry;
}

}  // namespace ddl
