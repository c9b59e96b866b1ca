// The mean over a segment of WIDTH lanes.
#ifndef WIDTH
#define WIDTH 8
#endif

float mean(float value) {
#if WIDTH == 16
    return allReduceAdd16(value) / 16.0;
#else
    return allReduceAdd8(value) / 8.0;
#endif
}
