// Runs sums.comp on WebGPU. Node.js needs the package `webgpu`; browsers and Deno have `navigator.gpu`.
//
//     crosslane compile sums.comp -o sums.wgsl
//     crosslane compile sums.comp -p wgsl --emit reflection -o sums.json
//     npm install webgpu && node webgpu.mjs sums.wgsl sums.json
//
// The reflection is read where it is needed.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const GROUPS = 4;

function need(good, what) {
    if (!good) {
        console.error(`failed: ${what}`);
        process.exit(1);
    }
}

async function webgpu() {
    if (globalThis.navigator?.gpu) return navigator.gpu;
    const { create, globals } = await import(pathToFileURL(createRequire(resolve('package.json')).resolve('webgpu')));
    Object.assign(globalThis, globals);
    return create([]);
}

// Ends the program unless every subgroup of the adapter keeps the promise of the shader; the fewest lanes of a subgroup.
function checkSubgroups({ subgroupMinSize: least, subgroupMaxSize: most }, promise) {
    need(least >= promise.least_subgroup_size, `subgroups of ${promise.least_subgroup_size} lanes; the adapter has ${least}`);
    const only = promise.required_subgroup_size ?? least;
    need(least === only && (most === only || promise.required_subgroup_size == null), `subgroups of ${only} lanes only`);
    return least;
}

// The values of the overrides, by their numbers: the fewest lanes of a subgroup, if the text asks for them.
function constants(reflection, least) {
    const asked = reflection.spec_constants.filter(({ name }) => name === 'subgroup_min_size');
    return Object.fromEntries(asked.map(({ id }) => [id, least]));
}

need(process.argv.length === 4, 'usage: node webgpu.mjs sums.wgsl sums.json');
const [code, json] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
const reflection = JSON.parse(json);

const gpu = await webgpu(); // the adapter does not keep it alive
const adapter = await gpu.requestAdapter();
need(adapter, 'an adapter');
const requiredFeatures = reflection.webgpu.features;
need(requiredFeatures.every((feature) => adapter.features.has(feature)), `the features ${requiredFeatures.join(', ')}`);
const least = checkSubgroups(adapter.info, reflection.webgpu);
const device = await adapter.requestDevice({ requiredFeatures });

const count = GROUPS * reflection.workgroup_size[0];
const x = Uint32Array.from({ length: count }, (_, i) => i * i);
const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
const buffers = reflection.buffers.map(() => device.createBuffer({ size: x.byteLength, usage }));
device.queue.writeBuffer(buffers[0], 0, x);

const module = device.createShaderModule({ code });
const compute = { module, entryPoint: reflection.entry_point, constants: constants(reflection, least) };
const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute });
const entries = reflection.buffers.map(({ binding }, n) => ({ binding, resource: { buffer: buffers[n] } }));
const copy = device.createBuffer({ size: x.byteLength, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });

const encoder = device.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
pass.dispatchWorkgroups(GROUPS);
pass.end();
encoder.copyBufferToBuffer(buffers[1], 0, copy, 0, x.byteLength);
device.queue.submit([encoder.finish()]);
await copy.mapAsync(GPUMapMode.READ);

const y = new Uint32Array(copy.getMappedRange());
const sum = (at) => x.subarray(at - (at % 8), at - (at % 8) + 8).reduce((a, b) => a + b);
need(y.every((value, at) => value === sum(at)), 'the sums');
console.log([...y].filter((_, at) => at < 64 && at % 8 === 0).join(' '));
process.exit(0);
