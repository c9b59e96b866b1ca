// What a reader chooses: options, files, two profiles beside each other, files to save, links.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { launch, mistakes, open, ready } from './browser.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const text = (page, selector) => page.textContent(selector);
const output = (page) => page.evaluate(() => window.explorer.output());

const SUM = `#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer B { uint x[]; };
void main() { uint sum = 0u; for (uint i = 0u; i < COUNT; i++) sum += i * SCALE; x[gl_LocalInvocationID.x] = sum; }
`;

async function loaded(page, name, shader) {
    await page.evaluate(([file, words]) => window.explorer.load(file, words), [name, shader]);
    await ready(page);
}

async function option(page, selector, value) {
    await page.fill(selector, value);
    await page.keyboard.press('Enter');
    await ready(page);
}

// A page that opens with the state of another one.
async function copyOf(page, options = {}) {
    await page.evaluate(() => window.explorer.copy('page'));
    return open(browser, { fragment: new URL(page.url()).hash, ...options });
}

test('options define macros and optimize', async () => {
    const { page, errors } = await open(browser);
    await loaded(page, 'a.comp', SUM);
    assert.match(await text(page, '#messages'), /COUNT/);
    await page.click('#options-toggle');
    await option(page, '#defines', '-DCOUNT=5u SCALE="(1u + 2u)"');
    assert.equal(await mistakes(page), 0);
    assert.match(await text(page, '#options-toggle'), /\(2\)/);
    await page.click('#tabs [data-id="spirv-1.6"]');
    const plain = await output(page);
    await page.selectOption('#optimize', 'speed');
    await ready(page);
    assert.ok((await output(page)).length < plain.length);
    await option(page, '#defines', '3=4');
    assert.match(await text(page, '#fault'), /^`3` is not a valid macro name$/);
    await option(page, '#defines', 'COUNT=5u SCALE=1u');
    assert.equal(await page.isVisible('#fault'), false);
    const { page: other } = await copyOf(page);
    assert.deepEqual(await other.evaluate(() => [document.querySelector('#defines').value, document.querySelector('#optimize').value]), ['COUNT=5u SCALE=1u', 'speed']);
    assert.equal(await output(other), await output(page));
    assert.deepEqual(errors, []);
});

test('a wave size is for the profiles that have it', async () => {
    const { page, errors } = await open(browser);
    await page.click('#options-toggle');
    await page.selectOption('#wave', '64');
    await ready(page);
    await page.click('#tabs [data-id="nv-hopper"]');
    assert.match(await text(page, '#refused'), /64 lanes/);
    await page.click('#tabs [data-id="gfx1100-wave32"]');
    assert.match(await output(page), /wavefront_size32.*0|wave64|wavefrontsize64|\.wavefront_size:\s+64/s);
    assert.deepEqual(errors, []);
});

test('the entry point of a module is chosen', async () => {
    const { page, errors } = await open(browser);
    await loaded(page, 'a.wgsl', '@compute @workgroup_size(1) fn one() {}\n@compute @workgroup_size(2) fn two() {}\n');
    await page.click('#options-toggle');
    await page.click('#tabs [data-id="ptx-sm80"]');
    assert.equal(await page.isVisible('#refused'), true);
    await option(page, '#entry', 'two');
    assert.match(await output(page), /\.entry two/);
    await loaded(page, 'a.comp', SUM);
    assert.equal(await page.locator('#entry').count(), 0, 'GLSL has one');
    assert.deepEqual(errors, []);
});

test('files include each other, and links have them all', async () => {
    const { page, errors } = await open(browser);
    await loaded(page, 'a.comp', '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "lib/half.glsl"\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { float x[]; };\nvoid main() { x[0] = half_of(x[1]); }\n');
    assert.match(await text(page, '#messages'), /lib\/half\.glsl/);
    await page.click('#add');
    await page.keyboard.type('lib/half.glsl');
    await page.keyboard.press('Enter');
    await page.focus('.source .cm-content');
    await page.keyboard.type('float half_of(float x) { return 0.5 * subgroupAdd(x); }');
    await ready(page);
    assert.match(await text(page, '#messages'), /subgroupAdd/);
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('#extension GL_KHR_shader_subgroup_arithmetic : require\n');
    await ready(page);
    assert.equal(await mistakes(page), 0);
    assert.match(await text(page, '.op-now'), /subgroupAdd/, 'the operation of the file');
    await page.click('#files [data-id="a.comp"]');
    await ready(page);
    assert.equal(await page.locator('.op').count(), 0);
    await page.click('#operation .chooser button');
    await ready(page);
    assert.equal(await page.getAttribute('#files [aria-selected="true"]', 'data-id'), 'lib/half.glsl');
    await page.locator('.op').first().hover();
    await page.waitForSelector('.about');
    assert.match(await text(page, '.about'), /sum/i);
    const { page: other, errors: others } = await copyOf(page);
    assert.deepEqual(await other.locator('#files [role="tab"]').allTextContents(), ['a.comp', 'lib/half.glsl']);
    assert.equal(await output(other), await output(page));
    assert.deepEqual([...errors, ...others], []);
});

