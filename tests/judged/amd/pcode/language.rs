//! Checks the reader of the pseudo-code with texts written for this test, and that a wrong instruction is found.

use super::compare::Subject;
use support::amd::single;
use support::amd::target::Target;
use support::pcode::{Run, Texts, Value};

/// A text, its sources, and the expected bits in D0.
static TEXTS: &[(&str, [u64; 2], u64)] = &[
    ("D0.u32 = S0.u32 + S1.u32 * 2U", [3, 5], 13),
    ("D0.u32[31 : 0] = S0.u32[0 : 31]", [1, 0], 0x8000_0000),
    ("D0.i32 = 32'I(signext(S0.i8))", [0x80, 0], 0xffff_ff80),
    ("D0 = { S1[15 : 0].u16, S0[31 : 16].u16 }", [0xaaaa_bbbb, 0xcccc_dddd], 0xdddd_aaaa),
    ("tmp = 0;\nfor i in 0 : 31 do\ntmp += S0.u32[i] == 1'1U ? 1 : 0\nendfor;\nD0.i32 = tmp", [0xf0f, 0], 8),
    ("D0.i32 = -1;\nfor i in 0 : 31 do\nif S0.u32[i] == 1'1U then\nD0.i32 = i;\nbreak\nendif\nendfor", [8, 0], 3),
    ("F = lambda(x, y) (\nx > y ? x - y : y - x);\nD0.u32 = F(S0.u32, S1.u32)", [5, 9], 4),
    (
        "if S0.f32 == DENORM.f32 then\nD0.u32 = 1U\nelsif isNAN(64'F(S0.f32)) then\nD0.u32 = 2U\nelse\nD0.u32 = 3U\nendif",
        [1, 0],
        1,
    ),
    ("D0.f32 = S0.f32 * 2.0F ** S1.i32", [1, 23], 0x0080_0000),
    ("D0.f16 = f32_to_f16(S0.f32)", [0x3f80_1000, 0], 0x3c00),
    ("ROUND_MODE = ROUND_TOWARD_ZERO;\nD0.f16 = f32_to_f16(S0.f32)", [0x3f80_3fff, 0], 0x3c01),
    ("D0.u32 = 32'U((64'U(S0.u32) * 64'U(S1.u32)) >> 32U)", [u32::MAX as u64, u32::MAX as u64], 0xffff_fffe),
    ("D0.u32 = S0.f32 == -0.0 ? 1U : 0U", [0, 0], 0),
    ("D0.i32 = S0.i32 >> S1[4 : 0].u32", [0x8000_0000, 31], 0xffff_ffff),
];

/// Texts that must be reported as unreadable or impossible to run.
static WRONG: &[&str] =
    &["D0.u32 = (S0.u32", "if S0 then D0.u32 = 1U", "D0.u32 = unheard_of(S0.u32)", "D0.u32 = S7.u32", "?"];

pub fn hold() -> Result<(), String> {
    for (text, sources, expected) in TEXTS {
        let bits = run(text, *sources)?;
        if bits != *expected {
            return Err(format!("{text}: {bits:#x} instead of {expected:#x}"));
        }
    }
    WRONG.iter().find(|text| run(text, [0; 2]).is_ok()).map_or(Ok(()), |text| Err(format!("{text}: is no error")))
}

fn texts(text: &str) -> Result<Texts, String> {
    Texts::read(&format!("  VOP2Op.V_ADD_NC_U32_E32: '{}',", text.replace('\n', "\\n").replace('\'', "\\'")))
}

fn run(text: &str, sources: [u64; 2]) -> Result<u64, String> {
    let texts = texts(text)?;
    let mut run = Run::new(&texts, "v_add_nc_u32")?;
    for (name, bits) in ["S0", "S1"].into_iter().zip(sources) {
        run.set(name, Value::unsigned(bits, 32));
    }
    run.set("D0", Value::unsigned(0, 32));
    run.run()?;
    run.get("D0").map(|value| value.bits as u64).ok_or_else(|| "there is no D0".to_owned())
}

/// An addition differs from a subtraction, and from a text without a result.
pub fn finds() -> Result<(), String> {
    let (target, name) = (Target::new("gfx1100", 32)?, "v_add_nc_u32");
    let form = single::form(name, &target).ok_or("there is no such instruction")?;
    let cases = |text: &str| {
        let texts = texts(text)?;
        Subject { texts: &texts, name, text: name, form: form.clone(), target }.differences(2)
    };
    match (cases("D0.u32 = S0.u32 + S1.u32")?.len(), cases("D0.u32 = S0.u32 - S1.u32")?.len(), cases("tmp = S0.u32")) {
        (0, 1.., Err(_)) => Ok(()),
        other => Err(format!("the wrong ones differ: {other:?}")),
    }
}
