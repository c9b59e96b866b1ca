//! LLVM's hazard recognizer as a judge: the listings of a profile, read by its assembler, go through its own passes as
//! machine code. Each instruction that it would add is a hazard that the listing has.
//!
//! The assembler says which of LLVM's instructions a line is and what its operands are. What machine code says beside that
//! (how many operands are results, which registers are used unsaid) follows from the name of the instruction, by the tables
//! below; where they say too little, LLVM names what is missing.

use crosslane::profile::Profile;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use support::assembler;

/// A listing and what it is called in messages.
pub struct Listing {
    pub name: String,
    pub text: String,
}

/// An instruction as the assembler names it.
struct Inst {
    /// Its line in the listing.
    line: String,
    /// LLVM's name.
    opcode: String,
    operands: Vec<Operand>,
}

enum Operand {
    Register(String),
    Number(String),
    Label(String),
}

enum Item {
    Label(String),
    Inst(Inst),
}

/// Checks that LLVM's recognizer finds nothing in the listings of a profile.
pub fn hold(profile: &Profile, listings: &[Listing]) -> Result<(), String> {
    if !assembler::are_there()? {
        return Ok(());
    }
    let functions = read(&assembled(profile, listings)?);
    let kernels =
        (0..functions.len()).map(|n| format!("  define amdgpu_kernel void @{FUNCTION}{n}() {{ ret void }}\n"));
    let mut code = format!("--- |\n{}...\n", kernels.collect::<String>());
    code.extend(functions.iter().enumerate().map(|(n, items)| function(n, items)));
    let passes = "-run-pass=post-RA-hazard-rec,amdgpu-wait-sgpr-hazards";
    let after = filter(
        Command::new("llc-22").args(target(profile)).args([
            "-mtriple=amdgcn-amd-amdhsa",
            passes,
            "-x=mir",
            "-o",
            "-",
            "-",
        ]),
        &code,
    )?;
    let after: Vec<Vec<String>> = bodies(&after);
    if after.len() != functions.len() || functions.len() != listings.len() {
        return Err(format!("{} listings became {} and {}", listings.len(), functions.len(), after.len()));
    }
    let mut found = Vec::new();
    for ((listing, before), after) in listings.iter().zip(&functions).zip(&after) {
        let added = compare(before, after).map_err(|why| format!("{}: {why}", listing.name))?;
        let is_needed = |added: &&Added| !is_waited_for_later(before, added) && !is_before_still_operand(before, added);
        for added in added.iter().filter(is_needed) {
            let line = |at: usize| inst_at(before, at).map_or("", |inst| &inst.line);
            let last = added.after.map_or("", line);
            found.push(format!("{}: {} between `{last}` and `{}`", listing.name, added.inst, line(added.before)));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// Code that has a hazard, for a profile: what the recognizer must find.
static BROKEN: &[(&str, &str)] = &[
    ("gfx600", "v_readfirstlane_b32 s4, v0; s_load_dword s5, s[4:5], 0"),
    ("gfx701", "v_readfirstlane_b32 s4, v0; v_readlane_b32 s5, v1, s4"),
    ("gfx803", "v_mov_b32 v1, v2; v_mov_b32_dpp v3, v1 row_mirror"),
    ("gfx900", "v_cmp_eq_u32 vcc, 0, v0; v_div_fmas_f32 v1, v0, v0, v0"),
    ("gfx900", "global_load_dword v1, v0, s[2:3]; global_load_dword v0, v2, s[2:3]"),
    ("gfx908", "v_readfirstlane_b32 s2, v0; global_load_dword v1, v0, s[2:3]"),
    ("gfx90a", "global_store_dwordx4 v0, v[4:7], s[2:3]; v_mov_b32 v4, 0"),
    ("gfx942", "v_readlane_b32 s4, v0, 63; s_cbranch_execz .L1; v_mov_b32 v1, s4; .L1:"),
    ("gfx942", "v_rcp_f32 v1, v0; v_mov_b32 v2, v1"),
    ("gfx950", "v_mov_b32 v1, v2; v_permlane32_swap_b32 v1, v3"),
    ("gfx1010-wave32", "v_cmpx_eq_u32 v0, v1; v_permlane16_b32 v2, v3, 0, 0"),
    ("gfx1010-wave64", "ds_swizzle_b32 v1, v2 offset:0x41f; s_mov_b64 exec, -1"),
    ("gfx1010-wave32", "s_load_dword s4, s[2:3], 0; v_readfirstlane_b32 s2, v0"),
    ("gfx1010-wave32", "ds_read_b32 v1, v2; s_cbranch_scc0 .L1; .L1:; global_load_dword v3, v4, s[2:3]"),
    ("gfx1100-wave32", "v_rcp_f32 v1, v0; v_mov_b32 v2, v1"),
    (
        "gfx1100-wave64",
        "v_cndmask_b32 v1, 0, 1, s[4:5]; v_mov_b32 v2, s9; s_mov_b64 s[4:5], 0; s_and_b64 s[6:7], s[4:5], exec",
    ),
    ("gfx1150-wave64", "v_cndmask_b32 v1, 0, 1, s[4:5]; v_cmp_eq_u32 s[4:5], v1, v2; v_cndmask_b32 v1, 0, 1, s[4:5]"),
    ("gfx1150-wave64", "v_add_co_ci_u32 v1, vcc, v1, v2, vcc; v_cmp_eq_u32 vcc, v1, v2; v_cndmask_b32 v1, 0, 1, vcc"),
    (
        "gfx1150-wave64",
        "v_mov_b32 v1, 0; s_mov_b64 exec, -1; v_mov_b32 v2, 0; s_mov_b64 exec, -1; v_add_f32 v3, v1, v2",
    ),
    ("gfx1201-wave32", "v_mov_b32 v1, s4; s_mov_b32 s4, 0; v_mov_b32 v1, s4"),
    ("gfx1200-wave64", "v_cndmask_b32 v1, 0, 1, vcc; v_cmp_eq_u32 vcc, v1, v2; v_cndmask_b32 v1, 0, 1, vcc"),
];

/// Checks that it finds them.
pub fn finds() -> Result<(), String> {
    for (name, code) in BROKEN {
        let profile = Profile::named(name).ok_or_else(|| format!("no profile {name}"))?;
        let text = code.replace("; ", "\n") + "\ns_endpgm";
        let found = hold(&profile, &[Listing { name: (*code).to_owned(), text }]);
        if assembler::are_there()? && !found.as_ref().is_err_and(|why| why.contains(" between ")) {
            return Err(format!("{name}: in {code} it finds {found:?}"));
        }
    }
    Ok(())
}

fn target(profile: &Profile) -> Vec<String> {
    assembler::options(&profile.processor, profile.wave_size.unwrap_or(64))
}

/// Runs a program over a text: what it prints, or its complaints.
fn filter(command: &mut Command, text: &str) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{command:?}: {e}"))?;
    let mut stdin = child.stdin.take().expect("standard input was asked for");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let _ = writer.join();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(said.into_owned())
    }
}

/// The assembler's reading of all listings.
fn assembled(profile: &Profile, listings: &[Listing]) -> Result<String, String> {
    let mut text = String::new();
    for (n, listing) in listings.iter().enumerate() {
        let _ = writeln!(text, "{FUNCTION}{n}:");
        for line in code(&listing.text) {
            let _ = writeln!(text, "{}", line.replace(".L", &format!(".L{n}_")));
        }
    }
    filter(
        Command::new("llvm-mc-22").args(target(profile)).args(["-triple=amdgcn-amd-amdhsa", "--show-inst", "-"]),
        &text,
    )
}

/// The label before each listing.
const FUNCTION: &str = "listing_";

/// The instructions and labels of a text, without what the assembler is told about the kernel.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or_default().trim());
    let lines = lines.take_while(|line| !line.ends_with("_end:"));
    lines.filter(|line| !line.is_empty() && (!line.starts_with('.') || line.ends_with(':')) && *line != "main:")
}

