"""Runs machine code of AMD's on the emulator that tinygrad makes of AMD's pseudo-code: `CROSSLANE_EMULATOR` names
`python3 tests/support/tinygrad.py TREE`.

TREE is a checkout of tinygrad. Its emulator runs single instructions. This script starts waves, gives workgroups their turns,
places memory, and moves values between lanes (lane_moves.py). A job is a line of JSON (`Job` in emulator.rs), and so is the answer.

It needs clang, and LLVM's library, which LLVM_PATH can name.
"""

import ctypes
import itertools
import json
import mmap
import os
import struct
import sys
from typing import Callable, NamedTuple

sys.path.insert(0, sys.argv[1])
os.environ.setdefault("DEV", "CPU:LLVM")
ANSWERS = sys.stdout
sys.stdout = sys.stderr

import lane_moves  # noqa: E402
from test.mockgpu.amd import emu  # noqa: E402
from tinygrad.dtype import dtypes  # noqa: E402
from tinygrad.renderer import llvmir  # noqa: E402
from tinygrad.runtime.autogen.amd.cdna import ins as cdna  # noqa: E402
from tinygrad.runtime.autogen.amd.rdna3 import ins as rdna3  # noqa: E402
from tinygrad.runtime.autogen.amd.rdna4 import ins as rdna4  # noqa: E402

# The emulator's name of a family of processors, and the lanes of a wave there.
ARCHITECTURES = [("gfx9", "cdna", 64), ("gfx11", "rdna3", 32), ("gfx12", "rdna4", 32)]
BARRIERS = {rdna3.SOPPOp.S_BARRIER, rdna4.SOPPOp.S_BARRIER_WAIT, cdna.SOPPOp.S_BARRIER}
# Instructions for caches, of which the emulator has none: their names, and their first halves where it does not read them.
CACHES = {"BUFFER_WBL2", "BUFFER_INV", "GLOBAL_WB", "GLOBAL_INV", "GLOBAL_WBINV"}
CACHES_OF_RDNA3 = {0xE0AC, 0xE0B0}
# Instructions of a wave before the next one's turn, where workgroups run at once, and where they do not.
TURNS = {True: 7, False: 1_000_000}
MOST_TURNS = 200_000
LDS_BYTES = 160 * 1024
# The vector register that moved values go through, which few kernels get to, and the scalar registers of EXEC. From 128 on
# numbers are those of halves in instructions of 16 bits.
SPARE = 127
EXEC = 126
# s_nop 0
NOTHING = 0xBF800000
# The operands that announce a literal, DPP of sixteen lanes, and DPP of eight lanes, without and with inactive lanes.
LITERAL = 255
DPP = 250
DPP8 = 233, 234
PAGE = 4096
TTMP = 108

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
MAP_FIXED_NOREPLACE = 0x100000


def architecture(job):
    """The emulator's name of a job's processor, and the lanes of a wave there."""
    return next((arch, lanes) for family, arch, lanes in ARCHITECTURES if job["processor"].startswith(family))


def correct():
    """Mends what tinygrad does otherwise than AMD's text says."""
    # Halves are those of the machine, with denormal numbers and one rounding, instead of bits.
    supported = llvmir.CPULLVMRenderer.supported_dtypes
    llvmir.CPULLVMRenderer.supported_dtypes = lambda self: supported(self) | {dtypes.half}
    # LLVM reads 5.0e-324, and not 5e-324.
    constant = llvmir.lconst
    llvmir.lconst = lambda x, dtype: with_point(constant(x, dtype))
    # Where atomics give the old value another field says so.
    attribute = emu._iattr
    returns = lambda inst: attribute(inst, "glc") or attribute(inst, "sc0") or attribute(inst, "th") & 1  # noqa: E731
    emu._iattr = lambda inst, name, default=0: returns(inst) if name == "glc" else attribute(inst, name, default)


def with_point(number):
    text = repr(number)
    return text.replace("e", ".0e") if isinstance(number, float) and "." not in text else number


class Block:
    """Bytes at an address of the job's choice, with nothing in the pages around them."""

    def __init__(self, address, content):
        self.address, self.size = address, len(content)
        self.first = address & -PAGE
        self.length = (address + max(self.size, 1) - self.first + PAGE - 1) & -PAGE
        how = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
        if libc.mmap(self.first, self.length, mmap.PROT_READ | mmap.PROT_WRITE, how, -1, 0) != self.first:
            raise RuntimeError(f"no memory at {address:#x}")
        ctypes.memmove(address, content, self.size)

    def content(self):
        return ctypes.string_at(self.address, self.size)

    def free(self):
        libc.munmap(self.first, self.length)


