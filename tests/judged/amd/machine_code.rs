//! Listings as LLVM machine code, checked by LLVM's own passes: each instruction that a pass would insert is a fault in
//! the listing.
//!
//! The assembler determines the LLVM instruction of a line and its operands. The tables below derive the rest of the
//! machine code (number of results, implicit registers) from the instruction's name; LLVM reports what they lack.

use crosslane::profile::Profile;
use crosslane::profile::processor::Processor;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use support::assembler;

/// A listing and its name in messages.
pub struct Listing {
    pub name: String,
    pub text: String,
}

/// An instruction as the assembler names it.
pub struct Inst {
    /// Its line in the listing.
    pub line: String,
    /// LLVM's name.
    pub opcode: String,
    pub operands: Vec<Operand>,
}

pub enum Operand {
    Register(String),
    Number(String),
    Label(String),
}

pub enum Item {
    Label(String),
    Inst(Inst),
}

/// The listings of a profile as machine code, a function each.
pub struct Program<'a> {
    profile: &'a Profile,
    listings: &'a [Listing],
    functions: Vec<Vec<Item>>,
    code: String,
}

impl<'a> Program<'a> {
    /// Lets the assembler read listings; it must accept every line.
    pub fn read(profile: &'a Profile, listings: &'a [Listing]) -> Result<Self, String> {
        let functions = read(&assembled(profile, listings)?);
        let lines = |listing: &Listing| code(&listing.text).filter(|line| !line.ends_with(':')).count();
        let insts = |items: &Vec<Item>| items.iter().filter(|item| matches!(item, Item::Inst(_))).count();
        if !listings.iter().map(lines).eq(functions.iter().map(insts)) {
            return Err("the assembler has other lines than the listings".to_owned());
        }
        let kernels =
            (0..functions.len()).map(|n| format!("  define amdgpu_kernel void @{FUNCTION}{n}() {{ ret void }}\n"));
        let mut code = format!("--- |\n{}...\n", kernels.collect::<String>());
        code.extend(functions.iter().enumerate().map(|(n, items)| function(n, items)));
        Ok(Program { profile, listings, functions, code })
    }

    pub fn processor(&self) -> Option<&'static Processor> {
        Processor::named(&self.profile.processor)
    }

    /// Runs LLVM passes. `is_wait` selects the instructions that LLVM may merge and move slightly; `judge` reports what
    /// is wrong with the instructions inserted in a gap.
    pub fn hold(
        &self,
        passes: &str,
        is_wait: impl Fn(&str) -> bool,
        judge: impl Fn(&[Item], &Gap) -> Option<String>,
    ) -> Result<(), String> {
        let fixed = ["-mtriple=amdgcn-amd-amdhsa", "-x=mir", "-o", "-", "-"];
        let mut llc = Command::new("llc-22");
        llc.args(target(self.profile)).args(fixed).arg(format!("-run-pass={passes}"));
        let after = bodies(&filter(&mut llc, &self.code)?);
        if after.len() != self.functions.len() {
            return Err(format!("{} listings became {}", self.functions.len(), after.len()));
        }
        let mut found = Vec::new();
        for ((listing, before), after) in self.listings.iter().zip(&self.functions).zip(&after) {
            let gaps = gaps(before, after, &is_wait).map_err(|why| format!("{}: {why}", listing.name))?;
            for (gap, wrong) in gaps.iter().filter_map(|gap| Some((gap, judge(before, gap)?))) {
                let line = |at: usize| inst_at(before, at).map_or("", |inst| &inst.line);
                let last = gap.after.map_or("", line);
                found.push(format!("{}: {wrong} between `{last}` and `{}`", listing.name, line(gap.before)));
            }
        }
        if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
    }
}

/// A gap between two instructions of a listing that are also in LLVM's code, or between one and the start or end of its
/// block, with the instructions that either side has there.
pub struct Gap {
    /// The index in the listing of the instruction before it, if any.
    pub after: Option<usize>,
    /// The index of what follows it: an instruction or a label.
    pub before: usize,
    /// The waits of the listing.
    pub own: Vec<String>,
    /// LLVM's waits, and its insertions.
    pub theirs: Vec<String>,
}