/// The listings from `--show-inst`.
fn read(text: &str) -> Vec<Vec<Item>> {
    let mut functions: Vec<Vec<Item>> = Vec::new();
    for line in text.lines() {
        if let Some(label) = line.trim().strip_suffix(':') {
            match functions.last_mut() {
                _ if label.starts_with(FUNCTION) => functions.push(Vec::new()),
                Some(items) => items.push(Item::Label(label.to_owned())),
                None => {}
            }
            continue;
        }
        let Some(items) = functions.last_mut() else { continue };
        if let Some((words, named)) = line.split_once("; <MCInst #") {
            let opcode = named.split_once(' ').map_or("", |(_, name)| name).trim_end_matches('>').to_owned();
            items.push(Item::Inst(Inst { line: words.trim().to_owned(), opcode, operands: Vec::new() }));
        } else if let (Some((_, operand)), Some(Item::Inst(inst))) = (line.split_once("<MCOperand "), items.last_mut())
        {
            inst.operands.push(Operand::read(operand.trim_end_matches('>')));
        }
    }
    functions
}

impl Operand {
    fn read(text: &str) -> Operand {
        match text.split_once(':') {
            Some(("Reg", name)) => Operand::Register(register(name)),
            Some(("Expr", label)) if label.starts_with(".L") => Operand::Label(label.to_owned()),
            Some(("Imm", number)) => Operand::Number(number.to_owned()),
            _ => Operand::Number("0".to_owned()),
        }
    }
}

