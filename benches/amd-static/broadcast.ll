; The twin of broadcast.comp.
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.readlane.i32(i32, i32)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
define amdgpu_kernel void @main(ptr addrspace(1) %x, ptr addrspace(1) %y) #0 {
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %first = mul i32 %group, 64
  %slot = add i32 %first, %lane
  %p.v = getelementptr i32, ptr addrspace(1) %x, i32 %slot
  %v.0 = load i32, ptr addrspace(1) %p.v
  %chosen = add i32 %group, 2
  %row = mul i32 %slot, 4
  %a = call i32 @llvm.amdgcn.readlane.i32(i32 %v.0, i32 1)
  %i.0 = add i32 %row, 0
  %q.0 = getelementptr i32, ptr addrspace(1) %y, i32 %i.0
  store i32 %a, ptr addrspace(1) %q.0
  %v.1 = load i32, ptr addrspace(1) %p.v
  %b = call i32 @llvm.amdgcn.readlane.i32(i32 %v.1, i32 %chosen)
  %i.1 = add i32 %row, 1
  %q.1 = getelementptr i32, ptr addrspace(1) %y, i32 %i.1
  store i32 %b, ptr addrspace(1) %q.1
  %v.2 = load i32, ptr addrspace(1) %p.v
  %c = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v.2)
  %i.2 = add i32 %row, 2
  %q.2 = getelementptr i32, ptr addrspace(1) %y, i32 %i.2
  store i32 %c, ptr addrspace(1) %q.2
  %id.lo = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %id = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %id.lo)
  %some = icmp uge i32 %id, 3
  br i1 %some, label %upper, label %end

upper:
  %v.3 = load i32, ptr addrspace(1) %p.v
  %d = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v.3)
  %i.3 = add i32 %row, 3
  %q.3 = getelementptr i32, ptr addrspace(1) %y, i32 %i.3
  store i32 %d, ptr addrspace(1) %q.3
  br label %end

end:
  ret void
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-dispatch-id" "amdgpu-no-flat-scratch-init" }
