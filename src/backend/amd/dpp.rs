//! The controls of DPP, as they follow an instruction's operands.
//!
//! Their order is fixed: control, row mask, bank mask, `bound_ctrl`, `fi`. `bound_ctrl:1` is the only spelling with the
//! same meaning on every generation; without it an invalid source leaves the lane unchanged.

use crate::lane::primitive::{Dpp8, Dpp16, DppControl};

/// The controls of DPP16.
pub fn controls(dpp: &Dpp16) -> String {
    let bound = if dpp.bound_ctrl { " bound_ctrl:1" } else { "" };
    let fetch = if dpp.fetch_inactive { " fi:1" } else { "" };
    format!("{} row_mask:{:#x} bank_mask:{:#x}{bound}{fetch}", control(dpp.control), dpp.row_mask, dpp.bank_mask)
}

/// The controls of DPP8.
pub fn controls8(dpp: &Dpp8) -> String {
    let lanes: Vec<String> = (0..8).map(|k| (dpp.selectors >> (3 * k) & 7).to_string()).collect();
    let fetch = if dpp.fetch_inactive { " fi:1" } else { "" };
    format!("dpp8:[{}]{fetch}", lanes.join(","))
}

/// Describes the lane that each lane reads.
pub fn control(control: DppControl) -> String {
    use DppControl as C;
    match control {
        C::QuadPerm(selectors) => {
            let lane = |k: u8| selectors >> (2 * k) & 3;
            format!("quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))
        }
        C::RowShl(k) => format!("row_shl:{k}"),
        C::RowShr(k) => format!("row_shr:{k}"),
        C::RowRor(k) => format!("row_ror:{k}"),
        C::WaveShl => "wave_shl:1".into(),
        C::WaveShr => "wave_shr:1".into(),
        C::WaveRol => "wave_rol:1".into(),
        C::WaveRor => "wave_ror:1".into(),
        C::RowMirror => "row_mirror".into(),
        C::RowHalfMirror => "row_half_mirror".into(),
        C::RowBcast15 => "row_bcast:15".into(),
        C::RowBcast31 => "row_bcast:31".into(),
        C::RowNewBcast(k) => format!("row_newbcast:{k}"),
        C::RowShare(k) => format!("row_share:{k}"),
        C::RowXmask(k) => format!("row_xmask:{k}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_stand_in_the_order_of_the_assembler() {
        let plain = Dpp16::new(DppControl::RowXmask(1));
        assert_eq!(controls(&plain), "row_xmask:1 row_mask:0xf bank_mask:0xf bound_ctrl:1");
        let narrow =
            Dpp16 { row_mask: 10, bound_ctrl: false, fetch_inactive: true, ..Dpp16::new(DppControl::RowBcast15) };
        assert_eq!(controls(&narrow), "row_bcast:15 row_mask:0xa bank_mask:0xf fi:1");
        let eight = Dpp8 { selectors: 0o7654_3210, fetch_inactive: false };
        assert_eq!(controls8(&eight), "dpp8:[0,1,2,3,4,5,6,7]");
    }
}