fn gaps(listing: &[Item], after: &[String], is_wait: impl Fn(&str) -> bool) -> Result<Vec<Gap>, String> {
    let mut gaps = Vec::new();
    let mut rest = after.iter();
    let mut up_to = |wanted: &str| -> Result<Vec<String>, String> {
        let mut passed = Vec::new();
        loop {
            let next = rest.next().ok_or_else(|| format!("{wanted} is missing"))?;
            if !is_wait(next) && key(next) == key(wanted) {
                return Ok(passed);
            }
            passed.push(next.clone());
        }
    };
    up_to(BLOCK)?;
    let mut last = None;
    let mut own = Vec::new();
    for (at, item) in listing.iter().enumerate() {
        let wanted = match item {
            Item::Label(_) => BLOCK.to_owned(),
            Item::Inst(inst) => inst.machine_code(&|_| 0),
        };
        if is_wait(&wanted) {
            own.push(wanted);
            continue;
        }
        gaps.push(Gap { after: last, before: at, own: std::mem::take(&mut own), theirs: up_to(&wanted)? });
        if let Item::Inst(inst) = item {
            last = Some(at);
            if inst.ends_block() {
                gaps.push(Gap { after: last, before: at, own: Vec::new(), theirs: up_to(BLOCK)? });
            }
        }
    }
    Ok(gaps)
}