/// `SGPR_NULL_gfx11plus` as `$sgpr_null`: encodings differ, machine code has one.
fn register(name: &str) -> String {
    let plain = name.split(|c: char| c.is_ascii_lowercase()).next().unwrap_or_default().trim_end_matches('_');
    if plain.is_empty() || plain == "N" { "$noreg".to_owned() } else { format!("${}", plain.to_ascii_lowercase()) }
}

/// A listing as a machine function. Each branch ends a block.
fn function(number: usize, items: &[Item]) -> String {
    let mut starts = Vec::new();
    let mut blocks: Vec<Vec<&Inst>> = vec![Vec::new()];
    for item in items {
        match item {
            Item::Label(label) => {
                blocks.push(Vec::new());
                starts.push((label, blocks.len() - 1));
            }
            Item::Inst(inst) => {
                blocks.last_mut().expect("there is one").push(inst);
                if inst.operands.iter().any(|operand| matches!(operand, Operand::Label(_))) {
                    blocks.push(Vec::new());
                }
            }
        }
    }
    let block_of = |label: &String| starts.iter().find(|(name, _)| *name == label).map_or(0, |(_, at)| *at);
    let mut text = format!("---\nname: {FUNCTION}{number}\nbody: |\n");
    for (n, block) in blocks.iter().enumerate() {
        let _ = writeln!(text, "  bb.{n}:");
        for inst in block {
            if inst.opcode.contains("_gfx11") && scalars_written(inst).next().is_some() {
                let _ = writeln!(text, "    {MARK}");
            }
            let _ = writeln!(text, "    {}", inst.machine_code(&block_of));
        }
        if block.is_empty() && n + 1 == blocks.len() {
            text.push_str("    S_ENDPGM 0\n");
        }
    }
    text + "...\n"
}

impl Inst {
    fn machine_code(&self, block_of: &impl Fn(&String) -> usize) -> String {
        if let Some(source) = self.moved_everywhere() {
            return format!("{} = V_MOV_B32_e32 {source}, implicit $exec", words(&self.operands[..1], block_of)[0]);
        }
        let mut words = words(&self.operands, block_of);
        if self.opcode.starts_with("BUFFER_ATOMIC") {
            // The assembler's own, which LLVM's instructions lack.
            words.pop();
        }
        let rest = words.split_off(results(&self.opcode).min(words.len()));
        let results = if words.is_empty() { String::new() } else { words.join(", ") + " = " };
        let implied = implied(&self.opcode).map(str::to_owned);
        format!(
            "{results}{} {}",
            machine_opcode(&self.opcode),
            rest.into_iter().chain(implied).collect::<Vec<_>>().join(", ")
        )
    }

    /// The name of a move by DPP that writes all lanes, from gfx10 on: then it does not read the old value, as LLVM
    /// says it does.
    fn moved_everywhere(&self) -> Option<&String> {
        let is_move = self.opcode.starts_with("V_MOV_B32_dpp_gfx1");
        let Some(Operand::Register(source)) = self.operands.get(2).filter(|_| is_move) else { return None };
        // All rows, all banks, zero from beyond.
        let wanted = ["15", "15", "1"];
        let given = self.operands.get(4..7).unwrap_or_default();
        given
            .iter()
            .zip(wanted)
            .all(|(operand, wanted)| matches!(operand, Operand::Number(number) if number == wanted))
            .then_some(source)
    }

