; The twin of butterfly_vec4.comp with WIDTH=16.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p = getelementptr <4 x i32>, ptr addrspace(1) %x, i32 %slot
  %v = load <4 x i32>, ptr addrspace(1) %p
  %v.0 = extractelement <4 x i32> %v, i32 0
  %m.0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v.0, i32 296, i32 15, i32 15, i1 1)
  %r.0 = insertelement <4 x i32> poison, i32 %m.0, i32 0
  %v.1 = extractelement <4 x i32> %v, i32 1
  %m.1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v.1, i32 296, i32 15, i32 15, i1 1)
  %r.1 = insertelement <4 x i32> %r.0, i32 %m.1, i32 1
  %v.2 = extractelement <4 x i32> %v, i32 2
  %m.2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v.2, i32 296, i32 15, i32 15, i1 1)
  %r.2 = insertelement <4 x i32> %r.1, i32 %m.2, i32 2
  %v.3 = extractelement <4 x i32> %v, i32 3
  %m.3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v.3, i32 296, i32 15, i32 15, i1 1)
  %r.3 = insertelement <4 x i32> %r.2, i32 %m.3, i32 3
  %q = getelementptr <4 x i32>, ptr addrspace(1) %y, i32 %slot
  store <4 x i32> %r.3, ptr addrspace(1) %q
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
