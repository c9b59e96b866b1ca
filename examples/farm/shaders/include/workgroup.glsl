layout(local_size_x = 64) in;
#define SCALE 0.125
