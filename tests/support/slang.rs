//! Slang, which reads HLSL: the library in the Python package `slangpy`, called in this process.
//!
//! Its functions are those of `slang-deprecated.h`, which take the options of the command `slangc`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use crosslane::ir::Stage;
use libloading::Library;

use super::judge;

/// The judge, by the name of its file.
pub const JUDGE: &str = "slang/libslang-compiler.so";

/// SPIR-V as Vulkan takes it: registers are bindings, spaces are sets.
const OPTIONS: [&CStr; 19] = [
    c"-target",
    c"spirv",
    c"-profile",
    c"sm_6_5",
    c"-O0",
    c"-emit-spirv-directly",
    c"-fvk-use-entrypoint-name",
    c"-fvk-b-shift",
    c"0",
    c"all",
    c"-fvk-t-shift",
    c"0",
    c"all",
    c"-fvk-u-shift",
    c"0",
    c"all",
    c"-fvk-s-shift",
    c"0",
    c"all",
];

/// `SLANG_SOURCE_LANGUAGE_HLSL`.
const HLSL: c_int = 2;

/// The functions that lavapipe has no instructions for, by those that it has. Lanes outside the mask, and such as are not
/// active, do not count.
const PRELUDE: &str = "\
bool judge_bit(uint4 mask, uint lane) { return ((mask[lane >> 5u] >> (lane & 31u)) & 1u) != 0u; }
#define JUDGE_MATCH(T) uint4 judge_match(T v) { \\
    uint4 own = uint4(0u, 0u, 0u, 0u); \\
    bool left = true; \\
    while (left) { \\
        T first = WaveReadLaneFirst(v); \\
        bool same = all(v == first); \\
        uint4 ballot = WaveActiveBallot(same); \\
        if (same) { own = ballot; left = false; } \\
    } \\
    return own; \\
}
#define JUDGE_SCAN(NAME, T, START, OP) T NAME(T v, uint4 mask) { \\
    uint4 members = WaveActiveBallot(true) & mask; \\
    T folded = (T)START; \\
    for (uint lane = 0u; lane < WaveGetLaneCount(); lane++) { \\
        T other = WaveReadLaneAt(v, lane); \\
        if (lane < WaveGetLaneIndex() && judge_bit(members, lane)) { folded = folded OP other; } \\
    } \\
    return folded; \\
}
#define JUDGE_TYPE(T) \\
    JUDGE_MATCH(T) \\
    JUDGE_SCAN(judge_sum, T, 0, +) JUDGE_SCAN(judge_product, T, 1, *) \\
    JUDGE_SCAN(judge_and, T, -1, &) JUDGE_SCAN(judge_or, T, 0, |) JUDGE_SCAN(judge_xor, T, 0, ^)
JUDGE_TYPE(uint) JUDGE_TYPE(uint2) JUDGE_TYPE(uint3) JUDGE_TYPE(uint4)
JUDGE_TYPE(int) JUDGE_TYPE(int2) JUDGE_TYPE(int3) JUDGE_TYPE(int4)
uint judge_quad(bool p) {
    uint lane = WaveGetLaneIndex();
    return (WaveActiveBallot(p)[lane >> 5u] >> (lane & 28u)) & 15u;
}
bool judge_any(bool p) { return judge_quad(p) != 0u; }
bool judge_all(bool p) { return judge_quad(!p) == 0u; }
#define WaveMatch judge_match
#define WaveMultiPrefixSum judge_sum
#define WaveMultiPrefixProduct judge_product
#define WaveMultiPrefixBitAnd judge_and
#define WaveMultiPrefixBitOr judge_or
#define WaveMultiPrefixBitXor judge_xor
#define QuadAny judge_any
#define QuadAll judge_all
";

const REPLACED: [&str; 4] = ["WaveMatch(", "WaveMultiPrefix", "QuadAny(", "QuadAll("];

/// The module that Slang makes of a text, or its words.
pub fn module(text: &str, stage: Stage) -> Result<Vec<u32>, String> {
    // Its sessions are not for several threads at once.
    static SESSION: OnceLock<Mutex<Result<Session, String>>> = OnceLock::new();
    let session = SESSION.get_or_init(|| Mutex::new(Session::open()));
    let session = session.lock().unwrap_or_else(PoisonError::into_inner);
    session.as_ref().map_err(Clone::clone)?.compile(&known(text), &entry(text), stage)
}

/// A text with push constants where Vulkan has them, after the functions that stand for others.
pub fn known(text: &str) -> String {
    let prelude = if REPLACED.iter().any(|name| text.contains(name)) { PRELUDE } else { "" };
    let mut known = prelude.to_owned();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.ends_with(COUNTED) {
            let member = lines.by_ref().take_while(|line| *line != "};").last().unwrap_or_default().trim();
            known.push_str(&format!("[[vk::ext_builtin_input(24)]] static const {member}\n"));
            continue;
        }
        match line.split_once(PUSHED) {
            Some(_) if line.starts_with("cbuffer ") => {
                known.push_str("struct JudgePushed {\n");
                let members: Vec<&str> = lines.by_ref().take_while(|line| *line != "};").collect();
                members.iter().for_each(|member| known.push_str(&format!("{member}\n")));
                known.push_str("};\n[[vk::push_constant]] ConstantBuffer<JudgePushed> judge_pushed;\n");
                members.iter().for_each(|member| known.push_str(&defined(member)));
            }
            Some((declared, end)) => known.push_str(&format!("[[vk::push_constant]] {declared}{end}\n")),
            None => {
                known.push_str(&zeros(line).unwrap_or_else(|| line.to_owned()));
                known.push('\n');
            }
        }
    }
    known
}

