// Empty: what naga names of it is in metal_stdlib.
