// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/listing.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "soft-errors/state/hdf5.hpp"
#include "soft-errors/stored/mapped_store.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <span>
#include <string_view>

namespace soft_errors {

using hdf5::check;

namespace {

constexpr std::uint64_t most_chunks = 10'000'000;
constexpr std::uint64_t most_elements = std::uint64_t{1} << 48U;

// Thrown for a tensor that is left alone, with the reason.
struct Unfit {
    std::string why;
};

NumberFormat floating_format(hid_t type)
{
    std::size_t sign = 0;
    std::size_t exponent_at = 0;
    std::size_t exponent = 0;
    std::size_t fraction_at = 0;
    std::size_t fraction = 0;
    check(H5Tget_fields(type, &sign, &exponent_at, &exponent, &fraction_at, &fraction), "read a type's fields");
    const std::size_t bits = 8 * H5Tget_size(type);
    const bool usual = H5Tget_precision(type) == bits && H5Tget_offset(type) == 0 && sign == bits - 1 &&
                       fraction_at == 0 && exponent_at == fraction && H5Tget_norm(type) == H5T_NORM_IMPLIED &&
                       H5Tget_ebias(type) == (std::size_t{1} << (exponent - 1)) - 1;
    for (const NumberFormat& known : {float16, bfloat16, float32, float64})
        if (usual && bits == static_cast<std::size_t>(known.bits()) &&
            exponent == static_cast<std::size_t>(known.exponent_bits))
            return known;
    throw Unfit{base::join("floating point of ", bits, " bits, ", exponent, " of them the exponent")};
}

NumberFormat whole_format(hid_t type)
{
    const std::size_t bytes = H5Tget_size(type);
    if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || H5Tget_precision(type) != 8 * bytes)
        throw Unfit{"integers of an unusual size"};
    const bool has_sign = H5Tget_sign(type) == H5T_SGN_2;
    return {.kind = has_sign ? NumberFormat::Kind::whole : NumberFormat::Kind::natural,
            .bytes = static_cast<int>(bytes),
            .exponent_bits = 0};
}

NumberFormat number_format(hid_t type)
{
    NumberFormat format;
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_OPAQUE && H5Tget_size(type) == 2) return bfloat16;
    if (kind == H5T_FLOAT)
        format = floating_format(type);
    else if (kind == H5T_INTEGER)
        format = whole_format(type);
    else
        throw Unfit{kind == H5T_STRING ? "text" : kind == H5T_COMPOUND ? "a compound type" : "not numeric"};
    const H5T_order_t order = H5Tget_order(type);
    if (order != H5T_ORDER_LE && order != H5T_ORDER_BE && format.bytes > 1) throw Unfit{"an unusual byte order"};
    format.big_endian = order == H5T_ORDER_BE && format.bytes > 1;
    return format;
}

void read_shape(hid_t set, Tensor& tensor)
{
    const hdf5::Space space{check(H5Dget_space(set), "read a shape")};
    if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) throw Unfit{"empty"};
    tensor.shape.resize(H5S_MAX_RANK);
    static_assert(sizeof(hsize_t) == sizeof(std::uint64_t));
    const int rank =
        check(H5Sget_simple_extent_dims(space.get(), reinterpret_cast<hsize_t*>(tensor.shape.data()), nullptr),
              "read a shape");
    tensor.shape.resize(static_cast<std::size_t>(rank));
    for (const std::uint64_t size : tensor.shape) {
        if (size == 0) throw Unfit{"empty"};
        if (size > most_elements / tensor.elements) throw Unfit{"larger than supported"};
        tensor.elements *= size;
    }
}

// True if the dataset has no filters.
bool check_filters(hid_t properties)
{
    const int filters = check(H5Pget_nfilters(properties), "read the filters");
    for (int i = 0; i < filters; ++i) {
        unsigned flags = 0;
        unsigned configuration = 0;
        std::size_t values = 0;
        std::array<char, 64> name{};
        const H5Z_filter_t filter = check(H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr,
                                                         name.size() - 1, name.data(), &configuration),
                                          "read a filter");
        if (filter == H5Z_FILTER_SCALEOFFSET || filter == H5Z_FILTER_NBIT)
            throw Unfit{"its filter is lossy (" + std::string{name.data()} + ")"};
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
            throw Unfit{base::join("its filter is unknown (", filter, " ", name.data(), ")")};
    }
    return filters == 0;
}

