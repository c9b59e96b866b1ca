// Runs compute shaders in WGSL in a page of headless Chromium: `node chromium.mjs PROGRAM`. Jobs and answers are those of
// `dawn.mjs`; the page fetches each job from a server here, and posts what came of it.

import { spawn } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const PAGE = `<script type="module">
import { answer, connect } from './webgpu.mjs';
const failed = (error) => ({ Err: \`Chromium: \${error.message}\` });
let broken;
await connect(navigator.gpu).catch((error) => { broken = error; });
for (;;) {
    const job = await (await fetch('job')).json();
    const answered = broken ? failed(broken) : await answer(job).then((all) => ({ Ok: all }), failed);
    await fetch('answer', { method: 'POST', body: JSON.stringify(answered) });
}
</script>`;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function serve(request, response) {
    const send = (type, body) => response.writeHead(200, { 'content-type': type }).end(body);
    switch (request.url) {
        case '/': return send('text/html', PAGE);
        case '/webgpu.mjs': return send('text/javascript', readFileSync(new URL('webgpu.mjs', import.meta.url)));
        case '/job': {
            const { done, value } = await lines.next();
            if (done) stop();
            return send('application/json', value);
        }
        case '/answer': {
            const parts = [];
            for await (const part of request) parts.push(part);
            writeSync(3, `${Buffer.concat(parts)}\n`);
            return send('text/plain', '');
        }
        default: return response.writeHead(404).end();
    }
}

const server = createServer(serve);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const flags = ['--no-sandbox', '--enable-unsafe-webgpu', '--enable-features=Vulkan', '--ignore-gpu-blocklist'];
const page = `http://127.0.0.1:${server.address().port}/`;
const browser = spawn(process.argv[2], [...flags, '--remote-debugging-port=0', page], { stdio: 'ignore' });
browser.on('exit', () => process.exit(1));

function stop() {
    browser.removeAllListeners('exit');
    browser.kill();
    process.exit(0);
}
