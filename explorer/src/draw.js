// Draws a triangle that covers a square with a fragment shader in WGSL, and reads the pixels.

import { checked, filled, module } from './gpu.js';

// Pixels of a side; a row of them has a multiple of the 256 bytes that copies need.
export const SIDE = 256;

// The formats of the first colour, by its type: as many components, or WebGPU refuses it.
const FORMATS = { 'vec4<f32>': ['rgba8unorm', 4], 'vec2<f32>': ['rg8unorm', 2], f32: ['r8unorm', 1] };

// What an input holds: the place in the picture, filled up as positions are.
const INPUTS = {
    f32: ['f32', 'at.x'], 'vec2<f32>': ['vec2f', 'at'], 'vec3<f32>': ['vec3f', 'vec3f(at, 0)'], 'vec4<f32>': ['vec4f', 'vec4f(at, 0, 1)'],
    i32: ['i32', '0'], u32: ['u32', '0u'], 'vec2<i32>': ['vec2i', 'vec2i()'], 'vec2<u32>': ['vec2u', 'vec2u()'],
    'vec3<i32>': ['vec3i', 'vec3i()'], 'vec3<u32>': ['vec3u', 'vec3u()'], 'vec4<i32>': ['vec4i', 'vec4i()'], 'vec4<u32>': ['vec4u', 'vec4u()'],
};

// The vertex shader that gives a fragment shader its inputs.
function vertex(inputs) {
    const ports = inputs.filter(({ location }) => location !== undefined).map((port) => {
        const [type, value] = INPUTS[port.type] ?? [];
        if (!type || port.array) throw new Error(`the page has no value for the input \`${port.name}\` of type ${port.type}`);
        const flat = port.interpolation === 'flat' ? '@interpolate(flat) ' : port.interpolation === 'linear' ? `@interpolate(linear${port.sampling ? `, ${port.sampling}` : ''}) ` : port.sampling ? `@interpolate(perspective, ${port.sampling}) ` : '';
        return { field: `@location(${port.location}) ${flat}v${port.location}: ${type},`, set: `out.v${port.location} = ${value};` };
    });
    return `struct Out { @builtin(position) position: vec4f, ${ports.map(({ field }) => field).join(' ')} }
@vertex fn corner(@builtin(vertex_index) n: u32) -> Out {
    let at = vec2f(f32(n & 1u), f32(n >> 1u)) * 2.0;
    var out: Out;
    out.position = vec4f(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
    ${ports.map(({ set }) => set).join('\n    ')}
    return out;
}`;
}

// Coloured squares with a frame, 64 by 64.
function pattern(gpu) {
    const size = [64, 64];
    const texture = gpu.createTexture({ size, format: 'rgba8unorm', usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST });
    const pixels = new Uint8Array(64 * 64 * 4);
    for (let n = 0; n < 64 * 64; n += 1) {
        const [x, y] = [n % 64, n >> 6];
        const isDark = ((x >> 3) + (y >> 3)) % 2 === 1;
        const isFrame = x === 0 || y === 0 || x === 63 || y === 63;
        pixels.set(isFrame ? [255, 255, 255, 255] : [x * 4, y * 4, isDark ? 64 : 192, 255], n * 4);
    }
    gpu.queue.writeTexture({ texture }, pixels, { bytesPerRow: 256 }, size);
    return texture.createView();
}

// What the shader binds: pairs of a group and an entry.
function entries(gpu, { buffers }, { buffers: places, images = [], resources, webgpu }) {
    const strange = images.find(({ kind, shape }) => kind !== 'texture' || shape !== '2d');
    if (strange) throw new Error(`the page has no ${strange.shape} ${strange.kind} for \`${strange.name}\``);
    const sampler = () => gpu.createSampler({ addressModeU: 'repeat', addressModeV: 'repeat', magFilter: 'linear', minFilter: 'linear' });
    const separate = resources.filter(({ kind }) => kind === 'sampler');
    const isUniform = ({ kind }) => kind === 'uniform';
    return [
        ...buffers.map(({ words }, n) => [places[n].set, { binding: places[n].binding, resource: { buffer: filled(gpu, { words, isUniform: isUniform(places[n]) }) } }]),
        ...images.map(({ set, binding }) => [set, { binding, resource: pattern(gpu) }]),
        ...[...webgpu.samplers, ...separate.map(({ set, binding }) => ({ group: set, binding }))].map(({ group, binding }) => [group, { binding, resource: sampler() }]),
    ];
}

// The colour that is shown: the first.
function target({ outputs }) {
    const colour = outputs.filter(({ location }) => location !== undefined).sort((a, b) => a.location - b.location)[0];
    if (!colour) throw new Error('The shader writes no colour.');
    const format = FORMATS[colour.type];
    if (!format) throw new Error(`The page shows outputs of type vec4, vec2 and float, and \`${colour.name}\` has the type ${colour.type}.`);
    return { format: format[0], components: format[1], location: colour.location };
}

// Pixels of any format as red, green, blue and opaque: alpha is a value like others here.
function shown(bytes, components, row) {
    const pixels = new Uint8ClampedArray(SIDE * SIDE * 4);
    for (let n = 0; n < SIDE * SIDE; n += 1) {
        const at = Math.floor(n / SIDE) * row + (n % SIDE) * components;
        const colour = [...bytes.subarray(at, at + Math.min(components, 3)), 0, 0].slice(0, 3);
        if (components === 1) colour.fill(colour[0]);
        pixels.set([...colour, 255], n * 4);
    }
    return pixels;
}

// The pixels of the picture.
export async function draw(gpu, drawing, reflection) {
    const { format, components, location } = target(reflection);
    const bound = entries(gpu, drawing, reflection);
    const targets = [...Array(location).fill(null), { format }];
    const pipeline = await checked(gpu, async () => gpu.createRenderPipelineAsync({
        layout: 'auto',
        vertex: { module: await module(gpu, vertex(reflection.inputs)), entryPoint: 'corner' },
        fragment: { module: await module(gpu, drawing.text), entryPoint: reflection.entry_point, targets },
    }));
    const texture = gpu.createTexture({ size: [SIDE, SIDE], format, usage: GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC });
    const row = Math.max(256, SIDE * components);
    const copy = gpu.createBuffer({ size: row * SIDE, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    await checked(gpu, () => {
        const encoder = gpu.createCommandEncoder();
        const view = texture.createView();
        const colorAttachments = [...Array(location).fill(null), { view, loadOp: 'clear', clearValue: [0, 0, 0, 1], storeOp: 'store' }];
        const pass = encoder.beginRenderPass({ colorAttachments });
        pass.setPipeline(pipeline);
        for (const group of new Set(bound.map(([set]) => set))) {
            const own = bound.filter(([set]) => set === group).map(([, entry]) => entry);
            pass.setBindGroup(group, gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(group), entries: own }));
        }
        pass.draw(3);
        pass.end();
        encoder.copyTextureToBuffer({ texture }, { buffer: copy, bytesPerRow: row }, [SIDE, SIDE]);
        gpu.queue.submit([encoder.finish()]);
    });
    await copy.mapAsync(GPUMapMode.READ);
    const pixels = shown(new Uint8Array(copy.getMappedRange()), components, row);
    copy.destroy();
    texture.destroy();
    return pixels;
}