void find_chunks(hid_t set, hid_t properties, bool unfiltered, const StoredFile& file, Tensor& tensor)
{
    tensor.chunk.resize(tensor.shape.size());
    check(H5Pget_chunk(properties, static_cast<int>(tensor.chunk.size()),
                       reinterpret_cast<hsize_t*>(tensor.chunk.data())),
          "read the shape of chunks");
    std::uint64_t chunks = 1;
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        if (tensor.chunk[i] == 0) base::fail("has chunks of size 0");
        chunks *= (tensor.shape[i] + tensor.chunk[i] - 1) / tensor.chunk[i];
        elements *= tensor.chunk[i];
    }
    if (chunks > most_chunks) throw Unfit{base::join("has ", chunks, " chunks")};
    const hdf5::Space space{check(H5Dget_space(set), "read a shape")};
    hsize_t there = 0;
    check(H5Dget_num_chunks(set, space.get(), &there), "count the chunks");
    if (!unfiltered || there != chunks) return;
    tensor.chunks_at.assign(chunks, 0);
    const std::uint64_t bytes = elements * static_cast<std::uint64_t>(tensor.format.bytes);
    for (hsize_t i = 0; i < there; ++i) {
        std::vector<hsize_t> begin(tensor.shape.size());
        unsigned mask = 0;
        haddr_t at = 0;
        hsize_t size = 0;
        check(H5Dget_chunk_info(set, space.get(), i, begin.data(), &mask, &at, &size), "find a chunk");
        std::uint64_t index = 0;
        for (std::size_t d = 0; d < begin.size(); ++d) index = index * tensor.shape[d] + begin[d];
        if (size != bytes || at > file.bytes || bytes > file.bytes - at || index >= tensor.elements)
            base::fail("has a chunk outside of its file");
        tensor.chunks_at[in_chunk(tensor, index).chunk] = at;
    }
    tensor.layout = Tensor::Layout::chunks;
}

void find_bytes(hid_t set, const StoredFile& file, bool user_block, Tensor& tensor)
{
    const hdf5::Properties properties{check(H5Dget_create_plist(set), "read its properties")};
    if (check(H5Pget_external_count(properties.get()), "read its properties") != 0)
        throw Unfit{"lies in other files (external storage)"};
    const H5D_layout_t layout = H5Pget_layout(properties.get());
    if (layout == H5D_VIRTUAL) throw Unfit{"is a virtual dataset"};
    const bool unfiltered = check_filters(properties.get());
    tensor.chunk = tensor.shape;
    if (layout == H5D_CHUNKED) return find_chunks(set, properties.get(), unfiltered && !user_block, file, tensor);
    const haddr_t at = layout == H5D_CONTIGUOUS ? H5Dget_offset(set) : HADDR_UNDEF;
    if (at == HADDR_UNDEF) {  // stored in the object header, or not allocated yet
        if (tensor.elements > file.bytes) throw Unfit{"was never written"};
        return;
    }
    const std::uint64_t bytes = tensor.elements * static_cast<std::uint64_t>(tensor.format.bytes);
    if (at > file.bytes || bytes > file.bytes - at) base::fail("lies outside of its file: damaged or cut off");
    tensor.at = at;
    tensor.layout = Tensor::Layout::plain;
}

void read_checksum(hid_t set, Tensor& tensor)
{
    if (H5Aexists(set, base::checkpoint::checksum) <= 0) return;
    const hdf5::Attribute attribute{check(H5Aopen(set, base::checkpoint::checksum, H5P_DEFAULT), "open its checksum")};
    const hdf5::Type type{check(H5Aget_type(attribute.get()), "read its checksum")};
    const hdf5::Space space{check(H5Aget_space(attribute.get()), "read its checksum")};
    if (H5Tget_class(type.get()) != H5T_INTEGER || H5Sget_simple_extent_npoints(space.get()) != 1) return;
    std::uint32_t value = 0;
    check(H5Aread(attribute.get(), H5T_NATIVE_UINT32, &value), "read its checksum");
    tensor.crc32c = value;
}

