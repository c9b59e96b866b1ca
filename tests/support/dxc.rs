//! Microsoft's HLSL compiler: the library in the Python package `compushady`, run in helper processes, because some
//! texts crash it, and so does generating SPIR-V on several threads at once.
//!
//! Its interface is in `dxcapi.h`: COM objects, whose functions are identified by their index in a table.

use std::ffi::{c_int, c_void};
use std::path::Path;

use crosslane::ir::Stage;
use libloading::Library;
use serde::{Deserialize, Serialize};

use super::helper::{self, Helper, Pool};
use super::{hlsl, judge};

/// The judge, by the name of its file.
pub const JUDGE: &str = "dxc/libdxcompiler.so";

/// Set in the helper process: the path of the library.
const ROLE: &str = "CROSSLANE_TEST_DXC";

/// A text and the compiler's options.
#[derive(Serialize, Deserialize)]
struct Job {
    text: String,
    options: Vec<String>,
}

static COMPILERS: Pool = Pool::new();

/// `CLSID_DxcCompiler`, `IID_IDxcCompiler3` and `IID_IDxcResult`.
const COMPILER: Guid = Guid(0x73e2_2d93, 0xe6ce, 0x47f3, [0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0]);
const COMPILER_3: Guid = Guid(0x228b_4687, 0x5a6a, 0x4730, [0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54]);
const RESULT: Guid = Guid(0x5834_6cda, 0xdde7, 0x4497, [0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59]);

/// `DXC_CP_UTF8`.
const UTF_8: u32 = 65001;

/// Indices in the function tables. Outside Windows, two entries in every object's table are for a destructor.
const RELEASE: usize = 2;
const COMPILE: usize = 5;
const GET_STATUS: usize = 5;
const GET_RESULT: usize = 6;
const GET_ERRORS: usize = 7;
const GET_POINTER: usize = 5;
const GET_SIZE: usize = 6;

#[repr(C)]
struct Guid(u32, u16, u16, [u8; 8]);

/// `DxcBuffer`.
#[repr(C)]
struct Source {
    text: *const c_void,
    size: usize,
    encoding: u32,
}

/// Accepts a text if the compiler makes DXIL from it that its validator accepts.
///
/// # Errors
/// Returns the compiler's messages, or that it cannot be loaded.
pub fn takes(text: &str, stage: Stage, version: (u8, u8)) -> Result<(), String> {
    container(text, stage, version).map(drop)
}

/// The DXIL container that the compiler makes from a text.
///
/// # Errors
/// Like [`takes`].
pub fn container(text: &str, stage: Stage, version: (u8, u8)) -> Result<Vec<u8>, String> {
    compiled(text, stage, version, &[])
}

/// The first binding for samplers in modules, within a set: a texture of the source and its sampler have the same
/// number in HLSL.
pub const SAMPLERS: u32 = 1000;