    /// The registers of 32 bits that it reads or writes.
    fn registers(&self, are_read: bool) -> impl Iterator<Item = String> + '_ {
        let results = results(&self.opcode);
        let (written, read) = self.operands.split_at(results.min(self.operands.len()));
        let named = if are_read { read } else { written };
        let named = named
            .iter()
            .filter_map(|operand| if let Operand::Register(name) = operand { Some(&name[..]) } else { None });
        let start = if are_read { "implicit " } else { "implicit-def " };
        named.chain(implied(&self.opcode).filter_map(move |word| word.strip_prefix(start))).flat_map(parts)
    }
}

/// `$sgpr2_sgpr3` as two names.
fn parts(register: &str) -> Vec<String> {
    match register {
        "$vcc" | "$exec" => ["_lo", "_hi"].map(|half| register.to_owned() + half).into(),
        "$vcc_lo" | "$vcc_hi" | "$exec_lo" | "$exec_hi" => vec![register.to_owned()],
        _ => register.trim_start_matches('$').split('_').map(|part| format!("${part}")).collect(),
    }
}

fn words(operands: &[Operand], block_of: &impl Fn(&String) -> usize) -> Vec<String> {
    let word = |operand: &Operand| match operand {
        Operand::Register(name) => name.clone(),
        Operand::Number(number) => number.clone(),
        Operand::Label(label) => format!("%bb.{}", block_of(label)),
    };
    operands.iter().map(word).collect()
}

/// How the names of encodings end that are LLVM's names of instructions for it.
fn plain(opcode: &str) -> &str {
    let ends = ["_vi", "_si", "_ci", "_gfx"];
    let at = ends.into_iter().filter_map(|end| opcode.find(end)).min();
    at.map_or(opcode, |at| &opcode[..at])
}

/// Instructions that the recognizer knows by name: how their encodings' names begin, and the names that it knows.
static BY_NAME: &[(&str, &str)] = &[
    ("S_NOP", "S_NOP"),
    ("S_WAIT", "S_WAIT"),
    ("S_BRANCH", "S_BRANCH"),
    ("S_CBRANCH", "S_CBRANCH"),
    ("S_ENDPGM", "S_ENDPGM"),
    ("S_MOV_B", "S_MOV_B"),
    ("V_NOP", "V_NOP"),
    ("V_READLANE", "V_READLANE"),
    ("V_READFIRSTLANE", "V_READFIRSTLANE"),
    ("V_WRITELANE", "V_WRITELANE"),
    ("V_CNDMASK", "V_CNDMASK"),
    ("V_ADDC_CO", "V_ADDC"),
    ("V_SUBB_CO", "V_SUBB"),
    ("V_SUBBREV_CO", "V_SUBBREV"),
    ("V_ADD_CO_CI", "V_ADDC"),
    ("V_SUB_CO_CI", "V_SUBB"),
    ("V_SUBREV_CO_CI", "V_SUBBREV"),
    ("V_DIV_FMAS", "V_DIV_FMAS"),
    ("V_PERMLANE", "V_PERMLANE"),
    ("DS_PERMUTE", "DS_PERMUTE"),
    ("DS_BPERMUTE", "DS_BPERMUTE"),
];

/// Those that have one form, which is not in the name of the encoding, and those whose name has none where the encoding's has.
static LONG: &[&str] =
    &["V_DIV_FMAS", "V_PERMLANE16_B32", "V_PERMLANEX16_B32", "V_PERMLANE16_VAR", "V_PERMLANEX16_VAR"];
static BARE: &[&str] = &["V_READLANE", "V_READFIRSTLANE", "V_WRITELANE"];

fn machine_opcode(opcode: &str) -> String {
    let plain = plain(opcode);
    let known =
        BY_NAME.iter().find_map(|(start, known)| plain.strip_prefix(start).map(|rest| format!("{known}{rest}")));
    let Some(known) = known else { return opcode.to_owned() };
    let is_in = |names: &[&str]| names.iter().any(|name| known.starts_with(name));
    let bare = known.trim_end_matches("_e64").trim_end_matches("_e32").to_owned();
    match () {
        () if is_in(LONG) => bare + "_e64",
        () if is_in(BARE) => bare,
        () => known,
    }
}

