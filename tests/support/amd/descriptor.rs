//! The kernel descriptor: what `.amdhsa_` directives specify about a kernel and its initial registers.

use super::operand::{TTMP, VCC, VECTORS, integer};
use super::state::{State, Value};
use super::target::Target;
use std::collections::BTreeMap;

/// The values of the directives.
#[derive(Debug, Clone)]
pub struct Descriptor {
    /// Bytes of LDS, of scratch of a lane, and of the arguments.
    pub lds: usize,
    pub scratch: usize,
    pub kernarg: usize,
    /// How many registers of each kind there are.
    pub vectors: usize,
    pub scalars: usize,
    /// The first vector register that the halves of a wave share; past the last if there is none.
    pub shared_from: usize,
    pub ieee: bool,
    user: Vec<(User, usize)>,
    /// Total number of user registers, at least the number that the above take.
    user_count: usize,
    groups: [bool; 3],
    group_info: bool,
    scratch_offset: bool,
    workitem_dimensions: usize,
    /// Scalar registers with a value of the caller's choice.
    given: Vec<(usize, u32)>,
    /// True for a graphics driver's kernel: 32-bit subnormals are flushed, and the unrequested bits of packed ids are
    /// zero.
    pub by_driver: bool,
}

/// The initial registers of a kernel whose text has no descriptor, because a graphics driver specifies them in another
/// way.
#[derive(Debug, Clone, Default)]
pub struct Registers {
    pub given: Vec<(usize, u32)>,
    /// The register of the first enabled coordinate of the workgroup; the others follow.
    pub groups_at: usize,
    pub groups: [bool; 3],
    /// True if the size of the workgroup in waves and the wave's number follow.
    pub group_info: bool,
    /// The dimensions of an invocation's id.
    pub dimensions: usize,
    /// Bytes of LDS.
    pub lds: usize,
}

/// The content of the first scalar registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    ScratchBuffer,
    DispatchPacket,
    QueuePacket,
    Arguments,
    DispatchId,
    FlatScratch,
    ScratchSize,
}

/// The order of the user registers: directive, contents, number of registers.
static USER: &[(&str, User, usize)] = &[
    (".amdhsa_user_sgpr_private_segment_buffer", User::ScratchBuffer, 4),
    (".amdhsa_user_sgpr_dispatch_ptr", User::DispatchPacket, 2),
    (".amdhsa_user_sgpr_queue_ptr", User::QueuePacket, 2),
    (".amdhsa_user_sgpr_kernarg_segment_ptr", User::Arguments, 2),
    (".amdhsa_user_sgpr_dispatch_id", User::DispatchId, 2),
    (".amdhsa_user_sgpr_flat_scratch_init", User::FlatScratch, 2),
    (".amdhsa_user_sgpr_private_segment_size", User::ScratchSize, 1),
];

/// The facts about itself that a wave receives.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    pub arguments: u64,
    pub packet: u64,
    pub scratch: u64,
    /// Bytes from there to the wave's own.
    pub scratch_offset: u64,
    pub group: [u32; 3],
    pub group_size: [u32; 3],
    /// The first invocation of the wave.
    pub first: usize,
}

impl Descriptor {
    pub fn read(directives: &BTreeMap<String, String>, target: &Target) -> Result<Self, String> {
        let number = |name: &str| directives.get(name).and_then(|text| integer(text));
        let flag = |name: &str, usual: bool| number(name).map_or(usual, |value| value != 0);
        let size = |name: &str| number(name).unwrap_or(0) as usize;
        let user: Vec<_> =
            USER.iter().filter(|(name, ..)| flag(name, false)).map(|(_, user, count)| (*user, *count)).collect();
        let used = user.iter().map(|(_, count)| count).sum();
        let (private, shared) = (vector_count(directives, target), 8 * size(".amdhsa_shared_vgpr_count"));
        let shared_from = private.next_multiple_of(4);
        let descriptor = Self {
            lds: size(".amdhsa_group_segment_fixed_size"),
            scratch: size(".amdhsa_private_segment_fixed_size"),
            kernarg: size(".amdhsa_kernarg_size"),
            vectors: if shared > 0 { shared_from + shared } else { private },
            shared_from: if shared > 0 { shared_from } else { VECTORS },
            scalars: number(".amdhsa_next_free_sgpr")
                .filter(|_| target.version < 1000)
                .map_or(106, |count| count as usize),
            ieee: target.version < 1200 && flag(".amdhsa_ieee_mode", true),
            user,
            user_count: number(".amdhsa_user_sgpr_count").map_or(used, |count| count as usize),
            groups: [
                flag(".amdhsa_system_sgpr_workgroup_id_x", true),
                flag(".amdhsa_system_sgpr_workgroup_id_y", false),
                flag(".amdhsa_system_sgpr_workgroup_id_z", false),
            ],
            group_info: flag(".amdhsa_system_sgpr_workgroup_info", false),
            scratch_offset: flag(".amdhsa_system_sgpr_private_segment_wavefront_offset", false),
            workitem_dimensions: number(".amdhsa_system_vgpr_workitem_id").unwrap_or(0) as usize + 1,
            given: Vec::new(),
            by_driver: false,
        };
        descriptor.check(directives, target)?;
        Ok(descriptor)
    }

    /// The descriptor of a kernel that finds its registers so, in a mode that flushes subnormals of 32 bits.
    pub fn of(registers: Registers) -> Self {
        Self {
            lds: registers.lds,
            scratch: 0,
            kernarg: 0,
            vectors: VECTORS,
            shared_from: VECTORS,
            scalars: VCC,
            ieee: false,
            user: Vec::new(),
            user_count: registers.groups_at,
            groups: registers.groups,
            group_info: registers.group_info,
            scratch_offset: false,
            workitem_dimensions: registers.dimensions,
            given: registers.given,
            by_driver: true,
        }
    }