/// The SPIR-V module that the compiler makes from a text: spaces become sets, registers become bindings, and blocks
/// have Direct3D's layout.
///
/// # Errors
/// Like [`takes`].
pub fn module(text: &str, stage: Stage) -> Result<Vec<u32>, String> {
    let samplers = SAMPLERS.to_string();
    let mut options = vec!["-spirv", "-fspv-target-env=vulkan1.3", "-fvk-use-dx-layout", "-O0", "-Vd"];
    options.extend(["-fvk-s-shift", &samplers, "all"]);
    let bytes = compiled(&hlsl::known(text), stage, (6, 7), &options)?;
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// The SPIR-V module for one stage of a graphics program, where inputs and outputs of stages are in one order by name.
///
/// # Errors
/// Like [`takes`].
pub fn stage_module(text: &str, stage: Stage) -> Result<Vec<u32>, String> {
    let options = ["-spirv", "-fspv-target-env=vulkan1.3", "-fvk-stage-io-order=alpha", "-O0", "-Vd"];
    let bytes = compiled(text, stage, (6, 7), &options)?;
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

fn compiled(text: &str, stage: Stage, (major, minor): (u8, u8), more: &[&str]) -> Result<Vec<u8>, String> {
    let kind = match stage {
        Stage::Vertex => "vs",
        Stage::Fragment => "ps",
        Stage::Compute => "cs",
        Stage::Geometry => "gs",
        Stage::TessControl => "hs",
        Stage::TessEvaluation => "ds",
        Stage::Task => "as",
        Stage::Mesh => "ms",
        _ => "lib",
    };
    let profile = format!("{kind}_{major}_{minor}");
    let entry = hlsl::entry(text);
    let mut options = vec!["-T", &profile, "-E", &entry, "-HV", "2018"];
    options.extend((minor >= 2).then_some("-enable-16bit-types"));
    options.extend(more);
    let job = Job { text: text.to_owned(), options: options.into_iter().map(str::to_owned).collect() };
    let ask = || COMPILERS.ask::<Result<Vec<u8>, String>>(start, &job);
    // The fault may come from earlier texts. A text that crashes the process also crashes a new one.
    let said = ask().or_else(|_| ask()).map_err(|why| format!("DXC ends the process on this text: {why}\n{text}"))?;
    said.map_err(|why| format!("DXC: {why}\n{text}"))
}

fn start() -> Result<Helper, String> {
    // Reads of freed memory crash the process instead of going unnoticed.
    Helper::start(helper::command()?.env(ROLE, judge::need(JUDGE)?).env("MALLOC_PERTURB_", "165"))
}

/// Ends every process.
pub fn stop() {
    COMPILERS.stop();
}

/// If this process is a helper: serves jobs until its input ends, and returns true.
pub fn serve() -> bool {
    let Some(path) = std::env::var_os(ROLE) else { return false };
    let create = creator(Path::new(&path));
    helper::serve(|job: Job| make(create.clone()?, &job));
    true
}

/// `DxcCreateInstance`.
type Create = unsafe extern "C" fn(*const Guid, *const Guid, *mut Object) -> c_int;

fn creator(path: &Path) -> Result<Create, String> {
    // SAFETY: the library's initialisers have no preconditions, and the function has this type in its header.
    unsafe {
        let library = Library::new(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let create = *library.get::<Create>(b"DxcCreateInstance\0").map_err(|e| e.to_string())?;
        // The library stays loaded until the process ends.
        std::mem::forget(library);
        Ok(create)
    }
}

fn make(create: Create, job: &Job) -> Result<Vec<u8>, String> {
    let mut compiler = Object::NONE;
    // SAFETY: the function has this type in its header, and the object that it creates is a compiler.
    unsafe {
        if create(&COMPILER, &COMPILER_3, &raw mut compiler) != 0 {
            return Err("no compiler is made".to_owned());
        }
        let said = run(compiler, &job.text, &job.options);
        compiler.release();
        said
    }
}

/// # Safety
/// The object is a compiler.
unsafe fn run(compiler: Object, text: &str, options: &[String]) -> Result<Vec<u8>, String> {
    type Compile = unsafe extern "C" fn(
        Object,
        *const Source,
        *const *const u32,
        u32,
        *const c_void,
        *const Guid,
        *mut Object,
    ) -> c_int;
    type Get<T> = unsafe extern "C" fn(Object, *mut T) -> c_int;
    // `wchar_t` has 32 bits.
    let wide: Vec<Vec<u32>> = options.iter().map(|option| option.chars().map(u32::from).chain([0]).collect()).collect();
    let options: Vec<*const u32> = wide.iter().map(Vec::as_ptr).collect();
    let source = Source { text: text.as_ptr().cast(), size: text.len(), encoding: UTF_8 };
    let (mut result, mut errors, mut status) = (Object::NONE, Object::NONE, 0);
    // SAFETY: guaranteed by the caller; the types are those of the header, and the objects are released once.
    unsafe {
        let call: Compile = compiler.function(COMPILE);
        let count = options.len() as u32;
        if call(compiler, &source, options.as_ptr(), count, std::ptr::null(), &RESULT, &raw mut result) != 0 {
            return Err("the call fails".to_owned());
        }
        result.function::<Get<c_int>>(GET_STATUS)(result, &raw mut status);
        result.function::<Get<Object>>(GET_ERRORS)(result, &raw mut errors);
        let said = String::from_utf8_lossy(&errors.bytes()).trim_end_matches('\0').to_owned();
        let mut made = Object::NONE;
        result.function::<Get<Object>>(GET_RESULT)(result, &raw mut made);
        let bytes = made.bytes();
        made.release();
        errors.release();
        result.release();
        if status == 0 { Ok(bytes) } else { Err(said) }
    }
}

/// A COM object: it begins with a pointer to its function table.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Object(*const *const *const c_void);

impl Object {
    const NONE: Object = Object(std::ptr::null());

    /// # Safety
    /// The object is live, and its function with this index has the type `F`.
    unsafe fn function<F: Copy>(self, place: usize) -> F {
        // SAFETY: guaranteed by the caller; all function pointers have the same size.
        unsafe { std::mem::transmute_copy(&*(*self.0).add(place)) }
    }

    /// The bytes of a blob.
    ///
    /// # Safety
    /// The object is a blob, or null.
    unsafe fn bytes(self) -> Vec<u8> {
        if self.0.is_null() {
            return Vec::new();
        }
        // SAFETY: guaranteed by the caller.
        unsafe {
            let start = self.function::<unsafe extern "C" fn(Object) -> *const u8>(GET_POINTER)(self);
            let size = self.function::<unsafe extern "C" fn(Object) -> usize>(GET_SIZE)(self);
            if start.is_null() { Vec::new() } else { std::slice::from_raw_parts(start, size).to_vec() }
        }
    }

    /// # Safety
    /// The object is live, or null, and is not used afterwards.
    unsafe fn release(self) {
        if !self.0.is_null() {
            // SAFETY: guaranteed by the caller.
            unsafe { self.function::<unsafe extern "C" fn(Object) -> u32>(RELEASE)(self) };
        }
    }
}
