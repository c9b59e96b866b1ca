// The declarations of HIP that hip.cpp uses, so that it can be compiled where HIP is not installed. Nothing is defined.
#pragma once

#include <stddef.h>

enum hipError_t { hipSuccess = 0 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipStream_t *hipStream_t;

#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)

extern "C" {
const char *hipGetErrorString(hipError_t error);
hipError_t hipMalloc(void **pointer, size_t bytes);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipModuleLoad(hipModule_t *module, const char *path);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned groups_x, unsigned groups_y, unsigned groups_z,
                                 unsigned size_x, unsigned size_y, unsigned size_z, unsigned shared_bytes,
                                 hipStream_t stream, void **parameters, void **extra);
}
