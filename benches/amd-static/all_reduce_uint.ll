; The twin of all_reduce_uint.comp with WIDTH=16.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p.v = getelementptr i32, ptr addrspace(1) %x, i32 %slot
  %v = load i32, ptr addrspace(1) %p.v
  %add.m0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %add.0 = add i32 %v, %add.m0
  %add.m1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %add.0, i32 78, i32 15, i32 15, i1 1)
  %add.1 = add i32 %add.0, %add.m1
  %add.m2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %add.1, i32 321, i32 15, i32 15, i1 1)
  %add.2 = add i32 %add.1, %add.m2
  %add.m3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %add.2, i32 320, i32 15, i32 15, i1 1)
  %add.3 = add i32 %add.2, %add.m3
  %mul.m0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %mul.0 = mul i32 %v, %mul.m0
  %mul.m1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %mul.0, i32 78, i32 15, i32 15, i1 1)
  %mul.1 = mul i32 %mul.0, %mul.m1
  %mul.m2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %mul.1, i32 321, i32 15, i32 15, i1 1)
  %mul.2 = mul i32 %mul.1, %mul.m2
  %mul.m3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %mul.2, i32 320, i32 15, i32 15, i1 1)
  %mul.3 = mul i32 %mul.2, %mul.m3
  %umin.m0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %umin.0 = call i32 @llvm.umin.i32(i32 %v, i32 %umin.m0)
  %umin.m1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %umin.0, i32 78, i32 15, i32 15, i1 1)
  %umin.1 = call i32 @llvm.umin.i32(i32 %umin.0, i32 %umin.m1)
  %umin.m2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %umin.1, i32 321, i32 15, i32 15, i1 1)
  %umin.2 = call i32 @llvm.umin.i32(i32 %umin.1, i32 %umin.m2)
  %umin.m3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %umin.2, i32 320, i32 15, i32 15, i1 1)
  %umin.3 = call i32 @llvm.umin.i32(i32 %umin.2, i32 %umin.m3)
  %umax.m0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %umax.0 = call i32 @llvm.umax.i32(i32 %v, i32 %umax.m0)
  %umax.m1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %umax.0, i32 78, i32 15, i32 15, i1 1)
  %umax.1 = call i32 @llvm.umax.i32(i32 %umax.0, i32 %umax.m1)
  %umax.m2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %umax.1, i32 321, i32 15, i32 15, i1 1)
  %umax.2 = call i32 @llvm.umax.i32(i32 %umax.1, i32 %umax.m2)
  %umax.m3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %umax.2, i32 320, i32 15, i32 15, i1 1)
  %umax.3 = call i32 @llvm.umax.i32(i32 %umax.2, i32 %umax.m3)
  %and.m0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %and.0 = and i32 %v, %and.m0
  %and.m1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %and.0, i32 78, i32 15, i32 15, i1 1)
  %and.1 = and i32 %and.0, %and.m1
  %and.m2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %and.1, i32 321, i32 15, i32 15, i1 1)
  %and.2 = and i32 %and.1, %and.m2
  %and.m3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %and.2, i32 320, i32 15, i32 15, i1 1)
  %and.3 = and i32 %and.2, %and.m3
  %or.m0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %or.0 = or i32 %v, %or.m0
  %or.m1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %or.0, i32 78, i32 15, i32 15, i1 1)
  %or.1 = or i32 %or.0, %or.m1
  %or.m2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %or.1, i32 321, i32 15, i32 15, i1 1)
  %or.2 = or i32 %or.1, %or.m2
  %or.m3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %or.2, i32 320, i32 15, i32 15, i1 1)
  %or.3 = or i32 %or.2, %or.m3
  %xor.m0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %xor.0 = xor i32 %v, %xor.m0
  %xor.m1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %xor.0, i32 78, i32 15, i32 15, i1 1)
  %xor.1 = xor i32 %xor.0, %xor.m1
  %xor.m2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %xor.1, i32 321, i32 15, i32 15, i1 1)
  %xor.2 = xor i32 %xor.1, %xor.m2
  %xor.m3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %xor.2, i32 320, i32 15, i32 15, i1 1)
  %xor.3 = xor i32 %xor.2, %xor.m3
  %row = mul i32 %slot, 7
  %i.0 = add i32 %row, 0
  %q.0 = getelementptr i32, ptr addrspace(1) %y, i32 %i.0
  store i32 %add.3, ptr addrspace(1) %q.0
  %i.1 = add i32 %row, 1
  %q.1 = getelementptr i32, ptr addrspace(1) %y, i32 %i.1
  store i32 %mul.3, ptr addrspace(1) %q.1
  %i.2 = add i32 %row, 2
  %q.2 = getelementptr i32, ptr addrspace(1) %y, i32 %i.2
  store i32 %umin.3, ptr addrspace(1) %q.2
  %i.3 = add i32 %row, 3
  %q.3 = getelementptr i32, ptr addrspace(1) %y, i32 %i.3
  store i32 %umax.3, ptr addrspace(1) %q.3
  %i.4 = add i32 %row, 4
  %q.4 = getelementptr i32, ptr addrspace(1) %y, i32 %i.4
  store i32 %and.3, ptr addrspace(1) %q.4
  %i.5 = add i32 %row, 5
  %q.5 = getelementptr i32, ptr addrspace(1) %y, i32 %i.5
  store i32 %or.3, ptr addrspace(1) %q.5
  %i.6 = add i32 %row, 6
  %q.6 = getelementptr i32, ptr addrspace(1) %y, i32 %i.6
  store i32 %xor.3, ptr addrspace(1) %q.6
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