/// The register of the number of workgroups, which SPIR-V has as a built-in value of that number.
const COUNTED: &str = " : register(b0, space254) {";

/// The register of push constants.
const PUSHED: &str = " : register(b0, space255)";

/// The name of a member that is in a block without a name.
fn defined(member: &str) -> String {
    let name = member.trim_end_matches(';').rsplit(' ').next().unwrap_or_default();
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    format!("#define {name} judge_pushed.{name}\n")
}

/// The zeros of an array of arrays, `(uint[2][3])0`, whose lengths Slang counts from the other end.
fn zeros(line: &str) -> Option<String> {
    let (declared, cast) = line.split_once(" = (")?;
    let is_nested = cast.ends_with("])0;") && cast.contains("][");
    is_nested.then(|| format!("{declared} = {{}};"))
}

/// The name of the entry point: of compute shaders that after the size of the workgroup.
pub fn entry(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("[numthreads("));
    let named = lines.nth(1).and_then(|line| line.strip_prefix("void ")?.split_once('('));
    named.map_or("main", |(name, _)| name).to_owned()
}

type Handle = *mut c_void;

/// The library with a session of it.
struct Session {
    library: Library,
    session: Handle,
}

// SAFETY: the session is used by the thread alone that holds the lock on it.
unsafe impl Send for Session {}

impl Session {
    fn open() -> Result<Session, String> {
        let path = judge::need(JUDGE)?;
        // SAFETY: the library's initialisers ask for nothing, and the function has this type in its header.
        unsafe {
            let library = Library::new(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let create: unsafe extern "C" fn(*const c_char) -> Handle = function(&library, c"spCreateSession")?;
            let session = create(std::ptr::null());
            if session.is_null() { Err("Slang opens no session".to_owned()) } else { Ok(Session { library, session }) }
        }
    }

    fn compile(&self, text: &str, entry: &str, stage: Stage) -> Result<Vec<u32>, String> {
        let source = CString::new(text).map_err(|e| e.to_string())?;
        let entry = CString::new(entry).map_err(|e| e.to_string())?;
        let stage = match stage {
            Stage::Vertex => 1,
            Stage::Fragment => 5,
            _ => 6,
        };
        // SAFETY: the functions have these types in their header, the strings outlive the calls, and the request lives
        // until its result is copied.
        unsafe {
            let create: unsafe extern "C" fn(Handle) -> Handle = function(&self.library, c"spCreateCompileRequest")?;
            let destroy: unsafe extern "C" fn(Handle) = function(&self.library, c"spDestroyCompileRequest")?;
            let request = create(self.session);
            let made = self.requested(request, &source, &entry, stage);
            destroy(request);
            made
        }
    }

    /// # Safety
    /// The request is one of the session.
    unsafe fn requested(&self, request: Handle, source: &CStr, entry: &CStr, stage: c_int) -> Result<Vec<u32>, String> {
        type Options = unsafe extern "C" fn(Handle, *const *const c_char, c_int) -> c_int;
        type Unit = unsafe extern "C" fn(Handle, c_int, *const c_char) -> c_int;
        type Source = unsafe extern "C" fn(Handle, c_int, *const c_char, *const c_char);
        type Entry = unsafe extern "C" fn(Handle, c_int, *const c_char, c_int) -> c_int;
        type Code = unsafe extern "C" fn(Handle, *mut usize) -> *const u8;
        // SAFETY: as the caller says; the types are those of the header.
        unsafe {
            let set: Options = function(&self.library, c"spProcessCommandLineArguments")?;
            let unit: Unit = function(&self.library, c"spAddTranslationUnit")?;
            let add: Source = function(&self.library, c"spAddTranslationUnitSourceString")?;
            let name: Entry = function(&self.library, c"spAddEntryPoint")?;
            let run: unsafe extern "C" fn(Handle) -> c_int = function(&self.library, c"spCompile")?;
            let said: unsafe extern "C" fn(Handle) -> *const c_char =
                function(&self.library, c"spGetDiagnosticOutput")?;
            let code: Code = function(&self.library, c"spGetCompileRequestCode")?;
            let options = OPTIONS.map(CStr::as_ptr);
            set(request, options.as_ptr(), options.len() as c_int);
            let number = unit(request, HLSL, c"judged".as_ptr());
            add(request, number, c"judged.hlsl".as_ptr(), source.as_ptr());
            name(request, number, entry.as_ptr(), stage);
            let failed = run(request) < 0;
            let mut size = 0;
            let bytes = if failed { std::ptr::null() } else { code(request, &raw mut size) };
            if bytes.is_null() || size == 0 {
                let words = CStr::from_ptr(said(request)).to_string_lossy().into_owned();
                return Err(format!("Slang: {words}\n{}", source.to_string_lossy()));
            }
            let bytes = std::slice::from_raw_parts(bytes, size);
            Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
        }
    }
}

/// # Safety
/// `F` is the function's type.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Result<F, String> {
    // SAFETY: as the caller says.
    let found = unsafe { library.get::<F>(name.to_bytes_with_nul()) };
    found.map(|found| *found).map_err(|e| format!("{}: {e}", name.to_string_lossy()))
}