// State shared by the visits of all objects and links. HDF5 is C, so an exception is stored here until it returns.
struct Visit {
    hid_t file;
    const StoredFile& stored;
    bool user_block;
    Listing listing;
    std::map<haddr_t, std::string> linked;  // path by address, of objects with several hard links
    std::exception_ptr failure;
};

void take(Visit& visit, const char* name)
try {
    const hdf5::DataSet set{check(H5Dopen2(visit.file, name, H5P_DEFAULT), "open it")};
    const hdf5::Type type{check(H5Dget_type(set.get()), "read its type")};
    Tensor tensor;
    tensor.path = name;
    tensor.format = number_format(type.get());
    tensor.opaque = H5Tget_class(type.get()) == H5T_OPAQUE;
    read_shape(set.get(), tensor);
    find_bytes(set.get(), visit.stored, visit.user_block, tensor);
    if (visit.listing.ours) read_checksum(set.get(), tensor);
    visit.listing.tensors.push_back(std::move(tensor));
} catch (const Unfit& unfit) {
    visit.listing.left_alone.push_back({name, unfit.why});
} catch (const base::Error& error) {
    base::fail(visit.stored.path.string(), ": /", name, ": ", error.what());
}

template <class Work>
herr_t guarded(void* data, const Work& work)
{
    auto& visit = *static_cast<Visit*>(data);
    try {
        work(visit);
        return 0;
    } catch (...) {
        visit.failure = std::current_exception();
        return -1;
    }
}

herr_t visit_object(hid_t, const char* name, const H5O_info_t* info, void* data)
{
    if (info->type != H5O_TYPE_DATASET) return 0;
    return guarded(data, [&](Visit& visit) {
        if (info->rc > 1) visit.linked[info->addr] = name;
        take(visit, name);
    });
}

herr_t visit_link(hid_t group, const char* name, const H5L_info_t* info, void* data)
{
    if (info->type == H5L_TYPE_HARD)
        return guarded(data, [&](Visit& visit) {
            const auto found = visit.linked.find(info->u.address);
            if (found != visit.linked.end() && found->second != name)
                visit.listing.left_alone.push_back({name, "is " + found->second + ", linked a second time"});
        });
    if (info->type != H5L_TYPE_EXTERNAL) return 0;
    return guarded(data, [&](Visit& visit) {
        std::string value(info->u.val_size, '\0');
        unsigned flags = 0;
        const char* file = nullptr;
        const char* path = nullptr;
        check(H5Lget_val(group, name, value.data(), value.size(), H5P_DEFAULT), "read the link ", name);
        check(H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &path), "read the link ", name);
        visit.listing.links.push_back({name, file, path});
    });
}

// HDF5 1.10 and later mark a file while it is open for writing (superblock version 3), and a killed writer leaves the
// mark. Our store would ignore and clear it, so it is checked here.
bool is_open_for_writing(const MappedStore& store, std::uint64_t bytes)
{
    constexpr std::string_view signature{"\211HDF\r\n\032\n", 8};
    constexpr std::uint64_t first_user_block = 512;
    std::array<char, 12> head{};  // signature, version, sizes of addresses and of lengths, flags
    for (std::uint64_t at = 0; at + head.size() <= bytes; at = std::max(first_user_block, 2 * at)) {
        store.read(at, std::as_writable_bytes(std::span{head}));
        if (std::string_view{head.data(), signature.size()} == signature) return head[8] >= 3 && head[11] != 0;
    }
    return false;
}

bool is_ours(hid_t file)
{
    if (H5Lexists(file, base::checkpoint::meta, H5P_DEFAULT) <= 0) return false;
    const hdf5::Object meta{H5Oopen(file, base::checkpoint::meta, H5P_DEFAULT)};
    return meta.valid() && H5Aexists(meta.get(), base::checkpoint::steps_per_epoch) > 0 &&
           H5Aexists(meta.get(), base::checkpoint::program) > 0;
}

