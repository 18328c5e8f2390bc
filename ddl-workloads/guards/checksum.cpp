// SPDX-License-Identifier: Apache-2.0
// Checks that the state used by forward is bitwise the one that the last update left.
#include "ddl-workloads/guards/guard.hpp"

namespace ddl {

namespace {

class Checksum : public Guard {
 public:
    bool remembers_update() const override { return true; }
    void after_update(StateLook& look) override { updated_ = look.checksums(); }

    std::vector<Finding> before_forward(StateLook& look) override
    {
        std::vector<Finding> found;
        if (updated_.empty()) return found;
        for (std::size_t i = 0; i < updated_.size(); ++i)
            if (look.checksums()[i] != updated_[i]) found.push_back({i, "changed since the update"});
        return found;
    }

 private:
    std::vector<std::uint32_t> updated_;  // after the last update, by tensor
};

}  // namespace

extern const GuardCard checksum_guard{
    .name = "checksum",
    .summary = "before forward: tensors whose CRC-32C changed since the update",
    .options = {},
    .make = [](const base::Settings&) -> std::unique_ptr<Guard> { return std::make_unique<Checksum>(); },
};

}  // namespace ddl
