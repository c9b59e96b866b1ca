; crosslane 0.1.0
; profile gfx900
; source fixtures/language/matrices.comp
; argument at 0: 8 bytes, address of the storage buffer of set 0 binding 0
; argument at 8: 8 bytes, address of the storage buffer of set 0 binding 1
; 26 vector registers, 12 scalar registers, 0 and 0 values spilled
; 0 bytes of workgroup memory, 136 bytes of scratch memory
; 9 waves at once on a SIMD
	.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
	.amdhsa_code_object_version 5
	.text
	.globl main
	.p2align 8
	.type main,@function
main:
	s_add_u32 s0, s0, s7
	s_addc_u32 s1, s1, 0
	s_load_dwordx4 s[8:11], s[4:5], 0
	s_lshl_b32 s4, s6, 6
	v_add_u32 v0, s4, v0
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_mul_f32 v1, 0x3d000000, v1
	v_floor_f32 v1, v1
	v_mov_b32 v2, 3
	v_cvt_f32_u32 v3, v2
	v_rcp_f32 v3, v3
	v_mul_f32 v3, 0x4f7ffffe, v3
	v_cvt_u32_f32 v3, v3
	v_sub_u32 v4, 0, v2
	v_mul_lo_u32 v4, v4, v3
	v_mul_hi_u32 v4, v3, v4
	v_add_u32 v3, v3, v4
	v_mul_hi_u32 v3, v0, v3
	v_mul_lo_u32 v3, v3, v2
	v_sub_u32 v3, v0, v3
	v_cmp_ge_u32 s[4:5], v3, v2
	v_sub_u32 v4, v3, v2
	v_cndmask_b32 v3, v3, v4, s[4:5]
	v_cmp_ge_u32 s[4:5], v3, v2
	v_sub_u32 v2, v3, v2
	v_cndmask_b32 v2, v3, v2, s[4:5]
	v_mov_b32 v3, 0
	buffer_store_dword v1, v3, s[0:3], 0 offen
	v_mov_b32 v4, 0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:4
	v_mov_b32 v4, 0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:8
	v_mov_b32 v4, 0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:12
	v_mov_b32 v3, 0
	buffer_store_dword v1, v3, s[0:3], 0 offen offset:16
	v_mov_b32 v4, 0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:20
	v_mov_b32 v4, 0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:24
	v_mov_b32 v4, 0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:28
	v_mov_b32 v3, 0
	buffer_store_dword v1, v3, s[0:3], 0 offen offset:32
	v_mov_b32 v3, 0
	v_mov_b32 v4, 1.0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:12
	v_mov_b32 v3, 0
	buffer_store_dword v1, v3, s[0:3], 0 offen offset:16
	v_mov_b32 v4, 2.0
	buffer_store_dword v4, v3, s[0:3], 0 offen offset:20
	v_add_u32 v3, 1, v2
	v_mov_b32 v4, 3
	v_cvt_f32_u32 v5, v4
	v_rcp_f32 v5, v5
	v_mul_f32 v5, 0x4f7ffffe, v5
	v_cvt_u32_f32 v5, v5
	v_sub_u32 v6, 0, v4
	v_mul_lo_u32 v6, v6, v5
	v_mul_hi_u32 v6, v5, v6
	v_add_u32 v5, v5, v6
	v_mul_hi_u32 v5, v3, v5
	v_mul_lo_u32 v5, v5, v4
	v_sub_u32 v3, v3, v5
	v_cmp_ge_u32 s[4:5], v3, v4
	v_sub_u32 v5, v3, v4
	v_cndmask_b32 v3, v3, v5, s[4:5]
	v_cmp_ge_u32 s[4:5], v3, v4
	v_sub_u32 v4, v3, v4
	v_cndmask_b32 v3, v3, v4, s[4:5]
	v_mul_lo_u32 v2, 12, v2
	v_lshlrev_b32 v3, 2, v3
	v_add_u32 v3, v2, v3
	buffer_load_dword v4, v3, s[0:3], 0 offen
	s_waitcnt vmcnt(0)
	v_add_f32 v4, 0x40400000, v4
	buffer_store_dword v4, v3, s[0:3], 0 offen
	v_mov_b32 v3, 0
	buffer_load_dword v4, v3, s[0:3], 0 offen offset:24
	v_mov_b32 v5, 0
	buffer_load_dword v3, v3, s[0:3], 0 offen offset:28
	buffer_load_dword v5, v5, s[0:3], 0 offen offset:32
	s_waitcnt vmcnt(2)
	v_mul_f32 v4, 2.0, v4
	s_waitcnt vmcnt(0)
	v_mul_f32 v5, 2.0, v5
	v_mov_b32 v6, 0
	buffer_store_dword v4, v6, s[0:3], 0 offen offset:24
	buffer_store_dword v3, v6, s[0:3], 0 offen offset:28
	v_mov_b32 v3, 0
	buffer_store_dword v5, v3, s[0:3], 0 offen offset:32
	v_mov_b32 v3, 0
	buffer_load_dword v4, v3, s[0:3], 0 offen
	buffer_load_dword v6, v3, s[0:3], 0 offen offset:4
	buffer_load_dword v7, v3, s[0:3], 0 offen offset:8
	v_mov_b32 v8, 0
	buffer_load_dword v3, v3, s[0:3], 0 offen offset:12
	buffer_load_dword v9, v8, s[0:3], 0 offen offset:16
	buffer_load_dword v10, v8, s[0:3], 0 offen offset:20
	buffer_load_dword v11, v8, s[0:3], 0 offen offset:24
	v_mul_f32 v12, 4.0, v1
	buffer_load_dword v8, v8, s[0:3], 0 offen offset:28
	v_add_f32 v12, 0x40400000, v12
	v_mul_f32 v13, 0x40a00000, v1
	v_add_f32 v13, 0x40c00000, v13
	v_mul_f32 v14, v1, v1
	v_add_f32 v14, 0x41100000, v14
	s_waitcnt vmcnt(4)
	v_mul_f32 v15, 2.0, v3
	s_waitcnt vmcnt(1)
	v_mul_f32 v16, 0x40400000, v11
	v_add_f32 v15, v4, v15
	v_add_f32 v15, v15, v16
	v_mul_f32 v16, 2.0, v9
	s_waitcnt vmcnt(0)
	v_mul_f32 v17, 0x40400000, v8
	v_add_f32 v16, v6, v16
	v_add_f32 v16, v16, v17
	v_mul_f32 v17, 2.0, v10
	v_mul_f32 v18, 0x40400000, v5
	v_add_f32 v17, v7, v17
	v_add_f32 v17, v17, v18
	v_mul_f32 v18, 2.0, v1
	v_add_f32 v19, 0x40d00000, v18
	v_mul_f32 v20, 0x40400000, v1
	v_mul_f32 v21, v18, v4
	v_mul_f32 v22, 0x40400000, v9
	v_mul_f32 v18, 2.0, v18
	v_mul_f32 v18, 0.5, v18
	v_sub_f32 v18, v21, v18
	s_mov_b32 s4, 0x3f400000
	v_sub_f32 v21, v22, s4
	v_sub_f32 v22, 0x41b00000, v6
	v_sub_f32 v12, v12, v7
	v_sub_f32 v23, 0x41e80000, v9
	v_sub_f32 v24, v13, v10
	v_sub_f32 v13, v13, v8
	v_sub_f32 v14, v14, v5
	v_mul_f32 v22, 2.0, v22
	v_mul_f32 v23, 0, v23
	v_mul_f32 v13, 0, v13
	v_add_f32 v22, v22, v23
	v_add_f32 v13, v22, v13
	v_mul_f32 v22, 0, v24
	v_mul_f32 v23, 0, v14
	v_mul_f32 v12, 0, v12
	v_mul_f32 v24, 2.0, v24
	v_add_f32 v24, v12, v24
	v_add_f32 v23, v24, v23
	v_mul_f32 v14, 2.0, v14
	v_add_f32 v12, v12, v22
	v_add_f32 v12, v12, v14
	v_xor_b32 v14, 0x80000000, v3
	v_mul_f32 v22, v4, v9
	v_mul_f32 v24, v6, v14
	v_add_f32 v22, v22, v24
	v_xor_b32 v4, 0x80000000, v4
	v_xor_b32 v24, 0x80000000, v6
	v_xor_b32 v7, 0x80000000, v7
	v_xor_b32 v9, 0x80000000, v9
	v_xor_b32 v10, 0x80000000, v10
	v_xor_b32 v11, 0x80000000, v11
	v_xor_b32 v8, 0x80000000, v8
	v_xor_b32 v5, 0x80000000, v5
	v_mov_b32 v25, 0
	buffer_store_dword v4, v25, s[0:3], 0 offen offset:36
	v_mov_b32 v4, 0
	buffer_store_dword v24, v4, s[0:3], 0 offen offset:40
	buffer_store_dword v7, v4, s[0:3], 0 offen offset:44
	v_mov_b32 v4, 0
	buffer_store_dword v14, v4, s[0:3], 0 offen offset:48
	buffer_store_dword v9, v4, s[0:3], 0 offen offset:52
	buffer_store_dword v10, v4, s[0:3], 0 offen offset:56
	buffer_store_dword v11, v4, s[0:3], 0 offen offset:60
	v_mov_b32 v4, 0
	buffer_store_dword v8, v4, s[0:3], 0 offen offset:64
	buffer_store_dword v5, v4, s[0:3], 0 offen offset:68
	buffer_load_dword v2, v2, s[0:3], 0 offen offset:36
	v_mov_b32 v4, 0
	buffer_store_dword v15, v4, s[0:3], 0 offen offset:72
	buffer_store_dword v16, v4, s[0:3], 0 offen offset:76
	v_mov_b32 v4, 0
	buffer_store_dword v17, v4, s[0:3], 0 offen offset:80
	v_mov_b32 v5, 0x41000000
	buffer_store_dword v5, v4, s[0:3], 0 offen offset:84
	buffer_store_dword v19, v4, s[0:3], 0 offen offset:88
	buffer_store_dword v13, v4, s[0:3], 0 offen offset:92
	v_mov_b32 v4, 0
	buffer_store_dword v23, v4, s[0:3], 0 offen offset:96
	buffer_store_dword v12, v4, s[0:3], 0 offen offset:100
	buffer_store_dword v20, v4, s[0:3], 0 offen offset:104
	buffer_store_dword v18, v4, s[0:3], 0 offen offset:108
	v_mov_b32 v4, 0
	buffer_store_dword v21, v4, s[0:3], 0 offen offset:112
	v_mov_b32 v5, 1.0
	buffer_store_dword v5, v4, s[0:3], 0 offen offset:116
	buffer_store_dword v3, v4, s[0:3], 0 offen offset:120
	buffer_store_dword v22, v4, s[0:3], 0 offen offset:124
	v_mov_b32 v4, 0
	buffer_store_dword v1, v4, s[0:3], 0 offen offset:128
	s_waitcnt vmcnt(15)
	buffer_store_dword v2, v4, s[0:3], 0 offen offset:132
	v_lshlrev_b32 v4, 6, v0
	global_store_dword v4, v15, s[10:11]
	v_lshlrev_b32 v0, 4, v0
	v_add_u32 v5, 1, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v16, s[10:11]
	v_add_u32 v5, 2, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v17, s[10:11]
	v_add_u32 v5, 3, v0
	v_lshlrev_b32 v5, 2, v5
	v_mov_b32 v7, 0x41000000
	global_store_dword v5, v7, s[10:11]
	v_add_u32 v5, 4, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v19, s[10:11]
	v_add_u32 v5, 5, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v13, s[10:11]
	v_add_u32 v5, 6, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v23, s[10:11]
	v_add_u32 v5, 7, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v12, s[10:11]
	v_add_u32 v5, 8, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v20, s[10:11]
	v_add_u32 v5, 9, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v18, s[10:11]
	v_add_u32 v5, 10, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v21, s[10:11]
	v_add_u32 v5, 11, v0
	v_lshlrev_b32 v5, 2, v5
	v_mov_b32 v7, 1.0
	global_store_dword v5, v7, s[10:11]
	v_add_u32 v5, 12, v0
	v_lshlrev_b32 v5, 2, v5
	global_store_dword v5, v3, s[10:11]
	v_add_u32 v3, 13, v0
	v_lshlrev_b32 v3, 2, v3
	global_store_dword v3, v22, s[10:11]
	v_add_u32 v3, 14, v0
	v_lshlrev_b32 v3, 2, v3
	global_store_dword v3, v1, s[10:11]
	v_add_u32 v0, 15, v0
	v_lshlrev_b32 v0, 2, v0
	global_store_dword v0, v2, s[10:11]
	v_mov_b32 v2, 0
	buffer_load_dword v3, v2, s[0:3], 0 offen
	buffer_load_dword v5, v2, s[0:3], 0 offen offset:4
	buffer_load_dword v7, v2, s[0:3], 0 offen offset:8
	v_mov_b32 v8, 0
	buffer_load_dword v2, v2, s[0:3], 0 offen offset:12
	buffer_load_dword v9, v8, s[0:3], 0 offen offset:16
	buffer_load_dword v10, v8, s[0:3], 0 offen offset:20
	buffer_load_dword v11, v8, s[0:3], 0 offen offset:24
	v_mov_b32 v12, 0
	buffer_load_dword v8, v8, s[0:3], 0 offen offset:28
	buffer_load_dword v12, v12, s[0:3], 0 offen offset:32
	s_waitcnt vmcnt(8)
	v_cmp_eq_f32 s[0:1], v3, v1
	s_waitcnt vmcnt(7)
	v_cmp_eq_f32 s[2:3], v5, 0
	s_waitcnt vmcnt(6)
	v_cmp_eq_f32 s[4:5], v7, 0
	s_and_b64 s[0:1], s[0:1], s[2:3]
	s_and_b64 s[0:1], s[0:1], s[4:5]
	s_waitcnt vmcnt(5)
	v_cmp_eq_f32 s[2:3], v2, 0
	s_waitcnt vmcnt(4)
	v_cmp_eq_f32 s[4:5], v9, v1
	s_waitcnt vmcnt(3)
	v_cmp_eq_f32 s[6:7], v10, 0
	s_and_b64 s[2:3], s[2:3], s[4:5]
	s_and_b64 s[2:3], s[2:3], s[6:7]
	s_and_b64 s[0:1], s[0:1], s[2:3]
	s_waitcnt vmcnt(2)
	v_cmp_eq_f32 s[2:3], v11, 0
	s_waitcnt vmcnt(1)
	v_cmp_eq_f32 s[4:5], v8, 0
	s_waitcnt vmcnt(0)
	v_cmp_eq_f32 s[6:7], v12, v1
	s_and_b64 s[2:3], s[2:3], s[4:5]
	s_and_b64 s[2:3], s[2:3], s[6:7]
	s_and_b64 s[0:1], s[0:1], s[2:3]
	s_and_saveexec_b64 s[0:1], s[0:1]
	s_cbranch_execz .L3
