; The twin of kernel_dot_product.comp with WIDTH=16.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare float @llvm.amdgcn.update.dpp.f32(float, float, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %weights) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p.a = getelementptr <4 x float>, ptr addrspace(1) %x, i32 %slot
  %a = load <4 x float>, ptr addrspace(1) %p.a
  %p.b = getelementptr <4 x float>, ptr addrspace(1) %weights, i32 %slot
  %b = load <4 x float>, ptr addrspace(1) %p.b
  %m = fmul <4 x float> %a, %b
  %m.0 = extractelement <4 x float> %m, i32 0
  %m.1 = extractelement <4 x float> %m, i32 1
  %m.2 = extractelement <4 x float> %m, i32 2
  %m.3 = extractelement <4 x float> %m, i32 3
  %s.1 = fadd float %m.0, %m.1
  %s.2 = fadd float %s.1, %m.2
  %s.3 = fadd float %s.2, %m.3
  %sum.m0 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %s.3, i32 177, i32 15, i32 15, i1 1)
  %sum.0 = fadd float %s.3, %sum.m0
  %sum.m1 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %sum.0, i32 78, i32 15, i32 15, i1 1)
  %sum.1 = fadd float %sum.0, %sum.m1
  %sum.m2 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %sum.1, i32 321, i32 15, i32 15, i1 1)
  %sum.2 = fadd float %sum.1, %sum.m2
  %sum.m3 = call float @llvm.amdgcn.update.dpp.f32(float poison, float %sum.2, i32 320, i32 15, i32 15, i1 1)
  %sum.3 = fadd float %sum.2, %sum.m3
  %local = and i32 %lane, 15
  %last = icmp eq i32 %local, 15
  br i1 %last, label %keep, label %end

keep:
  %at = lshr i32 %slot, 4
  %q = getelementptr float, ptr addrspace(1) %y, i32 %at
  store float %sum.3, ptr addrspace(1) %q
  br label %end

end:
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
