#include "ddl-workloads/transports/link.hpp"

namespace ddl {

extern const LinkCard mpi_link;
extern const LinkCard self_link;

const base::Shelf<LinkCard>& links()
{
    static const base::Shelf<LinkCard> shelf{"transport", "ddl-train", {&mpi_link, &self_link}};
    return shelf;
}

}  // namespace ddl
