//! The functions of CUDA's driver API, found at run time.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

pub type Handle = *mut c_void;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($ty:ty),*);)*) => {
        /// The functions of the driver API that a run needs.
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> c_int,)*
        }

        impl Api {
            pub fn load(library: &libloading::Library) -> Result<Api, &'static str> {
                Ok(Api { $($name: {
                    // SAFETY: the signature matches `cuda.h`.
                    let found = unsafe { library.get(concat!($symbol, "\0").as_bytes()) };
                    *found.map_err(|_| $symbol)?
                },)* })
            }
        }
    };
}

functions! {
    init = "cuInit" (c_uint);
    device_get = "cuDeviceGet" (*mut c_int, c_int);
    driver_version = "cuDriverGetVersion" (*mut c_int);
    device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    context_create = "cuCtxCreate_v2" (*mut Handle, c_uint, c_int);
    context_destroy = "cuCtxDestroy_v2" (Handle);
    module_load = "cuModuleLoadDataEx" (*mut Handle, *const c_void, c_uint, *mut c_int, *mut Handle);
    module_unload = "cuModuleUnload" (Handle);
    module_function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    allocate = "cuMemAlloc_v2" (*mut u64, usize);
    free = "cuMemFree_v2" (u64);
    upload = "cuMemcpyHtoD_v2" (u64, *const c_void, usize);
    download = "cuMemcpyDtoH_v2" (*mut c_void, u64, usize);
    event_create = "cuEventCreate" (*mut Handle, c_uint);
    event_destroy = "cuEventDestroy_v2" (Handle);
    event_record = "cuEventRecord" (Handle, Handle);
    event_elapsed = "cuEventElapsedTime" (*mut f32, Handle, Handle);
    launch = "cuLaunchKernel" (Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void);
    synchronize = "cuCtxSynchronize" ();
    error_name = "cuGetErrorName" (c_int, *mut *const c_char);
}

pub fn error_name(api: &Api, result: c_int) -> String {
    let mut name = ptr::null();
    // SAFETY: the call writes one pointer, to a static string of the driver.
    match unsafe { (api.error_name)(result, &raw mut name) } {
        0 if !name.is_null() => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
        _ => format!("error {result}"),
    }
}
