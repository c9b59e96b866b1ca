; The twin of bpermute.comp, whose second index is constant.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.readlane.i32(i32, i32)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %index) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p.v = getelementptr i32, ptr addrspace(1) %x, i32 %slot
  %v = load i32, ptr addrspace(1) %p.v
  %p.n = getelementptr i32, ptr addrspace(1) %index, i32 %slot
  %n = load i32, ptr addrspace(1) %p.n
  %address = shl i32 %n, 2
  %w = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 %v)
  %row = mul i32 %slot, 2
  %i.0 = add i32 %row, 0
  %q.0 = getelementptr i32, ptr addrspace(1) %y, i32 %i.0
  store i32 %w, ptr addrspace(1) %q.0
  %v.1 = load i32, ptr addrspace(1) %p.v
  %u = call i32 @llvm.amdgcn.readlane.i32(i32 %v.1, i32 3)
  %i.1 = add i32 %row, 1
  %q.1 = getelementptr i32, ptr addrspace(1) %y, i32 %i.1
  store i32 %u, ptr addrspace(1) %q.1
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
