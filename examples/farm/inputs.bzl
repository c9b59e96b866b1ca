"""The files that each shader includes; written by inputs.py."""

INPUTS = {
    "shaders/sort.wgsl": [],
    "shaders/sum.comp": [
        "shaders/include/workgroup.glsl",
    ],
}
