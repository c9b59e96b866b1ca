; crosslane 0.1.0
; profile gfx900
; source fixtures/language/functions.comp
; argument at 0: 8 bytes, address of the storage buffer of set 0 binding 0
; argument at 8: 8 bytes, address of the storage buffer of set 0 binding 1
; 18 vector registers, 12 scalar registers, 0 and 0 values spilled
; 0 bytes of workgroup memory, 44 bytes of scratch memory
; 10 waves at once on a SIMD
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
	v_xor_b32 v2, 1, v1
	v_lshrrev_b32 v3, 3, v1
	v_mov_b32 v4, 0
	buffer_store_dword v1, v4, s[0:3], 0 offen
	buffer_store_dword v2, v4, s[0:3], 0 offen offset:4
	buffer_store_dword v3, v4, s[0:3], 0 offen offset:8
	v_mov_b32 v2, 5
	buffer_store_dword v2, v4, s[0:3], 0 offen offset:12
	v_add_u32 v2, 1, v1
	v_add_u32 v3, 2, v1
	v_and_b32 v4, 0xff, v1
	v_lshrrev_b32 v5, 24, v1
	v_mov_b32 v6, 0
	buffer_store_dword v4, v6, s[0:3], 0 offen offset:4
	v_mul_lo_u32 v6, 3, v1
	v_and_b32 v7, 0xff, v6
	v_lshrrev_b32 v6, 24, v6
	v_and_b32 v8, 3, v1
	v_lshlrev_b32 v9, 2, v8
	buffer_load_dword v10, v9, s[0:3], 0 offen
	s_waitcnt vmcnt(0)
	v_lshlrev_b32 v10, 1, v10
	buffer_store_dword v10, v9, s[0:3], 0 offen
	v_cmp_eq_u32 s[4:5], v8, 2
	v_cndmask_b32 v9, v6, 3, s[4:5]
	v_cmp_eq_u32 s[6:7], v8, 1
	v_cndmask_b32 v9, v9, v7, s[6:7]
	v_cmp_eq_u32 s[8:9], v8, 0
	v_cndmask_b32 v9, v9, v1, s[8:9]
	v_lshlrev_b32 v9, 1, v9
	v_cndmask_b32 v10, v1, v9, s[8:9]
	v_cndmask_b32 v7, v7, v9, s[6:7]
	v_cndmask_b32 v11, 3, v9, s[4:5]
	v_cmp_eq_u32 s[4:5], v8, 3
	v_cndmask_b32 v6, v6, v9, s[4:5]
	v_mov_b32 v8, 0
	buffer_load_dword v8, v8, s[0:3], 0 offen
	v_mov_b32 v9, 0
	buffer_store_dword v2, v9, s[0:3], 0 offen
	v_cvt_f32_i32 v4, v4
	v_mul_f32 v4, 0.5, v4
	v_lshlrev_b32 v9, 3, v0
	v_mov_b32 v12, 0
	buffer_load_dword v13, v12, s[0:3], 0 offen
	buffer_load_dword v14, v12, s[0:3], 0 offen offset:4
	buffer_load_dword v15, v12, s[0:3], 0 offen offset:8
	v_mov_b32 v16, 0
	buffer_load_dword v12, v12, s[0:3], 0 offen offset:12
	s_waitcnt vmcnt(3)
	buffer_store_dword v13, v16, s[0:3], 0 offen offset:28
	v_mov_b32 v16, 0
	s_waitcnt vmcnt(3)
	buffer_store_dword v14, v16, s[0:3], 0 offen offset:32
	s_waitcnt vmcnt(3)
	buffer_store_dword v15, v16, s[0:3], 0 offen offset:36
	s_waitcnt vmcnt(3)
	buffer_store_dword v12, v16, s[0:3], 0 offen offset:40
	v_mov_b32 v16, 0
	buffer_store_dword v13, v16, s[0:3], 0 offen offset:28
	v_mov_b32 v16, 0
	buffer_store_dword v14, v16, s[0:3], 0 offen offset:32
	buffer_store_dword v15, v16, s[0:3], 0 offen offset:36
	buffer_store_dword v12, v16, s[0:3], 0 offen offset:40
	v_add_u32 v16, v13, v14
	v_mov_b32 v17, 0
	buffer_store_dword v13, v17, s[0:3], 0 offen offset:28
	v_mov_b32 v17, 0
	buffer_store_dword v14, v17, s[0:3], 0 offen offset:32
	buffer_store_dword v15, v17, s[0:3], 0 offen offset:36
	buffer_store_dword v12, v17, s[0:3], 0 offen offset:40
	v_add_u32 v16, v16, v15
	v_mov_b32 v17, 0
	buffer_store_dword v13, v17, s[0:3], 0 offen offset:28
	v_mov_b32 v13, 0
	buffer_store_dword v14, v13, s[0:3], 0 offen offset:32
	buffer_store_dword v15, v13, s[0:3], 0 offen offset:36
	buffer_store_dword v12, v13, s[0:3], 0 offen offset:40
	v_add_u32 v12, v16, v12
	v_lshlrev_b32 v0, 5, v0
	global_store_dword v0, v12, s[10:11]
	v_add_u32 v0, 1, v9
	v_xor_b32 v7, v10, v7
	v_xor_b32 v7, v7, v11
	v_lshlrev_b32 v0, 2, v0
	global_store_dword v0, v7, s[10:11]
	v_add_u32 v0, 2, v9
	v_lshlrev_b32 v0, 2, v0
	global_store_dword v0, v6, s[10:11]
	v_add_u32 v0, 3, v9
	v_lshlrev_b32 v0, 2, v0
	global_store_dword v0, v8, s[10:11]
	v_add_u32 v0, 4, v9
	v_lshlrev_b32 v0, 2, v0
	global_store_dword v0, v5, s[10:11]
	v_add_u32 v0, 5, v9
	v_lshlrev_b32 v0, 2, v0
	v_mov_b32 v5, 0x58d1
	global_store_dword v0, v5, s[10:11]
	v_add_u32 v0, 6, v9
	v_mul_lo_u32 v5, v1, v1
	v_mul_lo_u32 v6, v2, v2
	v_and_b32 v1, 1, v1
	v_mov_b32 v7, 0
	buffer_store_dword v2, v7, s[0:3], 0 offen offset:16
	buffer_store_dword v3, v7, s[0:3], 0 offen offset:20
	buffer_store_dword v6, v7, s[0:3], 0 offen offset:24
	v_lshlrev_b32 v1, 2, v1
	buffer_load_dword v1, v1, s[0:3], 0 offen offset:16
	s_waitcnt vmcnt(0)
	v_add_u32 v1, v5, v1
	v_lshlrev_b32 v0, 2, v0
	global_store_dword v0, v1, s[10:11]
	v_add_u32 v0, 7, v9
	v_lshlrev_b32 v0, 2, v0
	global_store_dword v0, v4, s[10:11]
.L1:
	s_endpgm
.Lmain_end:
	.size main, .Lmain_end-main
	.rodata
	.p2align 6
	.amdhsa_kernel main
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 44
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_count 6
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 18
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
    .private_segment_fixed_size: 44
    .wavefront_size: 64
    .sgpr_count: 12
    .vgpr_count: 18
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