/// How many operands are results, by the beginning of the name; the first row that fits.
static RESULTS: &[(&str, &str, usize)] = &[
    ("V_CMPX", "gfx1", 0),
    ("V_CMP", "_e32", 0),
    ("V_NOP", "", 0),
    ("V_SWAP", "", 2),
    ("V_PERMLANE", "_SWAP", 2),
    ("V_ADD_CO_", "_e64", 2),
    ("V_SUB_CO_", "_e64", 2),
    ("V_SUBREV_CO_", "_e64", 2),
    ("V_ADD_I32", "_e64_gfx6", 2),
    ("V_SUB_I32", "_e64_gfx6", 2),
    ("V_SUBREV_I32", "_e64_gfx6", 2),
    ("V_ADD_U32", "_e64_vi", 2),
    ("V_SUB_U32", "_e64_vi", 2),
    ("V_SUBREV_U32", "_e64_vi", 2),
    ("V_ADDC", "_e64", 2),
    ("V_SUBB", "_e64", 2),
    ("V_DIV_SCALE", "", 2),
    ("V_MAD_U64", "", 2),
    ("V_MAD_I64", "", 2),
    ("V_", "", 1),
    ("S_CMP", "", 0),
    ("S_BITCMP", "", 0),
    ("S_LOAD", "", 1),
    ("S_BUFFER_LOAD", "", 1),
    ("S_", "", 1),
    ("DS_", "_RTN", 1),
    ("DS_READ", "", 1),
    ("DS_LOAD", "", 1),
    ("DS_SWIZZLE", "", 1),
    ("DS_PERMUTE", "", 1),
    ("DS_BPERMUTE", "", 1),
    ("DS_", "", 0),
    ("", "_LOAD_", 1),
    ("", "_RTN", 1),
];

/// Scalar instructions without a result.
static NO_RESULT: &[&str] =
    &["S_NOP", "S_WAIT", "S_BRANCH", "S_CBRANCH", "S_ENDPGM", "S_BARRIER", "S_SETREG", "S_SENDMSG"];

fn results(opcode: &str) -> usize {
    if NO_RESULT.iter().any(|start| opcode.starts_with(start)) {
        return 0;
    }
    let row = RESULTS.iter().find(|(start, part, _)| opcode.starts_with(start) && opcode.contains(part));
    row.map_or(0, |(.., count)| *count)
}

/// Registers that instructions use unsaid, by the beginning of the name and a part of it. Too many do no harm where no rule
/// is about them (MODE, SCC, M0).
static IMPLIED: &[(&str, &str, &[&str])] = &[
    ("V_", "", &["implicit $exec", "implicit $mode"]),
    ("V_CMP_", "_e32", &["implicit-def $vcc"]),
    ("V_CMP_", "_sdwa", &["implicit-def $vcc"]),
    ("V_CMPX_", "", &["implicit-def $exec"]),
    ("V_CMPX_", "_e32", &["implicit-def $vcc"]),
    ("V_CNDMASK_", "_e32", &["implicit $vcc"]),
    ("V_CNDMASK_", "_dpp", &["implicit $vcc"]),
    ("V_DIV_FMAS", "", &["implicit $vcc"]),
    ("V_ADD_CO_", "_e32", &["implicit-def $vcc"]),
    ("V_SUB_CO_", "_e32", &["implicit-def $vcc"]),
    ("V_SUBREV_CO_", "_e32", &["implicit-def $vcc"]),
    ("V_ADD_CO_", "_dpp", &["implicit-def $vcc"]),
    ("V_SUB_CO_", "_dpp", &["implicit-def $vcc"]),
    ("V_SUBREV_CO_", "_dpp", &["implicit-def $vcc"]),
    ("V_ADD_I32", "_e32_gfx6", &["implicit-def $vcc"]),
    ("V_SUB_I32", "_e32_gfx6", &["implicit-def $vcc"]),
    ("V_SUBREV_I32", "_e32_gfx6", &["implicit-def $vcc"]),
    ("V_ADD_U32", "_e32_vi", &["implicit-def $vcc"]),
    ("V_SUB_U32", "_e32_vi", &["implicit-def $vcc"]),
    ("V_SUBREV_U32", "_e32_vi", &["implicit-def $vcc"]),
    ("V_ADD_U32", "_dpp_vi", &["implicit-def $vcc"]),
    ("V_SUB_U32", "_dpp_vi", &["implicit-def $vcc"]),
    ("V_SUBREV_U32", "_dpp_vi", &["implicit-def $vcc"]),
    ("V_ADDC_", "_e32", &["implicit-def $vcc", "implicit $vcc"]),
    ("V_SUBB_", "_e32", &["implicit-def $vcc", "implicit $vcc"]),
    ("V_ADDC_", "_dpp", &["implicit-def $vcc", "implicit $vcc"]),
    ("V_ADD_CO_CI", "_e32", &["implicit-def $vcc", "implicit $vcc"]),
    ("V_SUB_CO_CI", "_e32", &["implicit-def $vcc", "implicit $vcc"]),
    ("DS_", "", &["implicit $exec", "implicit $m0"]),
    ("GLOBAL_", "", &["implicit $exec"]),
    ("BUFFER_", "", &["implicit $exec"]),
    ("FLAT_", "", &["implicit $exec", "implicit $flat_scr"]),
    ("SCRATCH_", "", &["implicit $exec", "implicit $flat_scr"]),
    ("S_CBRANCH_SCC", "", &["implicit $scc"]),
    ("S_CBRANCH_VCC", "", &["implicit $vcc"]),
    ("S_CBRANCH_EXEC", "", &["implicit $exec"]),
    ("S_CSELECT", "", &["implicit $scc"]),
    ("S_CMOV", "", &["implicit $scc"]),
    ("S_ADDC", "", &["implicit $scc"]),
    ("S_SUBB", "", &["implicit $scc"]),
    ("S_", "_SAVEEXEC", &["implicit-def $exec", "implicit $exec"]),
    ("S_", "", &["implicit-def $scc"]),
];

