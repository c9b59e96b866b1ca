// One dispatch: words in, words out. The words are the groups, the size of a group, the number of buffers, and for each
// its index, its length, its content, and its addresses: how many, and for each its place and the index of its buffer;
// then how many more indices are of such buffers, and for each the index and that of the buffer.
#pragma once
#include <cstdlib>
#include "metal_stdlib"

using Kernel = void (*)(const Invocation&, char**);

struct Dispatch {
    Kernel run;
    Invocation first;
    std::vector<std::vector<uint32_t>> contents;
    char* buffers[64];
};
inline Dispatch dispatched;

inline uint32_t word() {
    uint32_t read = 0;
    if (std::fread(&read, 4, 1, stdin) != 1) std::exit(2);
    return read;
}

inline void one(int index) {
    Invocation at = dispatched.first;
    at.index = index;
    at.local[0] = index % at.size[0];
    at.local[1] = index / at.size[0] % at.size[1];
    at.local[2] = index / (at.size[0] * at.size[1]);
    dispatched.run(at, dispatched.buffers);
}

inline int dispatch(Kernel run) {
    dispatched.run = run;
    Invocation& at = dispatched.first;
    for (auto& count : at.groups) count = word();
    for (auto& count : at.size) count = word();
    dispatched.contents.resize(word());
    std::vector<size_t> lengths;
    struct Address { size_t buffer; uint32_t place, of; };
    std::vector<Address> addresses;
    for (auto& content : dispatched.contents) {
        uint32_t index = word(), length = word();
        lengths.push_back(length);
        // Room for what a block declares beyond what is bound.
        content.resize(length + 4096, 0xdddddddd);
        for (uint32_t i = 0; i < length; i++) content[i] = word();
        dispatched.buffers[index] = (char*)content.data();
        for (uint32_t count = word(); count > 0; count--) {
            uint32_t place = word(), of = word();
            addresses.push_back({lengths.size() - 1, place, of});
        }
    }
    for (uint32_t count = word(); count > 0; count--) {
        uint32_t index = word(), other = word();
        dispatched.buffers[index] = dispatched.buffers[other];
    }
    for (auto& [buffer, place, of] : addresses)
        std::memcpy(&dispatched.contents[buffer][place], &dispatched.buffers[of], sizeof(char*));
    for (at.group[2] = 0; at.group[2] < at.groups[2]; at.group[2]++)
        for (at.group[1] = 0; at.group[1] < at.groups[1]; at.group[1]++)
            for (at.group[0] = 0; at.group[0] < at.groups[0]; at.group[0]++) {
                metal::run_threads(int(at.size[0] * at.size[1] * at.size[2]), one);
            }
    for (size_t i = 0; i < lengths.size(); i++) std::fwrite(dispatched.contents[i].data(), 4, lengths[i], stdout);
    return 0;
}
