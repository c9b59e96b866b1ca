// What runs: the lanes of an operation step by step, and the picture of a fragment shader.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, ready } from './browser.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const text = (page, selector) => page.textContent(selector);
const lane = (page, n) => page.textContent(`.grid [data-lane="${n}"] .value`);

async function lanes(page, words) {
    await page.evaluate((wanted) => window.explorer.go(wanted), words);
    await page.click('#views [data-id="lanes"]');
    await ready(page);
}

test('the lanes of an operation have their values after each step', async () => {
    const { page, errors } = await open(browser);
    await lanes(page, 'allReduceAdd8');
    for (const profile of ['gfx1100-wave32', 'nv-hopper', 'ptx-sm80', 'spirv-1.6', 'wgsl']) {
        await page.click(`#tabs [data-id="${profile}"]`);
        await ready(page);
        assert.match(await text(page, '#lanes'), new RegExp(profile));
        assert.equal(await page.locator('.grid li').count(), 32);
        await page.focus('#step');
        await page.keyboard.press('Home');
        assert.equal(await lane(page, 9), '9.0', 'the operand');
        await page.keyboard.press('End');
        assert.equal(await lane(page, 9), '92.0', `the sum of 8 to 15 on ${profile}`);
        assert.equal(await page.isDisabled('#next-step'), true);
    }
    assert.deepEqual(errors, []);
});

test('each step says which lane each reads', async () => {
    const { page, errors } = await open(browser);
    await lanes(page, 'butterfly2');
    await page.focus('#step');
    await page.keyboard.press('End');
    assert.match(await page.getAttribute('.grid [data-lane="4"]', 'aria-label'), /^lane 4, 5\.0, from lane 5$/);
    await page.hover('.grid [data-lane="4"]');
    assert.equal(await page.getAttribute('.grid .read', 'data-lane'), '5');
    await page.fill('#execution', '2');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.grid [data-lane="4"] .value').textContent === '37.0');
    assert.match(await text(page, '.execution'), /wave 1/);
    assert.deepEqual(errors, []);
});

test('lanes that do not run an operation are said to be inactive', async () => {
    const { page, errors } = await open(browser);
    await page.evaluate(() => window.explorer.load('a.comp', '#version 450\n#extension GL_KHR_shader_subgroup_arithmetic : require\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\nvoid main() { uint i = gl_LocalInvocationID.x; if (i % 2u == 0u) x[i] = subgroupAdd(i); }\n'));
    await ready(page);
    await lanes(page, 'subgroupAdd');
    assert.equal(await page.locator('.grid .inactive').count(), 16);
    await page.focus('#step');
    await page.keyboard.press('End');
    assert.equal(await lane(page, 2), '240');
    await page.evaluate(() => window.explorer.load('a.comp', '#version 450\n#extension GL_KHR_shader_subgroup_arithmetic : require\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint x[]; };\nvoid main() { if (x[0] == 7u) x[1] = subgroupAdd(1u + x[2]); }\n', { fills: { 0: 'zeros:u32:32' } }));
    await ready(page);
    assert.match(await text(page, '#lanes'), /does not reach/);
    assert.deepEqual(errors, []);
});

test('a fragment shader is drawn with the buffers that are written in the page', async () => {
    const { page, errors } = await open(browser);
    const shader = `#version 450
layout(location = 0) in vec2 at;
layout(location = 1) flat in int which;
layout(location = 0) out vec4 color;
layout(binding = 1) uniform U { float red; float blue; } u;
layout(binding = 2) uniform sampler2D image;
layout(push_constant) uniform P { float scale; };
void main() { color = vec4(u.red * scale, at.x, u.blue, 1.0) + 0.0 * texture(image, at) + float(which); }
`;
    await page.evaluate((words) => window.explorer.load('a.frag', words, { fills: { 1: 'f32:1,0' } }), shader);
    await ready(page);
    assert.equal(await text(page, '#views [data-id="run"]'), 'Picture');
    await page.click('#views [data-id="run"]');
    await ready(page);
    assert.equal(await page.locator('#run-fault').count(), 0, await text(page, '#run'));
    const pixel = (x, y) => page.locator('#picture').evaluate((canvas, [left, top]) => [...canvas.getContext('2d').getImageData(left, top, 1, 1).data], [x, y]);
    assert.deepEqual(await pixel(0, 0), [255, 0, 0, 255]);
    const [red, green, blue] = await pixel(255, 10);
    assert.ok(red === 255 && green > 250 && blue === 0);
    await page.fill('[aria-label="Contents of u"]', 'f32:0,1');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('#picture').getContext('2d').getImageData(0, 0, 1, 1).data[2] === 255);
    assert.deepEqual(await pixel(0, 0), [0, 0, 255, 255]);
    assert.match(await text(page, '#run'), /image: a test pattern/);
    assert.deepEqual(errors, []);
});

test('a picture that cannot be says why', async () => {
    const { page, errors } = await open(browser);
    await page.evaluate(() => window.explorer.load('a.frag', '#version 450\nlayout(location = 0) out uvec4 color;\nvoid main() { color = uvec4(1u); }\n'));
    await ready(page);
    await page.click('#views [data-id="run"]');
    await ready(page);
    assert.match(await text(page, '#run-fault'), /`color` has the type vec4<u32>/);
    assert.deepEqual(errors, []);
});
