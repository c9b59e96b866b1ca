// Runs compute shaders in WGSL on an implementation of WebGPU, in Node.js and in browsers.

let device;

// Chooses the device: one with all that shaders may ask for.
export async function connect(gpu) {
    const adapter = await gpu.requestAdapter();
    const asked = ['subgroups', 'shader-f16', 'clip-distances', 'dual-source-blending', 'primitive-index'];
    const features = asked.filter((feature) => adapter.features.has(feature));
    const names = ['maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX', 'maxStorageBuffersPerShaderStage'];
    const requiredLimits = Object.fromEntries(names.map((name) => [name, adapter.limits[name]]));
    device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits });
}

// The error that `make` causes, or its result.
async function checked(make) {
    device.pushErrorScope('validation');
    const made = await make();
    const error = await device.popErrorScope();
    if (error) throw new Error(error.message);
    return made;
}

async function compiled(text) {
    const module = device.createShaderModule({ code: text });
    const { messages } = await module.getCompilationInfo();
    const wrong = messages.filter((message) => message.type === 'error');
    if (wrong.length > 0) {
        throw new Error(wrong.map(({ lineNum, linePos, message }) => `${lineNum}:${linePos}: ${message}`).join('\n'));
    }
    return module;
}

async function prepare(job, module) {
    const visibility = GPUShaderStage.COMPUTE;
    const entries = job.bindings.map(({ binding, kind }) => ({ binding, visibility, buffer: { type: kind } }));
    const group = await checked(() => device.createBindGroupLayout({ entries }));
    const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
    const compute = { module, entryPoint: job.entry, constants: job.constants };
    return { group, pipeline: await checked(() => device.createComputePipelineAsync({ layout, compute })) };
}

function bound(words) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = device.createBuffer({ size: words.length * 4, usage });
    device.queue.writeBuffer(buffer, 0, new Uint32Array(words));
    return buffer;
}

async function contents(buffer, size) {
    const copy = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, size);
    device.queue.submit([encoder.finish()]);
    await copy.mapAsync(GPUMapMode.READ);
    const words = [...new Uint32Array(copy.getMappedRange())];
    copy.destroy();
    return words;
}

async function run({ group, pipeline }, job, words) {
    const buffers = words.map(bound);
    await checked(() => {
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        pass.setPipeline(pipeline);
        const entries = job.bindings.map(({ binding }) => ({ binding, resource: { buffer: buffers[binding] } }));
        pass.setBindGroup(0, device.createBindGroup({ layout: group, entries }));
        pass.dispatchWorkgroups(...job.groups);
        pass.end();
        device.queue.submit([encoder.finish()]);
    });
    const after = [];
    for (const [n, buffer] of buffers.entries()) {
        after.push(await contents(buffer, words[n].length * 4));
        buffer.destroy();
    }
    return after;
}

// What each run of a job leaves in the buffers. A job without runs asks if its text is valid.
export async function answer(job) {
    const module = await compiled(job.text);
    if (job.runs.length === 0) return [];
    const prepared = await prepare(job, module);
    const all = [];
    for (const words of job.runs) all.push(await run(prepared, job, words));
    return all;
}
