//! Specialization constants.

use super::{codes, run, specialized};

const TEXT: &str = "#version 450
layout(local_size_x_id = 9) in;
layout(constant_id = 1) const int count = 3;
layout(constant_id = 2) const bool twice = false;
layout(constant_id = 3) const float factor = 2.0;
layout(std430, binding = 0) buffer Input { uint x[]; };
layout(std430, binding = 1) buffer Output { uint y[]; };
const int more = count * 2;
void main() {
    uint a[more];
    for (int n = 0; n < more; n++) a[n] = uint(n);
    uint i = gl_GlobalInvocationID.x;
    y[i] = (a[more - 1] + uint(a.length()) * 100u) * (twice ? 2u : 1u) + uint(float(x[i]) * factor);
}";

const INPUT: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

#[test]
fn defaults_count_where_nothing_is_set() {
    let kernel = specialized(TEXT, &[("9", "8")]).expect("it is right");
    assert_eq!(run(&kernel, &INPUT), INPUT.map(|x| 605 + 2 * x));
    let kernel = specialized(TEXT, &[]).expect("it is right");
    assert_eq!(kernel.workgroup_size, [1, 1, 1]);
}

#[test]
fn names_and_numbers_set_values_sizes_and_lengths() {
    let settings = [("count", "5"), ("2", "true"), ("factor", "-0.0"), ("factor", "3"), ("9", "8")];
    let kernel = specialized(TEXT, &settings).expect("it is right");
    assert_eq!((kernel.workgroup_size, kernel.private_bytes), ([8, 1, 1], 40));
    assert_eq!(run(&kernel, &INPUT), INPUT.map(|x| 2 * 1009 + 3 * x));
}

#[test]
fn what_does_not_fit_is_refused() {
    for setting in [("cuont", "5"), ("77", "5"), ("count", "5.5"), ("twice", "yes"), ("9", "0"), ("9", "70000")] {
        assert_eq!(codes(specialized(TEXT, &[setting])), ["E0005"], "{setting:?}");
    }
    assert_eq!(codes(specialized(TEXT, &[("a", "1"), ("b", "1")])), ["E0005", "E0005"]);
}

#[test]
fn a_near_name_is_told() {
    let errors = specialized(TEXT, &[("cuont", "5")]).expect_err("there is no such constant");
    assert_eq!(errors[0].notes, ["there is one named `count`"]);
}

#[test]
fn a_constant_index_outside_reads_nothing() {
    let kernel = specialized(&TEXT.replace("more - 1", "count - 9"), &[]).expect("it is right");
    assert_eq!(kernel.private_bytes, 24);
}

#[test]
fn impossible_lengths_are_refused() {
    for (count, code) in [("-1", "E0005"), ("100000000", "E0703")] {
        assert_eq!(codes(specialized(TEXT, &[("count", count)])), [code], "{count}");
    }
}
