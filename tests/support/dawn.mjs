// Runs compute shaders in WGSL on Dawn: `node dawn.mjs FOLDER`, where FOLDER has the npm package `webgpu` among its modules.
// One job of JSON is a line of the standard input, and one answer a line of the file descriptor 3.

import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { answer, connect } from './webgpu.mjs';

const require = createRequire(resolve(process.argv[2], 'package.json'));
const { create, globals } = await import(pathToFileURL(require.resolve('webgpu')));
Object.assign(globalThis, globals);

// The adapter does not keep it alive.
const gpu = create([]);
await connect(gpu);

for await (const line of createInterface({ input: process.stdin })) {
    let answered;
    try {
        answered = { Ok: await answer(JSON.parse(line)) };
    } catch (error) {
        answered = { Err: `Dawn: ${error.message}` };
    }
    writeSync(3, `${JSON.stringify(answered)}\n`);
}
process.exit(0);