test('files are renamed and removed, and a shader that is shown is compiled', async () => {
    const { page, errors } = await open(browser);
    await page.selectOption('#example', 'several-files.comp');
    await ready(page);
    await page.click('#files [data-id="mean.glsl"]');
    await page.keyboard.press('F2');
    await page.keyboard.type('other.glsl');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#files [data-id="mean.glsl"]').count(), 1, 'Escape leaves the name');
    await page.click('#rename');
    await page.keyboard.type('other.glsl');
    await page.keyboard.press('Enter');
    await ready(page);
    assert.match(await text(page, '#messages'), /mean\.glsl/);
    assert.match(await page.getAttribute('#files [data-id="other.glsl"]', 'class'), /unread/);
    await page.click('#remove');
    await ready(page);
    assert.equal(await page.locator('#files [role="tab"]').count(), 1);
    assert.equal(await page.isVisible('#remove'), false, 'the last shader stays');
    await page.evaluate((shader) => window.explorer.add('b.wgsl', shader), '@compute @workgroup_size(7) fn seven() {}\n');
    await page.keyboard.press('Escape');
    await ready(page);
    await page.click('#tabs [data-id="wgsl"]');
    assert.match(await output(page), /seven/);
    await page.click('#files [data-id="several-files.comp"]');
    await ready(page);
    assert.match(await text(page, '#messages'), /mean\.glsl/);
    await page.selectOption('#kind', 'frag');
    await ready(page);
    assert.deepEqual(await page.locator('#files [role="tab"]').allTextContents(), ['several-files.frag', 'b.wgsl']);
    await page.click('#rename');
    await page.keyboard.type('b.wgsl');
    await page.keyboard.press('Enter');
    assert.deepEqual(await page.locator('#files [role="tab"]').allTextContents(), ['several-files.frag', 'b.wgsl'], 'a name is for one file');
    assert.deepEqual(errors, []);
});

test('the mend of a message is made in its file', async () => {
    const { page } = await open(browser);
    await page.selectOption('#example', 'several-files.comp');
    await ready(page);
    await page.click('#files [data-id="mean.glsl"]');
    await page.evaluate(() => window.explorer.go('allReduceAdd8'));
    await page.keyboard.press('Delete');
    await ready(page);
    await page.click('#files [data-id="several-files.comp"]');
    await page.click('#messages button');
    assert.equal(await page.getAttribute('#files [aria-selected="true"]', 'data-id'), 'mean.glsl');
    await page.hover('.cm-lintRange-error');
    await page.click('.cm-diagnosticAction');
    await ready(page);
    assert.equal(await mistakes(page), 0);
});

test('two profiles are beside each other with their differences', async () => {
    const { page, errors } = await open(browser);
    await page.evaluate(() => window.explorer.choose(['gfx1100-wave32', 'gfx1100-wave64', 'spirv-1.6']));
    await ready(page);
    await page.selectOption('#against', 'gfx1100-wave64');
    assert.equal(await page.locator('#diff .cm-mergeViewEditor').count(), 2);
    assert.match(await text(page, '#changes'), /^\d+ differences?$/);
    assert.ok(await page.locator('#diff .cm-changedLine').count() > 1);
    await page.evaluate(() => window.explorer.go('allReduceAdd8'));
    await ready(page);
    for (const side of [0, 1]) {
        const lines = page.locator('#diff .cm-mergeViewEditor').nth(side).locator('.of-now');
        assert.ok(await lines.count() > 0, 'the operation is marked on both sides');
    }
    await page.click('#tabs [data-id="gfx1100-wave64"]');
    assert.equal(await page.inputValue('#against'), 'gfx1100-wave32', 'they change places');
    const { page: other } = await copyOf(page);
    assert.equal(await other.locator('#diff .cm-mergeViewEditor').count(), 2);
    await page.setViewportSize({ width: 420, height: 844 });
    await page.waitForSelector('#diff .cm-deletedChunk');
    assert.equal(await page.locator('#diff .cm-mergeViewEditor').count(), 0, 'one in the other where there is no room');
    await page.selectOption('#against', '');
    assert.equal(await page.isVisible('#output'), true);
    assert.deepEqual(errors, []);
});

