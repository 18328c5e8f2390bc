// Events of many locations in the order of time, out of a file to which they were put aside location by location.
// OTF2's own reader does that only with a chunk in memory for each location; here it takes some KiB for each, and about
// half the archive's size on disk.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace otf2 {

// Takes all events of one location, then all of the next one.
class Spill : public Visitor {
 public:
    // In an unnamed file in the directory. Throws std::system_error if none can be made, and where the disk is full.
    Spill(const Archive& archive, const struct ReferenceTable& references, const std::filesystem::path& directory);
    ~Spill() override;
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;

    // All of them, in the order of time; ties by location.
    void read(Visitor& visitor);

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override;
    void collective_begin(const At& at) override;
    void collective_end(const At& at, const CollectiveRecord& record) override;
    void collective_request(const At& at, std::uint64_t request) override;
    void collective_complete(const At& at, const CollectiveRecord& record) override;
    void send(const At& at, const MessageRecord& message) override;
    void send_complete(const At& at, std::uint64_t request) override;
    void receive_request(const At& at, std::uint64_t request) override;
    void receive(const At& at, const MessageRecord& message) override;
    void buffer_flush(const At& at, std::int64_t end_ns) override;
    void other(const At& at) override;

 private:
    enum class Kind : std::uint8_t;
    class Cursor;

    struct Section {  // of the file: one location's events
        std::uint32_t location = 0;
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    void begin(Kind kind, const At& at);
    void put(std::uint64_t number);
    void put(const CollectiveRecord& record);
    void put(const MessageRecord& message);
    void put(const EventAttributes& attributes);
    void write_out();

    const Archive& archive_;
    const ReferenceTable& references_;
    int file_ = -1;
    std::string unwritten_;
    std::uint64_t written_ = 0;  // bytes
    std::vector<Section> sections_;
    std::int64_t last_ns_ = 0;  // of the last section
};

}  // namespace otf2
