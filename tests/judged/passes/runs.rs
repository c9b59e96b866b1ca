//! Two kernels in the simulator, on the same random memory.

use crosslane::kernel::Kernel;
use crosslane::sim::{Dispatch, Memory, Program, Undefined};

/// Words that are more likely than others to make a difference: zeros, ones, extremes, infinities and a NaN.
const SPECIAL: [u32; 12] =
    [0, 1, 2, 3, 31, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x3f80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001];

/// Minimum number of bytes in each buffer.
const BYTES: u32 = 4096;

/// Checks that two kernels give the same results, where those are defined.
pub fn alike(before: &Kernel, after: &Kernel, lanes: u32) -> Result<(), String> {
    for seed in 0..4 {
        let [expected, left] = [before, after].map(|kernel| run(kernel, lanes, seed));
        let (expected, left) = (expected?, left.map_err(|why| format!("only the second kernel fails: {why}"))?);
        for (number, (expected, left)) in expected.iter().zip(&left).enumerate() {
            let differs = |at: &usize| {
                let byte = |memory: &Memory| (!memory.is_undefined(*at, 1)).then(|| memory.bytes()[*at]);
                byte(expected).is_some() && byte(expected) != byte(left)
            };
            if let Some(at) = (0..expected.len()).find(differs) {
                return Err(format!("seed {seed}: buffer {number} differs at byte {at} in the simulator"));
            }
        }
    }
    Ok(())
}

fn run(kernel: &Kernel, lanes: u32, seed: u32) -> Result<Vec<Memory>, String> {
    let program = Program::new(kernel, lanes).map_err(|refusal| refusal.message)?;
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let mut buffers: Vec<Memory> = kernel.buffers.iter().map(|buffer| random(&mut state, buffer.bytes)).collect();
    let push = random(&mut state, kernel.push_bytes);
    // Passes keep what racing waves leave, too.
    let dispatch = Dispatch {
        undefined: Undefined::Keep,
        allow_races: true,
        max_steps: 100_000,
        push: push.bytes(),
        ..Dispatch::new([2, 1, 1])
    };
    program.run(&dispatch, &mut buffers).map_err(|fault| fault.diagnostic().message)?;
    Ok(buffers)
}

/// Memory with random words.
fn random(state: &mut u32, bytes: u32) -> Memory {
    let words = (0..bytes.max(BYTES) / 4).map(|_| {
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        if *state & 3 == 0 { SPECIAL[(*state >> 8) as usize % SPECIAL.len()] } else { *state }
    });
    Memory::from(words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
}
