// Builds the page: the compiler as WebAssembly, the scripts, the style and the examples, all in dist/index.html.
// `node build.mjs --keep` takes the compiler that an earlier build made.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = (path) => new URL(path, import.meta.url).pathname;
const read = (path) => readFileSync(here(path), 'utf8');

const WASM = here('../target/page/explorer.wasm');

// The compiler. Binaryen would make it smaller by a seventh, and what a host sends of it larger.
function wasm() {
    if (!process.argv.includes('--keep') || !existsSync(WASM)) execFileSync(here('build-wasm.sh'), [WASM], { stdio: 'inherit' });
    return readFileSync(WASM);
}

// The examples by their files.
const examples = {
    name: 'examples',
    setup(plugin) {
        plugin.onResolve({ filter: /^examples$/ }, () => ({ path: 'examples', namespace: 'examples' }));
        plugin.onLoad({ filter: /.*/, namespace: 'examples' }, () => {
            const list = JSON.parse(read('examples/index.json'));
            const names = list.flatMap(({ file, includes = [] }) => [file, ...includes]);
            const all = Object.fromEntries(names.map((file) => [file, read(`examples/${file}`)]));
            return { contents: JSON.stringify(all), loader: 'json' };
        });
    },
};

// The folders of the packages whose code is in the page.
const packages = new Set();

async function bundled(entry) {
    const options = { bundle: true, minify: true, write: false, metafile: true, format: 'iife', target: 'es2022', plugins: [examples] };
    const { outputFiles, metafile } = await build({ ...options, absWorkingDir: here('.'), entryPoints: [here(entry)] });
    for (const path of Object.keys(metafile.inputs)) packages.add(path.match(/^node_modules\/(@[^/]+\/)?[^/]+/)?.[0]);
    return outputFiles[0].text.replaceAll('</script', '<\\/script');
}

// The licences that copies of these packages carry with them.
function licences() {
    const list = [...packages].filter(Boolean).sort();
    return list.map((path) => `${path.replace('node_modules/', '')}\n\n${read(`${path}/LICENSE`)}`).join('\n----\n\n');
}

// The colours of explain's page, for the system's choice and for the reader's.
function colours() {
    const style = read('../src/explain/html/style.css');
    const own = read('src/colours.css');
    const of = (text) => {
        const [light] = text.match(/:root \{([^}]*)\}/).slice(1);
        const [dark] = text.match(/dark\) \{\s*:root \{([^}]*)\}/).slice(1);
        return { light, dark };
    };
    const [shared, ours] = [of(style), of(own)];
    const light = `color-scheme: light;${shared.light.replace(/color-scheme:[^;]*;/, '')}${ours.light}`;
    const dark = `color-scheme: dark;${shared.dark}${ours.dark}`;
    return `:root{${light}}@media (prefers-color-scheme: dark){:root:not([data-theme=light]){${dark}}}:root[data-theme=dark]{${dark}}`;
}

const compiler = wasm();
const inert = (id, text) => `<script id="${id}" type="text/plain">${text}</script>\n`;
const scripts = inert('wasm', deflateRawSync(compiler, { level: 9 }).toString('base64'))
    + inert('worker', await bundled('src/worker.js'))
    + `<script>${await bundled('src/main.js')}</script>`;
const page = read('src/index.html')
    .replace('/*STYLE*/', () => colours() + read('src/style.css'))
    .replace('<!--SCRIPTS-->', () => scripts);

mkdirSync(here('dist'), { recursive: true });
writeFileSync(here('dist/index.html'), page);
writeFileSync(here('dist/licences.txt'), licences());
const size = (bytes) => `${(bytes.length / 1e6).toFixed(2)} MB`;
console.log(`dist/index.html: ${size(Buffer.from(page))}, ${size(gzipSync(page, { level: 9 }))} by gzip, ${size(brotliCompressSync(page))} by Brotli`);
console.log(`the compiler in it: ${size(compiler)}, ${size(gzipSync(compiler, { level: 9 }))} by gzip`);
