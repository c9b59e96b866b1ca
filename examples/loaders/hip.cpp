// Runs sums.comp as a code object on AMD's HIP.
//
//     crosslane compile sums.comp -p gfx1100 --emit hsaco -o sums.hsaco
//     hipcc hip.cpp -o hip && ./hip sums.hsaco
//
// What `crosslane compile sums.comp -p gfx1100 --emit reflection` says is named where it is used.

#include "host.h"
#include <hip/hip_runtime.h>

static void done(hipError_t result, const char *what) {
    if (result != hipSuccess) fprintf(stderr, "%s\n", hipGetErrorString(result));
    need(result == hipSuccess, what);
}

// reflection: arguments, each at its offset; the whole has argument_bytes
struct Arguments {
    void *x;
    void *y;
};
static_assert(sizeof(Arguments) == 16, "the segment of arguments");

int main(int argc, char **argv) {
    need(argc == 2, "usage: hip sums.hsaco");
    static unsigned x[COUNT], y[COUNT];
    fill(x);
    Arguments arguments;
    done(hipMalloc(&arguments.x, BYTES), "a buffer");
    done(hipMalloc(&arguments.y, BYTES), "a buffer");
    done(hipMemcpy(arguments.x, x, BYTES, hipMemcpyHostToDevice), "to copy");

    hipModule_t module;
    hipFunction_t kernel;
    done(hipModuleLoad(&module, argv[1]), "to load the code object; is it for this GPU?");
    done(hipModuleGetFunction(&kernel, module, "main"), "the kernel"); // reflection: symbol
    size_t size = sizeof arguments;
    void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      HIP_LAUNCH_PARAM_END};
    // The workgroup memory that the kernel needs is in its descriptor: the last number is for more.
    done(hipModuleLaunchKernel(kernel, GROUPS, 1, 1, 64, 1, 1, 0, nullptr, nullptr, config), "to launch");
    done(hipMemcpy(y, arguments.y, BYTES, hipMemcpyDeviceToHost), "to copy back");
    check(x, y);
    return 0;
}
