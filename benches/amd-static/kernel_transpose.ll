; The twin of kernel_transpose.comp with WIDTH=4.
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
  %a0 = extractelement <4 x i32> %v, i32 0
  %a1 = extractelement <4 x i32> %v, i32 1
  %a2 = extractelement <4 x i32> %v, i32 2
  %a3 = extractelement <4 x i32> %v, i32 3
  %bit2 = and i32 %lane, 2
  %upper2 = icmp ne i32 %bit2, 0
  %s2.0 = select i1 %upper2, i32 %a0, i32 %a2
  %m2.0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %s2.0, i32 78, i32 15, i32 15, i1 1)
  %b0 = select i1 %upper2, i32 %m2.0, i32 %a0
  %b2 = select i1 %upper2, i32 %a2, i32 %m2.0
  %s2.1 = select i1 %upper2, i32 %a1, i32 %a3
  %m2.1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %s2.1, i32 78, i32 15, i32 15, i1 1)
  %b1 = select i1 %upper2, i32 %m2.1, i32 %a1
  %b3 = select i1 %upper2, i32 %a3, i32 %m2.1
  %bit1 = and i32 %lane, 1
  %upper1 = icmp ne i32 %bit1, 0
  %s1.0 = select i1 %upper1, i32 %b0, i32 %b1
  %m1.0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %s1.0, i32 177, i32 15, i32 15, i1 1)
  %c0 = select i1 %upper1, i32 %m1.0, i32 %b0
  %c1 = select i1 %upper1, i32 %b1, i32 %m1.0
  %s1.2 = select i1 %upper1, i32 %b2, i32 %b3
  %m1.2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %s1.2, i32 177, i32 15, i32 15, i1 1)
  %c2 = select i1 %upper1, i32 %m1.2, i32 %b2
  %c3 = select i1 %upper1, i32 %b3, i32 %m1.2
  %r0 = insertelement <4 x i32> poison, i32 %c0, i32 0
  %r1 = insertelement <4 x i32> %r0, i32 %c1, i32 1
  %r2 = insertelement <4 x i32> %r1, i32 %c2, i32 2
  %r3 = insertelement <4 x i32> %r2, i32 %c3, i32 3
  %q = getelementptr <4 x i32>, ptr addrspace(1) %y, i32 %slot
  store <4 x i32> %r3, ptr addrspace(1) %q
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
