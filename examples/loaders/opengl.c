// Runs sums.comp as NVIDIA assembly through OpenGL, without a display.
//
//     crosslane compile sums.comp -p nv-ampere -o sums.glasm
//     cc opengl.c -lEGL -lGL -o opengl && ./opengl sums.glasm
//
// What `crosslane compile sums.comp -p nv-ampere --emit reflection` says is named where it is used.

#define GL_GLEXT_PROTOTYPES
#include "host.h"
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#define PROGRAM_TARGET 37115 /* reflection: gl.program_target, GL_COMPUTE_PROGRAM_NV */
#define PROGRAM_FORMAT 34933 /* reflection: gl.program_format, GL_PROGRAM_FORMAT_ASCII_ARB */

// A context on the first device that runs assembly programs. Only the compatibility profile does.
static void open_context(void) {
    PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLGETPLATFORMDISPLAYEXTPROC display_of =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    need(query && display_of, "EGL with devices");
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    query(16, devices, &count);
    for (EGLint n = 0; n < count; ++n) {
        EGLDisplay display = display_of(EGL_PLATFORM_DEVICE_EXT, devices[n], NULL);
        if (!eglInitialize(display, NULL, NULL)) continue;
        eglBindAPI(EGL_OPENGL_API);
        EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 6,
                               EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT, EGL_NONE};
        EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
        if (context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
            if (eglGetProcAddress("glProgramLocalParametersI4uivNV")) return;
        }
        eglTerminate(display);
    }
    need(0, "an OpenGL device with NV_compute_program5");
}

static void load(const char *path) {
    size_t size;
    char *text = read_file(path, &size);
    GLuint program;
    glGenProgramsARB(1, &program);
    glBindProgramARB(PROGRAM_TARGET, program);
    glProgramStringARB(PROGRAM_TARGET, PROGRAM_FORMAT, (GLsizei)size, text);
    GLint position;
    glGetIntegerv(GL_PROGRAM_ERROR_POSITION_ARB, &position);
    if (position >= 0) fprintf(stderr, "at byte %d: %s\n", position, (const char *)glGetString(GL_PROGRAM_ERROR_STRING_ARB));
    need(position < 0, "to load the program");
    free(text);
}

// reflection: buffers, each with its gl_target (37074, GL_SHADER_STORAGE_BUFFER) and gl_index
static GLuint bind_buffer(GLuint index, const unsigned *data) {
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, name);
    glBufferData(GL_SHADER_STORAGE_BUFFER, BYTES, data, GL_DYNAMIC_COPY);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, index, name);
    return name;
}

int main(int argc, char **argv) {
    need(argc == 2, "usage: opengl sums.glasm");
    open_context();
    static unsigned x[COUNT], y[COUNT];
    fill(x);
    load(argv[1]);
    bind_buffer(0, x);
    GLuint out = bind_buffer(1, y);
    glEnable(PROGRAM_TARGET);
    glDispatchCompute(GROUPS, 1, 1);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, out);
    glGetBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, BYTES, y);
    need(glGetError() == GL_NO_ERROR, "OpenGL");
    check(x, y);
    return 0;
}
