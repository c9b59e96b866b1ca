// Derivatives of a fragment shader by hand: a quad is two by two pixels, and each reads its neighbours' values.
#version 450
#extension GL_CROSSLANE_quad_swizzle : require

layout(location = 0) in vec2 at;
layout(location = 0) out vec4 color;

float height(vec2 p) {
    return sin(p.x * 12.0) * cos(p.y * 9.0);
}

void main() {
    float h = height(at);
    float across = quadSwizzleX(h);         // the value of the pixel beside this one
    float down = quadSwizzleY(h);           // and of the one above or below it
    float first = quadSwizzle0(h);          // and of the quad's first one
    vec3 normal = normalize(vec3(across - h, down - h, 0.1));
    color = vec4(normal * 0.5 + 0.5, abs(h - first));
}