.L4:
	v_mov_b32 v1, -1.0
	global_store_dword v4, v1, s[10:11]
.L3:
	s_mov_b64 exec, s[0:1]
	v_add_f32 v1, 1.0, v6
	v_add_f32 v1, 2.0, v1
	v_add_f32 v1, 2.0, v1
	global_load_dword v2, v0, s[10:11]
	s_waitcnt vmcnt(0)
	v_add_f32 v1, v2, v1
	global_store_dword v0, v1, s[10:11]
.L1:
	s_endpgm
.Lmain_end:
	.size main, .Lmain_end-main
	.rodata
	.p2align 6
	.amdhsa_kernel main
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 136
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_count 6
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 26
		.amdhsa_next_free_sgpr 12
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_ieee_mode 0
		.amdhsa_dx10_clamp 0
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx900
amdhsa.kernels:
  - .name: main
    .symbol: main.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 136
    .wavefront_size: 64
    .sgpr_count: 12
    .vgpr_count: 26
    .max_flat_workgroup_size: 64
    .reqd_workgroup_size: [64, 1, 1]
    .args:
    - .name: buffer0
      .offset: 0
      .size: 8
      .value_kind: global_buffer
      .address_space: global
    - .name: buffer1
      .offset: 8
      .size: 8
      .value_kind: global_buffer
      .address_space: global
...
	.end_amdgpu_metadata
