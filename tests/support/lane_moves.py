"""Where lanes read from in AMD's instructions that move values between lanes, by the ISA guides.

`place` is the lane that a lane reads, in a wave of so many lanes, if there is one.
"""

from typing import NamedTuple


class Dpp(NamedTuple):
    """DPP of sixteen lanes."""

    arch: str
    source: int
    control: int
    rows: int
    banks: int
    # Lanes without a source get zero.
    zeroes: bool
    # Lanes that are not active are read too.
    fetches: bool

    @classmethod
    def of(cls, word, arch):
        fetches = word >> 18 & 1 and arch != "cdna"
        return cls(arch, word & 255, word >> 8 & 511, word >> 28, word >> 24 & 15, word >> 19 & 1, fetches)

    def is_enabled(self, lane):
        return self.rows >> lane // 16 & 1 and self.banks >> lane % 16 // 4 & 1

    def place(self, lane, size, _):
        row, at, by = lane & ~15, lane & 15, self.control & 15
        in_row = lambda at: row + at if 0 <= at < 16 else None  # noqa: E731
        in_wave = lambda lane: lane if 0 <= lane < size else None  # noqa: E731
        match self.control >> 4, by:
            case kind, _ if kind < 16:
                return lane & ~3 | self.control >> 2 * (lane & 3) & 3
            case 0x10, _:
                return in_row(at + by)
            case 0x11, _:
                return in_row(at - by)
            case 0x12, _:
                return row + (at - by & 15)
            case 0x13, _ if self.arch == "cdna":
                to = {0: lane + 1, 4: (lane + 1) % size, 8: lane - 1, 12: (lane - 1) % size}
                return in_wave(to[by])
            case 0x14, 0:
                return row + 15 - at
            case 0x14, 1:
                return row + (at & 8 | 7 - (at & 7))
            case 0x14, 2 if self.arch == "cdna":
                return in_wave(row - 1)
            case 0x14, 3 if self.arch == "cdna":
                return 31 if lane >= 32 else None
            case 0x15, _:
                return row + by
            case 0x16, _ if self.arch != "cdna":
                return row + (at ^ by)
        raise RuntimeError(f"no DPP {self.control:#x}")


class Eight(NamedTuple):
    """DPP of eight lanes."""

    source: int
    lanes: int
    fetches: bool
    zeroes: bool = True

    def is_enabled(self, _):
        return True

    def place(self, lane, *_):
        return lane & ~7 | self.lanes >> 3 * (lane & 7) & 7


class Row(NamedTuple):
    """`v_permlane16_b32` and `v_permlanex16_b32`: two scalars say the lane of a row, or of the other row."""

    source: int
    scalars: list
    crosses: bool
    fetches: bool
    zeroes: bool

    def is_enabled(self, _):
        return True

    def place(self, lane, _, wave):
        low, high = (wave.scalar(operand) for operand in self.scalars)
        row = (lane ^ 16 if self.crosses else lane) & ~15
        return row + ((low | high << 32) >> 4 * (lane & 15) & 15)


class Swizzle(NamedTuple):
    """`ds_swizzle_b32`."""

    source: int
    control: int
    fetches: bool = False
    zeroes: bool = True

    def is_enabled(self, _):
        return True

    def place(self, lane, *_):
        mask, by = self.control & 31, self.control >> 5 & 31
        if self.control >= 0xE000:
            reversed_bits = int(f"{lane & 31:05b}"[::-1], 2)
            return reversed_bits >> mask.bit_count() | lane & mask | lane & 32
        if self.control >= 0xC000:
            moved = lane - by if self.control >> 10 & 1 else lane + by
            return (lane & mask | moved & ~mask) & 31 | lane & 32
        if self.control >> 15:
            return lane & ~3 | self.control >> 2 * (lane & 3) & 3
        return lane & 32 | (lane & mask | by) ^ self.control >> 10 & 31


class Gather(NamedTuple):
    """`ds_bpermute_b32`: a register says the address of the lane, four bytes a lane."""

    source: int
    addresses: int
    offset: int
    fetches: bool = False
    zeroes: bool = True

    def is_enabled(self, _):
        return True

    def place(self, lane, size, wave):
        return (wave.state._read_vgpr(self.addresses, lane) + self.offset) // 4 % size


def whole_quads(mask):
    """The lanes of the quads that have a lane of the mask."""
    return sum(15 << quad for quad in range(0, 64, 4) if mask >> quad & 15)