bool has_user_block(hid_t file)
{
    const hdf5::Properties made{check(H5Fget_create_plist(file), "read the file's properties")};
    hsize_t bytes = 0;
    check(H5Pget_userblock(made.get(), &bytes), "read the file's properties");
    return bytes != 0;
}

}  // namespace

Listing list(const StoredFile& file)
{
    const hdf5::Lock lock;
    MappedStore store{file};
    if (is_open_for_writing(store, file.bytes))
        base::fail(file.path.string(),
                   " is open for writing, or its writer was killed: if no writer runs, h5clear -s clears the flag");
    const hdf5::Properties access = hdf5::access_through(&store);
    const hdf5::File opened{H5Fopen(file.path.c_str(), H5F_ACC_RDONLY, access.get())};
    if (!opened.valid())
        base::fail(file.path.string(), " is damaged or cut off: HDF5 cannot open it (", hdf5::why(), ")");
    Visit visit{opened.get(), file, has_user_block(opened.get()), {}, {}, {}};
    visit.listing.ours = is_ours(opened.get());
    const herr_t objects = H5Ovisit2(opened.get(), H5_INDEX_NAME, H5_ITER_INC, visit_object, &visit, H5O_INFO_BASIC);
    if (visit.failure) std::rethrow_exception(visit.failure);
    if (objects < 0) base::fail(file.path.string(), " is damaged: HDF5 cannot list it (", hdf5::why(), ")");
    const herr_t links = H5Lvisit(opened.get(), H5_INDEX_NAME, H5_ITER_INC, visit_link, &visit);
    if (visit.failure) std::rethrow_exception(visit.failure);
    if (links < 0) base::fail(file.path.string(), " is damaged: HDF5 cannot list it (", hdf5::why(), ")");
    const auto by_path = [](const auto& left, const auto& right) { return left.path < right.path; };
    std::ranges::sort(visit.listing.tensors, by_path);
    return std::move(visit.listing);
}

std::string packed_listing(const Listing& listing)
{
    using nlohmann::json;
    json all;
    all["ours"] = listing.ours;
    all["tensors"] = json::array();
    for (const Tensor& one : listing.tensors)
        all["tensors"].push_back({one.path, format_name(one.format), one.shape, static_cast<int>(one.layout), one.at,
                                  one.chunk, one.chunks_at, one.crc32c.has_value(), one.crc32c.value_or(0),
                                  one.opaque});
    all["left_alone"] = json::array();
    for (const LeftAlone& one : listing.left_alone) all["left_alone"].push_back({one.path, one.why});
    all["links"] = json::array();
    for (const OtherFileLink& one : listing.links) all["links"].push_back({one.path, one.file, one.path_there});
    const std::vector<std::uint8_t> bytes = json::to_cbor(all);
    return {bytes.begin(), bytes.end()};
}

Listing unpacked_listing(const std::string& bytes)
{
    const nlohmann::json all = nlohmann::json::from_cbor(bytes.begin(), bytes.end());
    Listing listing;
    listing.ours = all.at("ours");
    for (const auto& one : all.at("tensors")) {
        Tensor tensor;
        tensor.path = one.at(0);
        tensor.format = format_named(one.at(1)).value();
        tensor.shape = one.at(2).get<std::vector<std::uint64_t>>();
        for (const std::uint64_t size : tensor.shape) tensor.elements *= size;
        tensor.layout = static_cast<Tensor::Layout>(one.at(3).get<int>());
        tensor.at = one.at(4);
        tensor.chunk = one.at(5).get<std::vector<std::uint64_t>>();
        tensor.chunks_at = one.at(6).get<std::vector<std::uint64_t>>();
        if (one.at(7).get<bool>()) tensor.crc32c = one.at(8).get<std::uint32_t>();
        tensor.opaque = one.at(9);
        listing.tensors.push_back(std::move(tensor));
    }
    for (const auto& one : all.at("left_alone")) listing.left_alone.push_back({one.at(0), one.at(1)});
    for (const auto& one : all.at("links")) listing.links.push_back({one.at(0), one.at(1), one.at(2)});
    return listing;
}

}  // namespace soft_errors
