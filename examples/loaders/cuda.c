// Runs sums.comp as PTX on CUDA's driver API.
//
//     crosslane compile sums.comp -p ptx-sm70 -o sums.ptx
//     cc cuda.c -lcuda -o cuda && ./cuda sums.ptx
//
// What `crosslane compile sums.comp -p ptx-sm70 --emit reflection` says is named where it is used.

#include "host.h"
#include <cuda.h>

static void done(CUresult result, const char *what) {
    const char *name = "an unknown error";
    if (result != CUDA_SUCCESS && cuGetErrorName(result, &name) == CUDA_SUCCESS) fprintf(stderr, "%s\n", name);
    need(result == CUDA_SUCCESS, what);
}

static CUdeviceptr buffer(void) {
    CUdeviceptr address;
    done(cuMemAlloc(&address, BYTES), "a buffer");
    return address;
}

int main(int argc, char **argv) {
    need(argc == 2, "usage: cuda sums.ptx");
    CUdevice device;
    CUcontext context;
    done(cuInit(0), "CUDA");
    done(cuDeviceGet(&device, 0), "a device");
    done(cuDevicePrimaryCtxRetain(&context, device), "a context");
    done(cuCtxSetCurrent(context), "the context");

    size_t size;
    char *text = read_file(argv[1], &size);
    CUmodule module;
    CUfunction kernel;
    done(cuModuleLoadData(&module, text), "to load the PTX; is it for this GPU?");
    done(cuModuleGetFunction(&kernel, module, "main"), "the kernel"); // reflection: symbol
    free(text);

    static unsigned x[COUNT], y[COUNT];
    fill(x);
    CUdeviceptr from = buffer(), to = buffer();
    done(cuMemcpyHtoD(from, x, BYTES), "to copy");
    // reflection: parameters, in their order; the launch's dimensions are workgroup_size
    void *parameters[] = {&from, &to};
    done(cuLaunchKernel(kernel, GROUPS, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL), "to launch");
    done(cuMemcpyDtoH(y, to, BYTES), "to copy back");
    check(x, y);
    return 0;
}