/// Checks that a judge finds the fault in each of these programs, which come with their profiles.
pub fn finds(broken: &[(&str, &str)], hold: impl Fn(&Program<'_>) -> Result<(), String>) -> Result<(), String> {
    if !assembler::are_there()? {
        return Ok(());
    }
    for (name, code) in broken {
        let profile = Profile::named(name).ok_or_else(|| format!("no profile {name}"))?;
        let text = code.replace("; ", "\n") + "\ns_endpgm";
        let listing = [Listing { name: (*code).to_owned(), text }];
        let found = Program::read(&profile, &listing).and_then(|program| hold(&program));
        if !found.as_ref().is_err_and(|why| why.contains(" between ")) {
            return Err(format!("{name}: in {code} it finds {found:?}"));
        }
    }
    Ok(())
}

/// The places of the instructions that branch to a label.
pub fn branches<'a>(listing: &'a [Item], to: &'a str) -> impl Iterator<Item = usize> + 'a {
    let leads = move |item: &Item| match item {
        Item::Inst(inst) => inst.operands.iter().any(|operand| matches!(operand, Operand::Label(label) if label == to)),
        Item::Label(_) => false,
    };
    listing.iter().enumerate().filter(move |(_, item)| leads(item)).map(|(at, _)| at)
}

pub fn inst_at(listing: &[Item], at: usize) -> Option<&Inst> {
    if let Some(Item::Inst(inst)) = listing.get(at) { Some(inst) } else { None }
}

pub fn target(profile: &Profile) -> Vec<String> {
    assembler::options(&profile.processor, profile.wave_size.unwrap_or(64))
}

/// Pipes a text through a program and returns its output, or its complaints as an error.
pub fn filter(command: &mut Command, text: &str) -> Result<String, String> {
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

/// The instructions and labels of a text, without assembler directives about the kernel.
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
    let insts =
        functions.iter_mut().flatten().filter_map(|item| if let Item::Inst(inst) = item { Some(inst) } else { None });
    insts.for_each(Inst::drop_old_value);
    functions
}

impl Operand {
    /// The register, if the operand is one.
    pub fn register(&self) -> Option<&str> {
        if let Operand::Register(name) = self { Some(name) } else { None }
    }

    fn read(text: &str) -> Operand {
        match text.split_once(':') {
            Some(("Reg", name)) => Operand::Register(register(name)),
            Some(("Expr", label)) if label.starts_with(".L") => Operand::Label(label.to_owned()),
            Some(("Imm", number)) => Operand::Number(number.to_owned()),
            _ => Operand::Number("0".to_owned()),
        }
    }
}

/// Turns `SGPR_NULL_gfx11plus` into `$sgpr_null`: encodings differ, machine code has only one.
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
                if inst.ends_block() {
                    blocks.push(Vec::new());
                }
            }
        }
    }
    let block_of = |label: &String| starts.iter().find(|(name, _)| *name == label).map_or(0, |(_, at)| *at);
    let mut text = format!("---\nname: {FUNCTION}{number}\nmachineFunctionInfo:\n  isEntryFunction: true\nbody: |\n");
    for (n, block) in blocks.iter().enumerate() {
        let _ = writeln!(text, "  bb.{n}:");
        for inst in block {
            if inst.opcode.contains("_gfx11") && inst.scalars_written().next().is_some() {
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
    /// Returns true for an atomic on buffers or images that returns the old value.
    pub fn returns(&self) -> bool {
        self.opcode.contains("_RTN") || self.opcode.starts_with("IMAGE_ATOMIC") && !self.opcode.contains("_NORTN")
    }

    /// The assembler has one name for image atomics with and without a result, LLVM's passes have two.
    fn drop_old_value(&mut self) {
        let gives_it = self.line.contains(" glc") || self.line.contains("TH_ATOMIC_RETURN");
        if !self.opcode.starts_with("IMAGE_ATOMIC") || gives_it {
            return;
        }
        let sizes = self.opcode.match_indices("_V").find(|(at, _)| self.opcode[at + 2..].starts_with(char::is_numeric));
        if let Some((at, _)) = sizes {
            self.opcode.insert_str(at, "_NORTN");
            self.operands.remove(0);
        }
    }

    /// Returns true if it branches.
    fn ends_block(&self) -> bool {
        self.operands.iter().any(|operand| matches!(operand, Operand::Label(_)))
    }

    pub fn machine_code(&self, block_of: &impl Fn(&String) -> usize) -> String {
        if let Some(source) = self.moved_everywhere() {
            return format!("{} = V_MOV_B32_e32 {source}, implicit $exec", words(&self.operands[..1], block_of)[0]);
        }
        let mut words = words(&self.operands, block_of);
        if self.opcode.starts_with("BUFFER_ATOMIC") {
            // An operand of the assembler only, which LLVM's instructions lack.
            words.pop();
        }
        let rest = words.split_off(results(&self.opcode).min(words.len()));
        let results = if words.is_empty() { String::new() } else { words.join(", ") + " = " };
        let implied = implied(&self.opcode).map(str::to_owned);
        let rest = rest.into_iter().chain(implied).collect::<Vec<_>>().join(", ");
        format!("{results}{} {rest}{}", machine_opcode(&self.opcode), self.memory())
    }

    /// Flat accesses go to buffers. Image instructions must name a resource.
    fn memory(&self) -> &'static str {
        match &self.opcode {
            name if name.starts_with("FLAT_LOAD") => " :: (load (s32), addrspace 1)",
            name if name.starts_with("FLAT_STORE") => " :: (store (s32), addrspace 1)",
            name if name.starts_with("FLAT_ATOMIC") => " :: (load store (s32), addrspace 1)",
            name if name.starts_with("IMAGE_STORE") => " :: (store (s32), addrspace 8)",
            name if name.starts_with("IMAGE_ATOMIC") => " :: (load store (s32), addrspace 8)",
            name if name.starts_with("IMAGE_") && !name.contains("RESINFO") => " :: (load (s32), addrspace 8)",
            _ => "",
        }
    }

    /// The name of a DPP move that writes all lanes, from gfx10 on: it does not read the old value, although LLVM
    /// assumes it does.
    fn moved_everywhere(&self) -> Option<&String> {
        let is_move = self.opcode.starts_with("V_MOV_B32_dpp_gfx1");
        let Some(Operand::Register(source)) = self.operands.get(2).filter(|_| is_move) else { return None };
        // All rows, all banks, zero for lanes out of range.
        let wanted = ["15", "15", "1"];
        let given = self.operands.get(4..7).unwrap_or_default();
        given
            .iter()
            .zip(wanted)
            .all(|(operand, wanted)| matches!(operand, Operand::Number(number) if number == wanted))
            .then_some(source)
    }

    pub fn scalars_written(&self) -> impl Iterator<Item = String> + '_ {
        self.registers(false).filter(|name| name.starts_with("$sgpr") || name.starts_with("$vcc"))
    }

    /// The registers of 32 bits that it reads or writes.
    pub fn registers(&self, are_read: bool) -> impl Iterator<Item = String> + '_ {
        let results = results(&self.opcode);
        let (written, read) = self.operands.split_at(results.min(self.operands.len()));
        let named = if are_read { read } else { written };
        let named = named.iter().filter_map(Operand::register);
        let start = if are_read { "implicit " } else { "implicit-def " };
        named.chain(implied(&self.opcode).filter_map(move |word| word.strip_prefix(start))).flat_map(parts)
    }
}

