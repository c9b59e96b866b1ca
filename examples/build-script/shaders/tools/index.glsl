#define INDEX gl_GlobalInvocationID.x
