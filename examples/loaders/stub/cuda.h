// The declarations of CUDA's driver API that cuda.c uses, so that it can be compiled where CUDA is not installed. Nothing is
// defined.
#pragma once

#include <stddef.h>

typedef enum { CUDA_SUCCESS = 0 } CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

CUresult cuInit(unsigned flags);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuDeviceGet(CUdevice *device, int number);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes);
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction function, unsigned groups_x, unsigned groups_y, unsigned groups_z, unsigned size_x,
                        unsigned size_y, unsigned size_z, unsigned shared_bytes, CUstream stream, void **parameters,
                        void **extra);
