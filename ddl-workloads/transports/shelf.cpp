#include "ddl-workloads/transports/link.hpp"

namespace ddl {

extern const LinkCard mpi_link;
extern const LinkCard self_link;
#ifdef CROSSTALK_HAS_GLOO
extern const LinkCard gloo_link;
#endif

namespace {

std::vector<const LinkCard*> cards()
{
    std::vector<const LinkCard*> cards{&mpi_link, &self_link};
#ifdef CROSSTALK_HAS_GLOO
    cards.push_back(&gloo_link);
#endif
    return cards;
}

}  // namespace

const base::Shelf<LinkCard>& links()
{
    static const base::Shelf<LinkCard> shelf{"transport", "ddl-train", cards()};
    return shelf;
}

}  // namespace ddl