/// `$sgpr2_sgpr3` as two names.
pub fn parts(register: &str) -> Vec<String> {
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

/// The name of LLVM's instruction, without the suffix of the encoding.
pub fn plain(opcode: &str) -> &str {
    let ends = ["_vi", "_si", "_ci", "_gfx"];
    let at = ends.into_iter().filter_map(|end| opcode.find(end)).min();
    at.map_or(opcode, |at| &opcode[..at])
}

/// Instructions that the passes identify by name: prefixes of the encodings' names, and the names that the passes know.
static BY_NAME: &[(&str, &str)] = &[
    ("S_NOP", "S_NOP"),
    ("S_CLAUSE", "S_CLAUSE"),
    ("S_WAIT", "S_WAIT"),
    ("S_BRANCH", "S_BRANCH"),
    ("S_CBRANCH", "S_CBRANCH"),
    ("S_ENDPGM", "S_ENDPGM"),
    ("S_BARRIER", "S_BARRIER"),
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

/// Instructions with a single form that the encoding's name leaves out, and those whose name leaves out the encoding's
/// suffix.
static LONG: &[&str] =
    &["V_DIV_FMAS", "V_PERMLANE16_B32", "V_PERMLANEX16_B32", "V_PERMLANE16_VAR", "V_PERMLANEX16_VAR"];
static BARE: &[&str] = &["V_READLANE", "V_READFIRSTLANE", "V_WRITELANE"];

fn machine_opcode(opcode: &str) -> String {
    // Without a processor, LLVM's verifier identifies the class of such an instruction by its name.
    if let Some(known) = opcode.strip_suffix("_vi").filter(|known| known.ends_with("_sdwa")) {
        return known.to_owned();
    }
    let plain = plain(opcode);
    // Without a processor, the recognizer identifies the long form of a comparison by its name.
    if plain.starts_with("V_CMPX") && opcode.contains("_gfx1") {
        return plain.replace("_e32", "_nosdst_e32").replace("_e64", "_nosdst_e64");
    }
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
    ("V_DUAL_", "", 2),
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
    ("IMAGE_STORE", "", 0),
    ("IMAGE_ATOMIC", "_NORTN", 0),
    ("IMAGE_", "", 1),
    ("", "_LOAD_", 1),
    ("", "_RTN", 1),
];

/// Scalar instructions without a result.
static NO_RESULT: &[&str] =
    &["S_NOP", "S_CLAUSE", "S_WAIT", "S_BRANCH", "S_CBRANCH", "S_ENDPGM", "S_BARRIER", "S_SETREG", "S_SENDMSG"];

pub fn results(opcode: &str) -> usize {
    if NO_RESULT.iter().any(|start| opcode.starts_with(start)) {
        return 0;
    }
    let row = RESULTS.iter().find(|(start, part, _)| opcode.starts_with(start) && opcode.contains(part));
    row.map_or(0, |(.., count)| *count)
}

/// Implicit registers of instructions, by a prefix of the name and a substring. Registers that no rule covers (MODE,
/// SCC, M0) do no harm.
static IMPLIED: &[(&str, &str, &[&str])] = &[
    ("V_", "", &["implicit $exec", "implicit $mode"]),
    ("V_CMP_", "_e32", &["implicit-def $vcc"]),
    ("V_CMP_", "_sdwa", &["implicit-def $vcc"]),
    ("V_CMPX_", "", &["implicit-def $exec"]),
    ("V_CMPX_", "_e32", &["implicit-def $vcc"]),
    ("V_CNDMASK_", "_e32", &["implicit $vcc"]),
    ("V_CNDMASK_", "_dpp", &["implicit $vcc"]),
    ("V_DUAL_", "CNDMASK_", &["implicit $vcc"]),
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
    ("IMAGE_", "", &["implicit $exec"]),
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
    ("S_", "_F32", &["implicit $mode"]),
    ("S_", "", &["implicit-def $scc"]),
];

fn implied(opcode: &str) -> impl Iterator<Item = &'static str> + '_ {
    let fits = move |row: &&(&str, &str, &'static [&'static str])| opcode.starts_with(row.0) && opcode.contains(row.1);
    IMPLIED.iter().filter(fits).flat_map(|row| row.2.iter().copied())
}

/// Precedes instructions that write scalar registers on gfx11: LLVM does not move waits past it.
const MARK: &str = "S_CMP_EQ_U32 $ttmp15, 0, implicit-def $scc";

/// Stands for the start of a block.
const BLOCK: &str = "bb";

/// The instructions of each function that LLVM prints, but for marks, and the starts of its blocks.
fn bodies(text: &str) -> Vec<Vec<String>> {
    let mut bodies: Vec<Vec<String>> = Vec::new();
    let mut is_body = false;
    for line in text.lines() {
        if line.starts_with("body:") {
            is_body = true;
            bodies.push(Vec::new());
        } else if line == "..." {
            is_body = false;
        } else if is_body && line.starts_with("  bb.") {
            bodies.last_mut().expect("one was begun").push(BLOCK.to_owned());
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
