; The twin of kernel_stencil.comp with WIDTH=16.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare float @llvm.amdgcn.update.dpp.f32(float, float, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p.v = getelementptr float, ptr addrspace(1) %x, i32 %slot
  %v = load float, ptr addrspace(1) %p.v
  %left = call float @llvm.amdgcn.update.dpp.f32(float %v, float %v, i32 273, i32 15, i32 15, i1 0)
  %right = call float @llvm.amdgcn.update.dpp.f32(float %v, float %v, i32 257, i32 15, i32 15, i1 0)
  %a = fmul float %left, 0.25
  %b = fmul float %v, 0.5
  %c = fadd float %a, %b
  %d = fmul float %right, 0.25
  %e = fadd float %c, %d
  %q = getelementptr float, ptr addrspace(1) %y, i32 %slot
  store float %e, ptr addrspace(1) %q
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
