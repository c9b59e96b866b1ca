// One dispatch: words in, words out. The words are the groups, the size of a group, the number of buffers, and for each
// its index, its length and its content.
#pragma once
#include <cstdlib>
#include "metal_stdlib"

/// Bytes of a variable in the memory of a workgroup.
constexpr size_t SHARED = 65536;

using Kernel = void (*)(const Invocation&, char**, char*);

struct Dispatch {
    Kernel run;
    Invocation first;
    std::vector<std::vector<uint32_t>> contents;
    char* buffers[32];
    std::vector<uint32_t> shared;
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
    dispatched.run(at, dispatched.buffers, (char*)dispatched.shared.data());
}

inline int dispatch(Kernel run) {
    dispatched.run = run;
    Invocation& at = dispatched.first;
    for (auto& count : at.groups) count = word();
    for (auto& count : at.size) count = word();
    dispatched.contents.resize(word());
    std::vector<size_t> lengths;
    for (auto& content : dispatched.contents) {
        uint32_t index = word(), length = word();
        lengths.push_back(length);
        // Room for what a block declares beyond what is bound.
        content.resize(length + 4096, 0xdddddddd);
        for (uint32_t i = 0; i < length; i++) content[i] = word();
        dispatched.buffers[index] = (char*)content.data();
    }
    for (at.group[2] = 0; at.group[2] < at.groups[2]; at.group[2]++)
        for (at.group[1] = 0; at.group[1] < at.groups[1]; at.group[1]++)
            for (at.group[0] = 0; at.group[0] < at.groups[0]; at.group[0]++) {
                dispatched.shared.assign(4 * SHARED / 4, 0xcdcdcdcd);
                metal::run_threads(int(at.size[0] * at.size[1] * at.size[2]), one);
            }
    for (size_t i = 0; i < lengths.size(); i++) std::fwrite(dispatched.contents[i].data(), 4, lengths[i], stdout);
    return 0;
}