fn implied(opcode: &str) -> impl Iterator<Item = &'static str> + '_ {
    let fits = move |row: &&(&str, &str, &'static [&'static str])| opcode.starts_with(row.0) && opcode.contains(row.1);
    IMPLIED.iter().filter(fits).flat_map(|row| row.2.iter().copied())
}

/// Stands before what writes scalar registers of gfx11: LLVM does not move waits past it.
const MARK: &str = "S_CMP_EQ_U32 $ttmp15, 0, implicit-def $scc";

/// The instructions of each function that LLVM prints, but for marks.
fn bodies(text: &str) -> Vec<Vec<String>> {
    let mut bodies: Vec<Vec<String>> = Vec::new();
    let mut is_body = false;
    for line in text.lines() {
        if line.starts_with("body:") {
            is_body = true;
            bodies.push(Vec::new());
        } else if line == "..." {
            is_body = false;
        } else if let Some(inst) =
            line.strip_prefix("    ").filter(|inst| is_body && !inst.starts_with("successors:") && *inst != MARK)
        {
            bodies.last_mut().expect("one was begun").push(inst.to_owned());
        }
    }
    bodies
}

/// The name of an instruction of machine code.
fn key(inst: &str) -> &str {
    let inst = inst.split_once(" = ").map_or(inst, |(_, rest)| rest);
    inst.split(' ').next().unwrap_or_default()
}

/// The bits of DEPCTR's fields `sa_sdst`, `va_vcc`, `va_sdst`, `vm_vsrc` and `va_vdst`. The first three are about scalar
/// registers.
static FIELDS: [u32; 5] = [1, 2, 0xe00, 0x1c, 0xf000];

/// Which fields an instruction waits for, if it is about them.
fn waited(inst: &str) -> Option<Fields> {
    let number: u32 = inst.strip_prefix("S_WAITCNT_DEPCTR ")?.split(',').next()?.parse().ok()?;
    Some(FIELDS.map(|bits| number & bits == 0))
}

type Fields = [bool; FIELDS.len()];

fn and(one: Fields, other: Fields) -> Fields {
    std::array::from_fn(|n| one[n] || other[n])
}

fn but(one: Fields, other: Fields) -> Fields {
    std::array::from_fn(|n| one[n] && !other[n])
}

/// An instruction that LLVM adds, or fields that it waits for where the listing does not.
struct Added {
    inst: String,
    fields: Fields,
    /// The place in the listing of the instruction before it, if there is one.
    after: Option<usize>,
    /// The place of the instruction that it comes before.
    before: usize,
}

