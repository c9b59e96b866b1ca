//! One run of one kernel, as its expected results depend on it: sizes, inputs, and the subgroups among them.
//!
//! Drivers choose which invocation runs in which lane, so kernels index by *slot*: workgroup × workgroup size +
//! subgroup × subgroup size + lane. The expected results assume what every driver judged here does with one-dimensional
//! workgroups: all subgroups but the last are full.

use super::reference::Lane;
use super::scalar::Scalar;

/// A buffer's expected words; `None` is not compared.
pub type Column = Vec<Option<u32>>;

/// One run of one kernel.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// Lanes of a subgroup.
    pub subgroup: usize,
    /// The width that the shader was compiled with; the subgroup size if it takes none.
    pub width: usize,
    /// Invocations of a workgroup.
    pub group: usize,
    /// Workgroups.
    pub groups: usize,
    /// The words of each input buffer, in binding order.
    pub inputs: &'a [Vec<u32>],
}

/// One subgroup of a case.
#[derive(Debug, Clone, Copy)]
pub struct Wave<'a> {
    /// The run.
    pub case: &'a Case<'a>,
    /// The slot of its lane 0.
    pub start: usize,
    /// How many of its lanes exist.
    pub filled: usize,
    /// The workgroup it belongs to.
    pub group: usize,
}

impl Case<'_> {
    /// How many invocations run.
    pub fn slots(&self) -> usize {
        self.group * self.groups
    }

    /// Every subgroup, in slot order.
    pub fn waves(&self) -> impl Iterator<Item = Wave<'_>> {
        let steps = (0..self.group).step_by(self.subgroup);
        let place = move |group, first| Wave {
            case: self,
            start: group * self.group + first,
            filled: self.subgroup.min(self.group - first),
            group,
        };
        (0..self.groups).flat_map(move |group| steps.clone().map(move |first| place(group, first)))
    }

    /// One word per slot: `rule` computes each subgroup's lanes.
    pub fn each_wave<R: Scalar>(&self, rule: impl Fn(Wave<'_>) -> Vec<Lane<R>>) -> Column {
        let lanes = |wave: Wave<'_>| rule(wave).into_iter().take(wave.filled).map(|lane| lane.map(R::to_word));
        self.waves().flat_map(|wave| lanes(wave).collect::<Vec<_>>()).collect()
    }

    /// `N` words per slot, side by side.
    pub fn each_wave_wide<R: Scalar, const N: usize>(&self, rule: impl Fn(Wave<'_>) -> Vec<Lane<[R; N]>>) -> Column {
        let columns: Vec<_> = (0..N)
            .map(|n| self.each_wave(|wave| rule(wave).into_iter().map(|lane| lane.map(|words| words[n])).collect()))
            .collect();
        interleave(&columns)
    }

    /// The words of input `index`, as `T`.
    pub fn input<T: Scalar>(&self, index: usize) -> Vec<T> {
        self.inputs[index].iter().map(|&word| T::from_word(word)).collect()
    }
}

impl Wave<'_> {
    /// The values that the lanes read from input `index`; missing lanes read nothing.
    pub fn get<T: Scalar>(&self, index: usize) -> Vec<Lane<T>> {
        self.component(index, 0, 1)
    }

    /// Component `n` of the `of` words that each lane reads from input `index`.
    pub fn component<T: Scalar>(&self, index: usize, n: usize, of: usize) -> Vec<Lane<T>> {
        let word = |lane| T::from_word(self.case.inputs[index][(self.start + lane) * of + n]);
        (0..self.lanes()).map(|lane| (lane < self.filled).then(|| word(lane))).collect()
    }

    /// Each existing lane's own index.
    pub fn ids(&self) -> Vec<Lane<u32>> {
        (0..self.lanes()).map(|lane| (lane < self.filled).then_some(lane as u32)).collect()
    }

    /// Lanes of the subgroup, existing or not.
    pub fn lanes(&self) -> usize {
        self.case.subgroup
    }

    /// The width that the shader was compiled with.
    pub fn width(&self) -> usize {
        self.case.width
    }
}

/// Columns interleaved: the first word of each, then the second of each, and so on.
pub fn interleave(columns: &[Column]) -> Column {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}