class Program:
    """A linked program in memory, and what its kernel's descriptor says."""

    def __init__(self, path):
        with open(path, "rb") as file:
            elf = file.read()
        segments, sections = struct.unpack_from("<QQ", elf, 32)
        _, _, segment_count, _, section_count, _ = struct.unpack_from("<6H", elf, 52)
        loaded = []
        for n in range(segment_count):
            kind, _, offset, address, _, size, room, _ = struct.unpack_from("<IIQQQQQQ", elf, segments + 56 * n)
            if kind == 1:
                loaded.append((address, elf[offset : offset + size].ljust(room, b"\0")))
        self.image = ctypes.create_string_buffer(max(at + len(content) for at, content in loaded) + PAGE)
        self.base = (ctypes.addressof(self.image) + 255) & -256
        for at, content in loaded:
            ctypes.memmove(self.base + at, content, len(content))
        (descriptor,) = (at for name, at in symbols(elf, sections, section_count) if name.endswith(b".kd"))
        fields = struct.unpack_from("<IIIIq20xIIIHH", ctypes.string_at(self.base + descriptor, 64))
        _, self.scratch, self.arguments, _, entry, _, _, self.resources, self.properties, self.preloaded = fields
        self.entry = self.base + descriptor + entry


def symbols(elf, sections, count):
    """The names and addresses of the symbols of an ELF file."""
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + 64 * n) for n in range(count)]
    for _, kind, _, _, offset, size, link, _, _, _ in headers:
        if kind == 2:
            names = headers[link][4]
            for at in range(offset, offset + size, 24):
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
                yield elf[names + name : elf.index(b"\0", names + name)], value


