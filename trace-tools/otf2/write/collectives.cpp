// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/write/team.hpp"

#include <cstring>
#include <string_view>

// An opaque type to OTF2.
struct OTF2_CollectiveContext {
    otf2::Team& team;
};

namespace otf2 {

namespace {

std::size_t bytes_of(std::uint32_t elements, OTF2_Type type)
{
    switch (type) {
        case OTF2_TYPE_UINT8:
        case OTF2_TYPE_INT8:
            return elements;
        case OTF2_TYPE_UINT16:
        case OTF2_TYPE_INT16:
            return std::size_t{elements} * 2;
        case OTF2_TYPE_UINT32:
        case OTF2_TYPE_INT32:
        case OTF2_TYPE_FLOAT:
            return std::size_t{elements} * 4;
        default:
            return std::size_t{elements} * 8;
    }
}

std::string bytes_at(const void* data, std::size_t count)
{
    return {static_cast<const char*>(data), count};
}

bool put(std::string_view bytes, void* data, std::size_t expected)
{
    if (bytes.size() != expected) return false;
    std::memcpy(data, bytes.data(), expected);
    return true;
}

// Exceptions must not pass through OTF2's C code.
template <class Work>
OTF2_CallbackCode safely(std::uint32_t root, const Work& work)
{
    try {
        return root == OTF2_COLLECTIVES_ROOT && work() ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR;
    } catch (...) {
        return OTF2_CALLBACK_ERROR;
    }
}

OTF2_CallbackCode get_size(void*, OTF2_CollectiveContext* context, std::uint32_t* size)
{
    *size = static_cast<std::uint32_t>(context->team.size());
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode get_rank(void*, OTF2_CollectiveContext* context, std::uint32_t* rank)
{
    *rank = static_cast<std::uint32_t>(context->team.rank());
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode barrier(void*, OTF2_CollectiveContext* context)
{
    return safely(OTF2_COLLECTIVES_ROOT, [&] {
        context->team.barrier();
        return true;
    });
}

OTF2_CallbackCode broadcast(void*, OTF2_CollectiveContext* context, void* data, std::uint32_t elements, OTF2_Type type,
                            std::uint32_t root)
{
    return safely(root, [&] {
        const std::size_t bytes = bytes_of(elements, type);
        return put(context->team.broadcast(bytes_at(data, bytes)), data, bytes);
    });
}

OTF2_CallbackCode gather_varying(void*, OTF2_CollectiveContext* context, const void* in, std::uint32_t in_elements,
                                 void* out, const std::uint32_t* out_elements, OTF2_Type type, std::uint32_t root)
{
    return safely(root, [&] {
        const std::vector<std::string> parts = context->team.gather(bytes_at(in, bytes_of(in_elements, type)));
        std::size_t at = 0;
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
            const std::size_t bytes = bytes_of(out_elements[rank], type);
            if (!put(parts[rank], static_cast<char*>(out) + at, bytes)) return false;
            at += bytes;
        }
        return true;
    });
}

OTF2_CallbackCode gather(void* data, OTF2_CollectiveContext* context, const void* in, void* out, std::uint32_t elements,
                         OTF2_Type type, std::uint32_t root)
{
    const std::vector<std::uint32_t> all(static_cast<std::size_t>(context->team.size()), elements);
    return gather_varying(data, context, in, elements, out, all.data(), type, root);
}

// Every rank receives all parts and keeps its own: a few bytes for each rank, once for each archive.
OTF2_CallbackCode scatter_varying(void*, OTF2_CollectiveContext* context, const void* in,
                                  const std::uint32_t* in_elements, void* out, std::uint32_t out_elements,
                                  OTF2_Type type, std::uint32_t root)
{
    return safely(root, [&] {
        const auto size = static_cast<std::size_t>(context->team.size());
        std::string counts(size * sizeof(std::uint32_t), '\0');
        std::string all;
        if (context->team.rank() == 0) {
            std::memcpy(counts.data(), in_elements, counts.size());
            std::size_t bytes = 0;
            for (std::size_t rank = 0; rank < size; ++rank) bytes += bytes_of(in_elements[rank], type);
            all = bytes_at(in, bytes);
        }
        counts = context->team.broadcast(counts);
        all = context->team.broadcast(all);
        std::size_t at = 0;
        for (int rank = 0; rank < context->team.rank(); ++rank) {
            std::uint32_t elements = 0;
            std::memcpy(&elements, counts.data() + static_cast<std::size_t>(rank) * sizeof elements, sizeof elements);
            at += bytes_of(elements, type);
        }
        const std::size_t bytes = bytes_of(out_elements, type);
        return at + bytes <= all.size() && put(std::string_view{all}.substr(at, bytes), out, bytes);
    });
}

OTF2_CallbackCode scatter(void* data, OTF2_CollectiveContext* context, const void* in, void* out,
                          std::uint32_t elements, OTF2_Type type, std::uint32_t root)
{
    const std::vector<std::uint32_t> all(static_cast<std::size_t>(context->team.size()), elements);
    return scatter_varying(data, context, in, all.data(), out, elements, type, root);
}

// Each process writes its own files, so OTF2 never needs a group of processes that share one.
OTF2_CallbackCode create_local(void*, OTF2_CollectiveContext**, OTF2_CollectiveContext*, std::uint32_t, std::uint32_t,
                               std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)
{
    return OTF2_CALLBACK_ERROR;
}

OTF2_CallbackCode free_local(void*, OTF2_CollectiveContext*)
{
    return OTF2_CALLBACK_SUCCESS;
}

void release(void*, OTF2_CollectiveContext* global, OTF2_CollectiveContext*)
{
    delete global;
}

}  // namespace

void use_team(OTF2_Archive* archive, Team& team)
{
    static const OTF2_CollectiveCallbacks callbacks{.otf2_release = release,
                                                    .otf2_get_size = get_size,
                                                    .otf2_get_rank = get_rank,
                                                    .otf2_create_local_comm = create_local,
                                                    .otf2_free_local_comm = free_local,
                                                    .otf2_barrier = barrier,
                                                    .otf2_bcast = broadcast,
                                                    .otf2_gather = gather,
                                                    .otf2_gatherv = gather_varying,
                                                    .otf2_scatter = scatter,
                                                    .otf2_scatterv = scatter_varying};
    auto context = std::make_unique<OTF2_CollectiveContext>(OTF2_CollectiveContext{team});
    check(OTF2_Archive_SetCollectiveCallbacks(archive, &callbacks, nullptr, context.get(), nullptr),
          "write an archive together");
    static_cast<void>(context.release());  // the archive releases it now
}

}  // namespace otf2