test('outputs are saved as text and as what the target loads', async () => {
    const { page, errors } = await open(browser);
    const saved = async (item) => {
        await page.click('#download');
        const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[role="menuitem"]:has-text("${item}")`)]);
        return [download.suggestedFilename(), await readFile(await download.path())];
    };
    await page.click('#tabs [data-id="spirv-1.6"]');
    const [name, binary] = await saved('Binary');
    assert.equal(name, 'first-look.spirv-1.6.spv');
    assert.equal(binary.readUInt32LE(0), 0x07230203);
    const [textName, words] = await saved('Text');
    assert.equal(textName, 'first-look.spirv-1.6.spvasm');
    assert.equal(words.toString(), await output(page));
    const [, bindings] = await saved('Bindings');
    assert.equal(JSON.parse(bindings).stage, 'compute');
    await page.click('#tabs [data-id="wgsl"]');
    await page.click('#download');
    assert.equal(await page.locator('[role="menuitem"]').count(), 2, 'WGSL is text');
    await page.waitForFunction(() => document.activeElement.role === 'menuitem');
    await page.keyboard.press('ArrowDown');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /Bindings/);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('[role="menuitem"]:visible').count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'download');
    assert.deepEqual(errors, []);
});

test('links from before there were several files are read', async () => {
    const content = { name: 'old.comp', text: SUM, profiles: ['wgsl', 'no-such'], tab: 'wgsl', view: 'run', run: { groups: [2, 1, 1], fills: { 0: 'zeros:u32:64' } } };
    const fragment = `#s=${deflateRawSync(JSON.stringify(content)).toString('base64url')}`;
    const { page, errors } = await open(browser, { fragment });
    assert.equal(await page.evaluate(() => window.explorer.text()), SUM);
    assert.deepEqual(await page.locator('#tabs [role="tab"]').allTextContents(), ['wgsl']);
    assert.match(await text(page, '#messages'), /COUNT/);
    const changed = { ...content, files: [{ name: 'x.glsl', text: '' }, { name: 'new.frag', text: '// new' }], name: 'x.glsl' };
    await page.evaluate((hash) => { location.hash = hash; }, `#s=${deflateRawSync(JSON.stringify(changed)).toString('base64url')}`);
    await page.waitForFunction(() => window.explorer.text() === '// new');
    await ready(page);
    assert.deepEqual(await page.locator('#files [role="tab"]').allTextContents(), ['x.glsl', 'new.frag']);
    assert.deepEqual(errors, []);
});

test('a page within another one has no head, and may be read-only', async () => {
    const { page } = await open(browser);
    await page.selectOption('#example', 'softmax.comp');
    await ready(page);
    const code = await page.evaluate(() => window.explorer.copy('readonly', (url) => url));
    const { search, hash } = new URL(code);
    assert.equal(search, '?embed=readonly');
    const { page: embedded, errors } = await open(browser, { fragment: search + hash });
    assert.equal(await embedded.isVisible('header'), false);
    assert.match(await embedded.evaluate(() => window.explorer.text()), /allReduceMax4/);
    await embedded.focus('.source .cm-content');
    await embedded.keyboard.type('zz');
    assert.equal(await embedded.evaluate(() => window.explorer.text()), await page.evaluate(() => window.explorer.text()));
    assert.equal(await embedded.isVisible('#add'), false);
    const [whole] = await Promise.all([embedded.context().waitForEvent('page'), embedded.click('#whole')]);
    await ready(whole);
    assert.equal(await whole.isVisible('header'), true);
    assert.match(await whole.evaluate(() => window.explorer.text()), /allReduceMax4/);
    const { page: editable } = await open(browser, { fragment: `?embed${hash}` });
    await editable.focus('.source .cm-content');
    await editable.keyboard.type('zz');
    assert.match(await editable.evaluate(() => window.explorer.text()), /^zz/);
    assert.deepEqual(errors, []);
});
