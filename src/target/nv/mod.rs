//! NVIDIA's assembly language (NV_gpu_program5): so far what its instructions are called.

pub mod mnemonic;
