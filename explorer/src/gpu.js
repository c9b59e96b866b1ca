// Runs WGSL on the browser's own GPU.

let opened;

const FEATURES = ['subgroups', 'shader-f16'];

// The fewest lanes of a subgroup on any device.
const LEAST = 4;

// The device, and the lanes of its subgroups: those of a pipeline, the fewest, and `size` if all have as many. Throws with the reason
// where there is none.
export function device() {
    opened ??= open().catch((error) => {
        opened = undefined;
        throw error;
    });
    return opened;
}

async function open() {
    if (!navigator.gpu) throw new Error('This browser has no WebGPU.');
    const adapter = await navigator.gpu.requestAdapter();
    if (!adapter) throw new Error('This browser found no GPU.');
    if (!adapter.features.has('subgroups')) throw new Error('This GPU, or this browser, has no subgroups.');
    const requiredFeatures = FEATURES.filter((feature) => adapter.features.has(feature));
    const gpu = await adapter.requestDevice({ requiredFeatures });
    gpu.lost.then(() => (opened = undefined));
    const { vendor, architecture, description, subgroupMinSize: least = LEAST, subgroupMaxSize: most } = adapter.info;
    const name = description || [vendor, architecture].filter(Boolean).join(' ') || 'a GPU';
    const lanes = await probe(gpu);
    return { gpu, name, lanes, least, size: least === most ? least : undefined };
}

const PROBE = `enable subgroups;
@group(0) @binding(0) var<storage, read_write> size: u32;
@compute @workgroup_size(128) fn main(@builtin(subgroup_size) lanes: u32, @builtin(local_invocation_index) at: u32) {
    if (at == 0u) { size = lanes; }
}`;

async function probe(gpu) {
    const buffer = { set: 0, binding: 0, isUniform: false, words: [0] };
    const [[lanes]] = await run(gpu, { text: PROBE, entry: 'main', groups: [1, 1, 1], buffers: [buffer] });
    return lanes;
}

export async function checked(gpu, make) {
    gpu.pushErrorScope('validation');
    const made = await make();
    const error = await gpu.popErrorScope();
    if (error) throw new Error(error.message);
    return made;
}

// A module of a text; throws with the messages where it is wrong.
export async function module(gpu, code) {
    const made = gpu.createShaderModule({ code });
    const { messages } = await made.getCompilationInfo();
    const wrong = messages.filter(({ type }) => type === 'error');
    if (wrong.length > 0) throw new Error(wrong.map(({ lineNum, message }) => `line ${lineNum}: ${message}`).join('\n'));
    return made;
}

// The values of the overrides, by their numbers: the fewest lanes of a subgroup, if the text asks for them.
function constants(reflection, least) {
    const asked = reflection?.spec_constants.filter(({ name }) => name === 'subgroup_min_size') ?? [];
    return Object.fromEntries(asked.map(({ id }) => [id, least]));
}

async function pipeline(gpu, { text, entry, reflection, least }) {
    const compute = { module: await module(gpu, text), entryPoint: entry, constants: constants(reflection, least) };
    return checked(gpu, () => gpu.createComputePipelineAsync({ layout: 'auto', compute }));
}

// A buffer with these words in it.
export function filled(gpu, { words, isUniform }) {
    const kind = isUniform ? GPUBufferUsage.UNIFORM : GPUBufferUsage.STORAGE;
    const size = Math.max(words.length * 4, isUniform ? 16 : 4);
    const buffer = gpu.createBuffer({ size, usage: kind | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
    gpu.queue.writeBuffer(buffer, 0, new Uint32Array(words));
    return buffer;
}

async function contents(gpu, buffer, { words }) {
    const size = words.length * 4;
    const copy = gpu.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, size);
    gpu.queue.submit([encoder.finish()]);
    await copy.mapAsync(GPUMapMode.READ);
    const left = [...new Uint32Array(copy.getMappedRange())];
    copy.destroy();
    return left;
}

// The words that a program leaves in its buffers, on a device whose subgroups have at least so many lanes.
export async function run(gpu, { text, entry, reflection, least, groups, buffers }) {
    const made = await pipeline(gpu, { text, entry, reflection, least });
    const bound = buffers.map((buffer) => filled(gpu, buffer));
    await checked(gpu, () => {
        const encoder = gpu.createCommandEncoder();
        const pass = encoder.beginComputePass();
        pass.setPipeline(made);
        for (const set of new Set(buffers.map((buffer) => buffer.set))) {
            const entries = buffers.flatMap((buffer, n) =>
                (buffer.set === set ? [{ binding: buffer.binding, resource: { buffer: bound[n] } }] : []));
            pass.setBindGroup(set, gpu.createBindGroup({ layout: made.getBindGroupLayout(set), entries }));
        }
        pass.dispatchWorkgroups(...groups);
        pass.end();
        gpu.queue.submit([encoder.finish()]);
    });
    const left = [];
    for (const [n, buffer] of buffers.entries()) left.push(await contents(gpu, bound[n], buffer));
    bound.forEach((buffer) => buffer.destroy());
    return left;
}
