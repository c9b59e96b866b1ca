; The twin of all_reduce_float.comp with WIDTH=16.
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
  %fadd.m0 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %v, i32 177, i32 15, i32 15, i1 1)
  %fadd.0 = fadd float %v, %fadd.m0
  %fadd.m1 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fadd.0, i32 78, i32 15, i32 15, i1 1)
  %fadd.1 = fadd float %fadd.0, %fadd.m1
  %fadd.m2 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fadd.1, i32 321, i32 15, i32 15, i1 1)
  %fadd.2 = fadd float %fadd.1, %fadd.m2
  %fadd.m3 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fadd.2, i32 320, i32 15, i32 15, i1 1)
  %fadd.3 = fadd float %fadd.2, %fadd.m3
  %fmul.m0 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %v, i32 177, i32 15, i32 15, i1 1)
  %fmul.0 = fmul float %v, %fmul.m0
  %fmul.m1 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmul.0, i32 78, i32 15, i32 15, i1 1)
  %fmul.1 = fmul float %fmul.0, %fmul.m1
  %fmul.m2 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmul.1, i32 321, i32 15, i32 15, i1 1)
  %fmul.2 = fmul float %fmul.1, %fmul.m2
  %fmul.m3 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmul.2, i32 320, i32 15, i32 15, i1 1)
  %fmul.3 = fmul float %fmul.2, %fmul.m3
  %fmin.m0 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %v, i32 177, i32 15, i32 15, i1 1)
  %fmin.0 = call float @llvm.minnum.f32(float %v, float %fmin.m0)
  %fmin.m1 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmin.0, i32 78, i32 15, i32 15, i1 1)
  %fmin.1 = call float @llvm.minnum.f32(float %fmin.0, float %fmin.m1)
  %fmin.m2 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmin.1, i32 321, i32 15, i32 15, i1 1)
  %fmin.2 = call float @llvm.minnum.f32(float %fmin.1, float %fmin.m2)
  %fmin.m3 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmin.2, i32 320, i32 15, i32 15, i1 1)
  %fmin.3 = call float @llvm.minnum.f32(float %fmin.2, float %fmin.m3)
  %fmax.m0 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %v, i32 177, i32 15, i32 15, i1 1)
  %fmax.0 = call float @llvm.maxnum.f32(float %v, float %fmax.m0)
  %fmax.m1 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmax.0, i32 78, i32 15, i32 15, i1 1)
  %fmax.1 = call float @llvm.maxnum.f32(float %fmax.0, float %fmax.m1)
  %fmax.m2 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmax.1, i32 321, i32 15, i32 15, i1 1)
  %fmax.2 = call float @llvm.maxnum.f32(float %fmax.1, float %fmax.m2)
  %fmax.m3 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %fmax.2, i32 320, i32 15, i32 15, i1 1)
  %fmax.3 = call float @llvm.maxnum.f32(float %fmax.2, float %fmax.m3)
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