/// The waits and instructions that LLVM adds. It joins waits for fields, so what counts is what is waited for between
/// two other instructions.
fn compare(listing: &[Item], after: &[String]) -> Result<Vec<Added>, String> {
    let mut added = Vec::new();
    let mut rest = after.iter();
    let mut last = None;
    let mut own = Fields::default();
    for (at, item) in listing.iter().enumerate() {
        let Item::Inst(inst) = item else { continue };
        let wanted = inst.machine_code(&|_| 0);
        if let Some(fields) = waited(&wanted) {
            own = and(own, fields);
            continue;
        }
        let mut theirs = Fields::default();
        loop {
            let next = rest.next().ok_or_else(|| format!("{} is missing", inst.line))?;
            match waited(next) {
                Some(fields) => theirs = and(theirs, fields),
                None if key(next) == key(&wanted) => break,
                None => added.push(Added { inst: next.clone(), fields: Fields::default(), after: last, before: at }),
            }
        }
        let fields = but(theirs, own);
        if fields != Fields::default() {
            added.push(Added { inst: format!("a wait for {fields:?}"), fields, after: last, before: at });
        }
        last = Some(at);
        own = Fields::default();
    }
    Ok(added)
}

fn inst_at(listing: &[Item], at: usize) -> Option<&Inst> {
    if let Some(Item::Inst(inst)) = listing.get(at) { Some(inst) } else { None }
}

fn scalars_written(inst: &Inst) -> impl Iterator<Item = String> + '_ {
    inst.registers(false).filter(|name| name.starts_with("$sgpr") || name.starts_with("$vcc"))
}

/// LLVM waits at once where a scalar register is written that was a mask; a listing may as well wait before each instruction
/// that reads the register.
fn is_waited_for_later(listing: &[Item], added: &Added) -> bool {
    let Some((writer, start)) = added.after.and_then(|at| Some((inst_at(listing, at)?, at + 1))) else { return false };
    let written: Vec<String> = scalars_written(writer).collect();
    if written.is_empty() || added.fields == Fields::default() || added.fields[3..].contains(&true) {
        return false;
    }
    let mut seen = vec![false; listing.len() + 1];
    let mut next = vec![start];
    while let Some(at) = next.pop() {
        if at >= listing.len() || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let Some(inst) = inst_at(listing, at) else {
            next.push(at + 1);
            continue;
        };
        if waited(&inst.machine_code(&|_| 0)).is_some_and(|fields| but(added.fields, fields) == Fields::default()) {
            continue;
        }
        let is_reader =
            inst.opcode.starts_with("V_") || inst.opcode.starts_with("S_") && !inst.opcode.starts_with("S_LOAD");
        if is_reader && inst.registers(true).any(|name| written.contains(&name)) {
            return false;
        }
        if let Some(Operand::Label(label)) = inst.operands.first() {
            next.extend(listing.iter().position(|item| matches!(item, Item::Label(name) if name == label)));
        }
        if !["S_BRANCH", "S_ENDPGM"].contains(&plain(&inst.opcode)) {
            next.push(at + 1);
        }
    }
    true
}

/// LLVM has wait states before DPP of gfx8 and gfx9 for each vector register that it reads, the old value too. They are needed
/// for the operand alone that other lanes read, says AMD's article on cross-lane operations of GCN 3 ("this hazard affects
/// only the operand that DPP reads"), and ACO counts no other.
fn is_before_still_operand(listing: &[Item], added: &Added) -> bool {
    let Some(dpp) = inst_at(listing, added.before) else { return false };
    let is_slow = dpp.opcode.contains("_dpp_vi") || dpp.opcode.contains("_dpp_gfx9");
    // The result, the old value, the operand that moves.
    let moved = dpp
        .operands
        .iter()
        .skip(results(&dpp.opcode))
        .filter_map(|operand| if let Operand::Register(name) = operand { Some(name) } else { None })
        .nth(1);
    let Some(moved) = moved.filter(|_| is_slow && added.inst.starts_with("S_NOP ")) else { return false };
    let mut states = 0;
    for item in listing[..added.before].iter().rev() {
        let Item::Inst(inst) = item else { return states >= 5 };
        let is_trans = TRANSCENDENTAL.iter().any(|start| inst.opcode.starts_with(start));
        let writes_moved = inst.registers(false).any(|name| name == *moved);
        if states == 0 && is_trans || states < 2 && writes_moved || states < 5 && inst.opcode.starts_with("V_CMPX") {
            return false;
        }
        states += match inst.operands.first() {
            Some(Operand::Number(more)) if inst.opcode.starts_with("S_NOP") => more.parse().unwrap_or(0) + 1,
            _ => 1,
        };
    }
    true
}

/// Instructions whose results CDNA 3 forwards to none of the next.
const TRANSCENDENTAL: [&str; 7] = ["V_RCP_", "V_RSQ_", "V_SQRT_", "V_EXP_", "V_LOG_", "V_SIN_", "V_COS_"];