    fn check(&self, directives: &BTreeMap<String, String>, target: &Target) -> Result<(), String> {
        let number = |name: &str| directives.get(name).and_then(|text| integer(text));
        if number(".amdhsa_float_denorm_mode_32") != Some(3) {
            return Err("subnormals of 32 bits are flushed".to_owned());
        }
        if number(".amdhsa_float_denorm_mode_16_64").is_some_and(|mode| mode != 3) {
            return Err("subnormals of 16 and 64 bits are flushed".to_owned());
        }
        let wave32 = number(".amdhsa_wavefront_size32").map_or(target.version >= 1000, |value| value != 0);
        if wave32 != (target.wave == 32) {
            return Err(format!("waves are not of {} lanes", target.wave));
        }
        if self.lds > target.most_lds() as usize {
            return Err(format!("{} bytes of LDS", self.lds));
        }
        let system = self.groups.iter().filter(|enabled| **enabled).count();
        if self.user_count + system < target.least_initial_scalars() {
            return Err("fewer than 16 scalar registers are set up".to_owned());
        }
        if target.aligns_vectors() {
            let offset = number(".amdhsa_accum_offset").ok_or("there is no .amdhsa_accum_offset")?;
            if offset % 4 != 0 || (offset as usize) < self.vectors && self.vectors <= 256 {
                return Err(format!("accum_offset {offset} cuts off registers"));
            }
        }
        Ok(())
    }

    /// The registers of a wave at its start.
    pub fn start(&self, target: &Target, start: &Start) -> State {
        let total: usize = start.group_size.iter().map(|size| *size as usize).product();
        let lanes = (total - start.first).min(target.wave);
        let mut state = State::new(*target, u64::MAX >> (64 - lanes));
        state.share_from(self.shared_from);
        state.flushes = self.by_driver;
        self.user_registers(&mut state, start);
        self.system_registers(&mut state, start);
        self.workitems(&mut state, start, lanes);
        state
    }

    fn user_registers(&self, state: &mut State, start: &Start) {
        for (register, word) in &self.given {
            state.set_scalars(*register, 1, Value::of((*word).into()));
        }
        let mut at = 0;
        for (user, count) in &self.user {
            let value = match user {
                // Base, and in the highest word the bit that adds the lane to each address.
                User::ScratchBuffer => {
                    state.set_scalars(at + 2, 2, Value::of(1 << 55 | 0xffff_ffff));
                    start.scratch
                }
                User::DispatchPacket => start.packet,
                User::Arguments => start.arguments,
                User::FlatScratch => start.scratch,
                User::DispatchId => 0,
                User::ScratchSize => self.scratch as u64,
                User::QueuePacket => {
                    at += count;
                    continue;
                }
            };
            state.set_scalars(at, (*count).min(2), Value::of(value));
            at += count;
        }
    }

    fn system_registers(&self, state: &mut State, start: &Start) {
        let mut at = self.user_count;
        if state.target.has_group_in_ttmp() {
            let [x, y, z] = start.group.map(u64::from);
            state.set_scalars(TTMP + 9, 1, Value::of(x));
            state.set_scalars(TTMP + 7, 1, Value::of(y | z << 16));
            let wave = start.first / state.target.wave;
            state.set_scalars(TTMP + 8, 1, Value::of((wave as u64) << 25));
            return;
        }
        for (n, _) in self.groups.iter().enumerate().filter(|(_, enabled)| **enabled) {
            state.set_scalars(at, 1, Value::of(start.group[n].into()));
            at += 1;
        }
        if self.group_info {
            state.set_scalars(at, 1, Value::of(group_info(&state.target, start)));
            at += 1;
        }
        if self.scratch_offset {
            state.set_scalars(at, 1, Value::of(start.scratch_offset));
        }
    }

    /// Ids in one register with ten bits each, or in one register each. The unrequested ones in a packed register are
    /// undefined, but zero if only the first is requested.
    fn workitems(&self, state: &mut State, start: &Start, lanes: usize) {
        let [x, y, _] = start.group_size.map(|size| size as usize);
        let packs = state.target.packs_ids();
        for lane in 0..lanes {
            let n = start.first + lane;
            let ids = [n % x, n / x % y, n / x / y];
            let undefined = if self.workitem_dimensions == 1 || self.by_driver { 0 } else { 0xffff_ffff };
            let mut packed = Value { bits: 0, undefined };
            for (at, id) in ids.into_iter().enumerate().take(self.workitem_dimensions) {
                packed.bits |= (id as u64) << (10 * at);
                packed.undefined &= !(0x3ff << (10 * at));
                if !packs {
                    state.set_lane(at, 1, lane, Value::of(id as u64));
                }
            }
            if packs {
                state.set_lane(0, 1, lane, packed);
            }
        }
    }
}

/// TG_SIZE: the number of waves in the workgroup in the lowest six bits, and the number of this wave.
fn group_info(target: &Target, start: &Start) -> u64 {
    let total: usize = start.group_size.iter().map(|size| *size as usize).product();
    let wave = start.first / target.wave;
    (total.div_ceil(target.wave) | wave << target.wave_number_at()) as u64
}

/// Number of registers that the kernel may name; accumulation registers begin after them.
fn vector_count(directives: &BTreeMap<String, String>, target: &Target) -> usize {
    let number = |name: &str| directives.get(name).and_then(|text| integer(text)).map(|count| count as usize);
    let free = number(".amdhsa_next_free_vgpr").unwrap_or(256);
    if target.aligns_vectors() { number(".amdhsa_accum_offset").map_or(free, |offset| offset.min(free)) } else { free }
}
