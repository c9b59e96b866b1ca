"""Where lanes read from in AMD's instructions that move values between lanes, by the ISA guides."""

from typing import Callable, NamedTuple

ALL = (1 << 64) - 1


class Move(NamedTuple):
    """The vector register that lanes read, and the lane that each of them reads."""

    source: int
    # The lane that a lane reads, if there is one, by the wave.
    place: Callable
    # Lanes without a source get zero.
    zeroes: bool = True
    # Inactive lanes are read too.
    fetches: bool = False
    # The lanes that are written.
    enabled: int = ALL


def dpp(word, arch):
    """DPP of sixteen lanes."""
    control, banks, rows = word >> 8 & 511, word >> 24 & 15, word >> 28
    enabled = sum(1 << lane for lane in range(64) if rows >> lane // 16 & 1 and banks >> lane % 16 // 4 & 1)
    fetches = word >> 18 & 1 and arch != "cdna"
    place = lambda lane, wave: dpp_place(control, arch, lane, wave.size)  # noqa: E731
    return Move(word & 255, place, word >> 19 & 1, fetches, enabled)


def dpp_place(control, arch, lane, size):
    row, at, by = lane & ~15, lane & 15, control & 15
    in_row = lambda at: row + at if 0 <= at < 16 else None  # noqa: E731
    in_wave = lambda lane: lane if 0 <= lane < size else None  # noqa: E731
    match control >> 4, by:
        case kind, _ if kind < 16:
            return quad_place(control, lane)
        case 0x10, _:
            return in_row(at + by)
        case 0x11, _:
            return in_row(at - by)
        case 0x12, _:
            return row + (at - by & 15)
        case 0x13, _ if arch == "cdna":
            to = {0: lane + 1, 4: (lane + 1) % size, 8: lane - 1, 12: (lane - 1) % size}
            return in_wave(to[by])
        case 0x14, 0:
            return row + 15 - at
        case 0x14, 1:
            return row + (at & 8 | 7 - (at & 7))
        case 0x14, 2 if arch == "cdna":
            return in_wave(row - 1)
        case 0x14, 3 if arch == "cdna":
            return 31 if lane >= 32 else None
        case 0x15, _:
            return row + by
        case 0x16, _ if arch != "cdna":
            return row + (at ^ by)
    raise RuntimeError(f"no DPP {control:#x}")


def quad_place(selectors, lane):
    return lane & ~3 | selectors >> 2 * (lane & 3) & 3


def dpp8(word, fetches):
    """DPP of eight lanes."""
    return Move(word & 255, lambda lane, _: lane & ~7 | word >> 8 >> 3 * (lane & 7) & 7, fetches=fetches)


def permlane16(source, scalars, crosses, fetches, zeroes):
    """`v_permlane16_b32` and `v_permlanex16_b32`: two scalars select the lane of a row, or of the other row."""

    def place(lane, wave):
        low, high = (wave.scalar(operand) for operand in scalars)
        row = (lane ^ 16 if crosses else lane) & ~15
        return row + ((low | high << 32) >> 4 * (lane & 15) & 15)

    return Move(source, place, zeroes, fetches)


def swizzle(source, control):
    """`ds_swizzle_b32`."""
    return Move(source, lambda lane, _: swizzle_place(control, lane))


def swizzle_place(control, lane):
    mask, by = control & 31, control >> 5 & 31
    if control >= 0xE000:
        reversed_bits = int(f"{lane & 31:05b}"[::-1], 2)
        return reversed_bits >> mask.bit_count() | lane & mask | lane & 32
    if control >= 0xC000:
        moved = lane - by if control >> 10 & 1 else lane + by
        return (lane & mask | moved & ~mask) & 31 | lane & 32
    if control >> 15:
        return quad_place(control, lane)
    return lane & 32 | (lane & mask | by) ^ control >> 10 & 31


def bpermute(source, addresses, offset):
    """`ds_bpermute_b32`: a register holds the address of the lane, four bytes a lane."""
    return Move(source, lambda lane, wave: (wave.state._read_vgpr(addresses, lane) + offset) // 4 % wave.size)


def whole_quads(mask):
    """The lanes of the quads that have a lane of the mask."""
    return sum(15 << quad for quad in range(0, 64, 4) if mask >> quad & 15)
