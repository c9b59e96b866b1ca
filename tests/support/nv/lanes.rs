//! Shuffles, votes and ballots, as defined by PTX for `shfl.sync`, by NV_gpu_program5 and by NV_shader_thread_group.

use super::machine::{Mask, Row, WARP};

/// The rows of the result: predicate and value of a shuffle, or a single one.
pub fn apply(op: &str, sources: &[Row], mask: &Mask) -> Result<Vec<Row>, String> {
    let lanes = mask.len();
    let of_warp = |lane: usize| lane / WARP * WARP..(lane / WARP * WARP + WARP).min(lanes);
    let votes = |lane: usize| of_warp(lane).filter(|other| mask[*other]).map(|other| sources[0][other] as u32 != 0);
    let truth = |holds: bool| if holds { 0xffff_ffff } else { 0 };
    let row = |of: &dyn Fn(usize) -> u64| vec![(0..lanes).map(of).collect::<Row>()];
    Ok(match op {
        "TGALL" => row(&|lane| truth(votes(lane).all(|vote| vote))),
        "TGANY" => row(&|lane| truth(votes(lane).any(|vote| vote))),
        "TGEQ" => row(&|lane| truth(votes(lane).all(|vote| vote) || !votes(lane).any(|vote| vote))),
        "TGBALLOT" => row(&|lane| {
            let set = of_warp(lane).filter(|other| mask[*other] && sources[0][*other] as u32 != 0);
            set.map(|other| 1 << (other % WARP)).sum()
        }),
        "SHFUP" | "SHFDOWN" | "SHFXOR" | "SHFIDX" => shuffle(op, sources, mask)?,
        _ => return Err("no such operation".to_owned()),
    })
}

fn shuffle(op: &str, sources: &[Row], mask: &Mask) -> Result<Vec<Row>, String> {
    let [value, index, control] = sources else { return Err("a shuffle takes three operands".to_owned()) };
    let (mut valid, mut moved) = (vec![0; mask.len()], vec![0; mask.len()]);
    for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
        let own = (lane % WARP) as i64;
        let (b, segment, clamp) =
            ((index[lane] & 31) as i64, (control[lane] >> 8 & 31) as i64, (control[lane] & 31) as i64);
        let least = own & segment;
        let most = least | (clamp & !segment);
        let (from, holds) = match op {
            "SHFUP" => (own - b, own - b >= most),
            "SHFDOWN" => (own + b, own + b <= most),
            "SHFXOR" => (own ^ b, own ^ b <= most),
            _ => (least | (b & !segment), (least | (b & !segment)) <= most),
        };
        let source = if holds { lane / WARP * WARP + from as usize } else { lane };
        valid[lane] = if holds { 0xffff_ffff } else { 0 };
        // An inactive lane gives an arbitrary value.
        let is_there = mask.get(source).copied().unwrap_or(false);
        moved[lane] = if is_there { value[source] } else { 0xbad_1a9e };
    }
    Ok(vec![valid, moved])
}
