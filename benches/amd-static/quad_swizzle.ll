; The twin of quad_swizzle.comp.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p.v = getelementptr i32, ptr addrspace(1) %x, i32 %slot
  %v = load i32, ptr addrspace(1) %p.v
  %w.0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 0, i32 15, i32 15, i1 1)
  %w.1 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 85, i32 15, i32 15, i1 1)
  %w.2 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 170, i32 15, i32 15, i1 1)
  %w.3 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 255, i32 15, i32 15, i1 1)
  %w.4 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 177, i32 15, i32 15, i1 1)
  %w.5 = call i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %v, i32 78, i32 15, i32 15, i1 1)
  %row = mul i32 %slot, 6
  %i.0 = add i32 %row, 0
  %q.0 = getelementptr i32, ptr addrspace(1) %y, i32 %i.0
  store i32 %w.0, ptr addrspace(1) %q.0
  %i.1 = add i32 %row, 1
  %q.1 = getelementptr i32, ptr addrspace(1) %y, i32 %i.1
  store i32 %w.1, ptr addrspace(1) %q.1
  %i.2 = add i32 %row, 2
  %q.2 = getelementptr i32, ptr addrspace(1) %y, i32 %i.2
  store i32 %w.2, ptr addrspace(1) %q.2
  %i.3 = add i32 %row, 3
  %q.3 = getelementptr i32, ptr addrspace(1) %y, i32 %i.3
  store i32 %w.3, ptr addrspace(1) %q.3
  %i.4 = add i32 %row, 4
  %q.4 = getelementptr i32, ptr addrspace(1) %y, i32 %i.4
  store i32 %w.4, ptr addrspace(1) %q.4
  %i.5 = add i32 %row, 5
  %q.5 = getelementptr i32, ptr addrspace(1) %y, i32 %i.5
  store i32 %w.5, ptr addrspace(1) %q.5
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