class Wave:
    """A wave's registers, and whether it has ended or waits at a barrier."""

    def __init__(self, job, program, group, first, lds):
        self.arch, self.size = architecture(job)
        x, y, z = job["group_size"]
        self.state = state = emu.WaveState(min(self.size, x * y * z - first), self.size)
        self.scratch = ctypes.create_string_buffer(max(program.scratch * self.size, 4))
        buffers = [state.sgpr_buf, state.vgpr_buf, None, None, None, state.accvgpr_buf]
        at = [buffer._buf.va_addr if buffer else 0 for buffer in buffers]
        at[3], at[4] = ctypes.addressof(lds), ctypes.addressof(self.scratch)
        self.buffers = [ctypes.c_uint64(address) for address in at]
        self.lds, self.ended, self.waits = lds, False, False
        state.pc = program.entry
        state._write_sgpr(emu.SCRATCH_STRIDE_IDX, program.scratch)
        self.user_registers(program, job["arguments"])
        self.system_registers(program, job, group, first)
        for lane in range(state.n_lanes):
            n = first + lane
            state._write_vgpr(0, lane, n % x | n // x % y << 10 | n // x // y << 20)

    def user_registers(self, program, arguments):
        # Of each that can be enabled, in their order: how many registers it takes, and its content where it can be told.
        known = [(4, 0), (2, None), (2, None), (2, arguments), (2, 0), (2, 0), (1, program.scratch)]
        at = 0
        for n, (count, value) in enumerate(known):
            if program.properties >> n & 1:
                if value is None:
                    raise RuntimeError("the kernel asks for a packet")
                self.state._write_sgpr(at, value)
                if count > 1:
                    self.state._write_sgpr(at + 1, value >> 32)
                at += count
        if program.preloaded & 0x7F:
            raise RuntimeError("the kernel asks for preloaded arguments")

    def system_registers(self, program, job, group, first):
        x, y, z = job["group_size"]
        number = first // self.size
        if self.arch == "rdna4":
            self.state._write_sgpr(TTMP + 9, group[0])
            self.state._write_sgpr(TTMP + 7, group[1] | group[2] << 16)
            self.state._write_sgpr(TTMP + 8, number << 25)
            return
        at = program.resources >> 1 & 31
        values = [*group, -(-x * y * z // self.size) | number << (20 if self.arch == "rdna3" else 6)]
        for n, value in enumerate(values):
            if program.resources >> (7 + n) & 1:
                self.state._write_sgpr(at, value)
                at += 1

    def run_moved(self, inst):
        """Runs an instruction whose first operand comes from other lanes; lanes that get none are left out."""
        scalars, move = self.state._sgpr_mv, inst.move
        active = [scalars[EXEC] >> lane & 1 for lane in range(32)] + [scalars[EXEC + 1] >> lane & 1 for lane in range(32)]
        old = scalars[EXEC], scalars[EXEC + 1]
        kept = [self.state._read_vgpr(SPARE, lane) for lane in range(self.size)]
        moved = list(kept)
        given = 0
        for lane in range(self.size):
            at = move.place(lane, self)
            is_there = at is not None and (move.fetches or active[at])
            if move.enabled >> lane & 1 and (is_there or move.zeroes):
                moved[lane] = self.state._read_vgpr(move.source, at) if is_there else 0
                given |= 1 << lane
        for lane, value in enumerate(moved):
            self.state._write_vgpr(SPARE, lane, value)
        scalars[EXEC], scalars[EXEC + 1] = old[0] & given & 0xFFFFFFFF, old[1] & given >> 32
        inst.run(*[self.buffers[place] for place in inst.places])
        scalars[EXEC], scalars[EXEC + 1] = old
        for lane, (before, value) in enumerate(zip(kept, moved)):
            if self.state._read_vgpr(SPARE, lane) == value:
                self.state._write_vgpr(SPARE, lane, before)

    def scalar(self, operand):
        """A scalar operand: a register, a small number, or a literal, which is a tuple."""
        if isinstance(operand, tuple):
            return operand[0]
        if 128 <= operand <= 208:
            return (operand - 128 if operand <= 192 else 192 - operand) & 0xFFFFFFFF
        return self.state._sgpr_mv[operand]

    def whole_quads(self, to, of, is_wide):
        registers = self.state._sgpr_mv
        quads = lane_moves.whole_quads(self.scalar(of) | (self.scalar(of + 1) << 32 if is_wide else 0))
        registers[to] = quads & 0xFFFFFFFF
        if is_wide:
            registers[to + 1] = quads >> 32
        registers[emu.SCC.offset] = quads != 0

    def swap(self, first, second, rows):
        """The upper rows of the first register and the lower ones of the second, where lanes are active."""
        registers, read = self.state._sgpr_mv, self.state._read_vgpr
        old = [[read(register, lane) for lane in range(64)] for register in (first, second)]
        for lane in range(64):
            if registers[EXEC + lane // 32] >> lane % 32 & 1:
                upper = lane & rows
                self.state._write_vgpr(first if upper else second, lane, old[1 if upper else 0][lane ^ rows])

    def run(self, turn):
        """Runs instructions until the wave's turn is over, it waits at a barrier, or it ends."""
        registers = self.state._sgpr_mv
        for _ in range(turn):
            at = registers[emu.PC_LO_IDX] | registers[emu.PC_HI_IDX] << 32
            if at == emu.ENDPGM_PC:
                self.ended = True
                return
            inst = decoded(at, self.arch)
            if inst.instead:
                inst.instead(self)
            if inst.run is None:
                self.state.pc = at + inst.length
                continue
            if inst.move:
                self.run_moved(inst)
            else:
                inst.run(*[self.buffers[place] for place in inst.places])
            self.waits = inst.waits
            if self.waits:
                return


class Decoded(NamedTuple):
    """An instruction: its function with the buffers that this takes, or none where it does nothing."""

    run: Callable | None
    places: list
    length: int
    waits: bool = False
    # What moves its first operand between lanes first.
    move: lane_moves.Move | None = None
    # What is done in its place.
    instead: Callable | None = None


DECODED = {}


def decoded(at, arch):
    """The instruction at an address."""
    if (found := DECODED.get(at)) is None:
        length = length_for_caches(at, arch)
        found = DECODED[at] = Decoded(None, [], length) if length else compiled(at, arch)
    return found


def length_for_caches(at, arch):
    """The length of an instruction that acts on caches alone, or nothing."""
    content = ctypes.string_at(at, 16)
    if arch == "rdna3" and int.from_bytes(content[2:4], "little") in CACHES_OF_RDNA3:
        return 8
    inst = emu.decode_inst(content, arch)
    return inst.size() if hasattr(inst, "op") and inst.op.name in CACHES else None


def compiled(at, arch):
    """An instruction that the emulator runs, after what it does otherwise than the hardware has been put otherwise."""
    content = ctypes.string_at(at, 16)
    inst = emu.decode_inst(content, arch)
    kind = type(inst).__name__
    first, second = struct.unpack("<II", content[:8])
    move, length = None, inst.size()
    if kind == "SMEM" and arch == "cdna" and not first >> 14 & 1 and not first >> 17 & 1:
        # The offset is the number of a scalar register.
        patch(at, first | 1 << 14 | 1 << 17, second << 25)
    elif kind == "SOP1" and inst.op.name in ("S_WQM_B32", "S_WQM_B64"):
        to, of, is_wide = first >> 16 & 127, first & 255, inst.op.name == "S_WQM_B64"
        return Decoded(None, [], length, instead=lambda wave: wave.whole_quads(to, of, is_wide))
    elif kind == "VOP1" and inst.op.name.startswith(("V_PERMLANE16_SWAP", "V_PERMLANE32_SWAP")):
        to, of, rows = first >> 17 & 255, first & 255, 16 if "16" in inst.op.name else 32
        return Decoded(None, [], length, instead=lambda wave: wave.swap(to, of, rows))
    elif found := moved(inst, arch, content):
        move, words = found
        patch(at, *words)
    elif "DPP" in kind:
        raise RuntimeError(f"the emulator has no {inst}")
    (program, runtime), inst = emu._decode_at(at, arch)
    waits = getattr(inst, "op", None) in BARRIERS
    return Decoded(runtime.fxn, program.arg.globals, length, waits, move)


def moved(inst, arch, content):
    """What an instruction moves between lanes first, and what stays of it in as many words; nothing if it moves none."""
    kind, name = type(inst).__name__, getattr(getattr(inst, "op", None), "name", "")
    first, second, third = struct.unpack("<III", content[:12])
    if "PERMLANE16_B32" in name or "PERMLANEX16_B32" in name:
        operands = [second >> 9 & 511, second >> 18 & 511]
        scalars = [(third,) if operand == LITERAL else operand for operand in operands]
        row = lane_moves.permlane16(second & 255, scalars, "X16" in name, first >> 11 & 1, first >> 12 & 1)
        return row, [copy(first & 255), NOTHING, *[NOTHING] * (LITERAL in operands)]
    if name == "DS_SWIZZLE_B32":
        return lane_moves.swizzle(second & 255, first & 0xFFFF), [copy(second >> 24), NOTHING]
    if name == "DS_BPERMUTE_B32":
        move = lane_moves.bpermute(second >> 8 & 255, second & 255, first & 0xFFFF)
        return move, [copy(second >> 24), NOTHING]
    if kind.startswith("VOP3"):
        control, word, words = second & 511, third, [first, second & ~511 | 256 + SPARE, NOTHING]
    elif kind.startswith("VOP"):
        control, word, words = first & 511, second, [first & ~511 | 256 + SPARE, NOTHING]
    else:
        return None
    is_long = kind.startswith("VOP3")
    # Short instructions number halves of registers; modifiers and the halves of long ones stand elsewhere.
    has_halves = arch != "cdna" and "16" in name and (not is_long or first >> 11 & 15)
    if control == DPP and not has_halves and (is_long or not word >> 20 & 15):
        return lane_moves.dpp(word, arch), words
    if control in DPP8 and arch != "cdna":
        return lane_moves.dpp8(word, control == DPP8[1]), words
    return None


def copy(register):
    """v_mov_b32 from the register that moved values go through."""
    return 0x7E000200 | register << 17 | 256 + SPARE


def patch(at, *words):
    """Puts words in the place of code."""
    for n, word in enumerate(words):
        ctypes.memmove(at + 4 * n, struct.pack("<I", word & 0xFFFFFFFF), 4)


def launch(job):
    program = Program(job["code"])
    DECODED.clear()
    blocks = []
    try:
        blocks.extend(Block(block["address"], bytes.fromhex(block["bytes"])) for block in job["blocks"])
        x, y, z = job["group_size"]
        groups = []
        for k, j, i in itertools.product(*(range(count) for count in reversed(job["groups"]))):
            lds = ctypes.create_string_buffer(LDS_BYTES)
            firsts = range(0, x * y * z, architecture(job)[1])
            groups.append([Wave(job, program, (i, j, k), first, lds) for first in firsts])
            if not job["together"]:
                finish([groups.pop()], TURNS[False])
        finish(groups, TURNS[True])
        return [block.content().hex() for block in blocks]
    finally:
        for block in blocks:
            block.free()


def finish(running, turn):
    """Runs workgroups at once until all their waves have ended."""
    for _ in range(MOST_TURNS):
        if not running:
            return
        for waves in running:
            for wave in waves:
                if not wave.waits:
                    wave.run(turn)
            waves[:] = [wave for wave in waves if not wave.ended]
            if all(wave.waits for wave in waves):
                for wave in waves:
                    wave.waits = False
        running = [waves for waves in running if waves]
    raise RuntimeError("the kernel does not end")


correct()
for line in sys.stdin:
    try:
        answer = {"Ok": launch(json.loads(line))}
    except Exception as error:  # noqa: BLE001
        answer = {"Err": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=ANSWERS, flush=True)
