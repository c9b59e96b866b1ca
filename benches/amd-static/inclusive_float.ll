; The twin of inclusive_float.comp with WIDTH=16.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare float @llvm.amdgcn.update.dpp.f32(float, float, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p.v = getelementptr float, ptr addrspace(1) %x, i32 %slot
  %v = load float, ptr addrspace(1) %p.v
  %fadd.m0 = call float @llvm.amdgcn.update.dpp.f32(float -0.0, float %v, i32 273, i32 15, i32 15, i1 0)
  %fadd.0 = fadd float %fadd.m0, %v
  %fadd.m1 = call float @llvm.amdgcn.update.dpp.f32(float -0.0, float %fadd.0, i32 274, i32 15, i32 15, i1 0)
  %fadd.1 = fadd float %fadd.m1, %fadd.0
  %fadd.m2 = call float @llvm.amdgcn.update.dpp.f32(float -0.0, float %fadd.1, i32 276, i32 15, i32 15, i1 0)
  %fadd.2 = fadd float %fadd.m2, %fadd.1
  %fadd.m3 = call float @llvm.amdgcn.update.dpp.f32(float -0.0, float %fadd.2, i32 280, i32 15, i32 15, i1 0)
  %fadd.3 = fadd float %fadd.m3, %fadd.2
  %fmul.m0 = call float @llvm.amdgcn.update.dpp.f32(float 1.0, float %v, i32 273, i32 15, i32 15, i1 0)
  %fmul.0 = fmul float %fmul.m0, %v
  %fmul.m1 = call float @llvm.amdgcn.update.dpp.f32(float 1.0, float %fmul.0, i32 274, i32 15, i32 15, i1 0)
  %fmul.1 = fmul float %fmul.m1, %fmul.0
  %fmul.m2 = call float @llvm.amdgcn.update.dpp.f32(float 1.0, float %fmul.1, i32 276, i32 15, i32 15, i1 0)
  %fmul.2 = fmul float %fmul.m2, %fmul.1
  %fmul.m3 = call float @llvm.amdgcn.update.dpp.f32(float 1.0, float %fmul.2, i32 280, i32 15, i32 15, i1 0)
  %fmul.3 = fmul float %fmul.m3, %fmul.2
  %fmin.m0 = call float @llvm.amdgcn.update.dpp.f32(float 0x7FF0000000000000, float %v, i32 273, i32 15, i32 15, i1 0)
  %fmin.0 = call float @llvm.minnum.f32(float %fmin.m0, float %v)
  %fmin.m1 = call float @llvm.amdgcn.update.dpp.f32(float 0x7FF0000000000000, float %fmin.0, i32 274, i32 15, i32 15, i1 0)
  %fmin.1 = call float @llvm.minnum.f32(float %fmin.m1, float %fmin.0)
  %fmin.m2 = call float @llvm.amdgcn.update.dpp.f32(float 0x7FF0000000000000, float %fmin.1, i32 276, i32 15, i32 15, i1 0)
  %fmin.2 = call float @llvm.minnum.f32(float %fmin.m2, float %fmin.1)
  %fmin.m3 = call float @llvm.amdgcn.update.dpp.f32(float 0x7FF0000000000000, float %fmin.2, i32 280, i32 15, i32 15, i1 0)
  %fmin.3 = call float @llvm.minnum.f32(float %fmin.m3, float %fmin.2)
  %fmax.m0 = call float @llvm.amdgcn.update.dpp.f32(float 0xFFF0000000000000, float %v, i32 273, i32 15, i32 15, i1 0)
  %fmax.0 = call float @llvm.maxnum.f32(float %fmax.m0, float %v)
  %fmax.m1 = call float @llvm.amdgcn.update.dpp.f32(float 0xFFF0000000000000, float %fmax.0, i32 274, i32 15, i32 15, i1 0)
  %fmax.1 = call float @llvm.maxnum.f32(float %fmax.m1, float %fmax.0)
  %fmax.m2 = call float @llvm.amdgcn.update.dpp.f32(float 0xFFF0000000000000, float %fmax.1, i32 276, i32 15, i32 15, i1 0)
  %fmax.2 = call float @llvm.maxnum.f32(float %fmax.m2, float %fmax.1)
  %fmax.m3 = call float @llvm.amdgcn.update.dpp.f32(float 0xFFF0000000000000, float %fmax.2, i32 280, i32 15, i32 15, i1 0)
  %fmax.3 = call float @llvm.maxnum.f32(float %fmax.m3, float %fmax.2)
  %row = mul i32 %slot, 4
  %i.0 = add i32 %row, 0
  %q.0 = getelementptr float, ptr addrspace(1) %y, i32 %i.0
  store float %fadd.3, ptr addrspace(1) %q.0
  %i.1 = add i32 %row, 1
  %q.1 = getelementptr float, ptr addrspace(1) %y, i32 %i.1
  store float %fmul.3, ptr addrspace(1) %q.1
  %i.2 = add i32 %row, 2
  %q.2 = getelementptr float, ptr addrspace(1) %y, i32 %i.2
  store float %fmin.3, ptr addrspace(1) %q.2
  %i.3 = add i32 %row, 3
  %q.3 = getelementptr float, ptr addrspace(1) %y, i32 %i.3
  store float %fmax.3, ptr addrspace(1) %q.3
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
