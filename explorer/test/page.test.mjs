// The page as its readers meet it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, mistakes, open, ready } from './browser.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const text = (page, selector) => page.textContent(selector);
const output = (page) => page.evaluate(() => window.explorer.output());
const cursor = async (page, words) => {
    const found = await page.evaluate((wanted) => window.explorer.go(wanted), words);
    assert.ok(found, `the shader has ${words}`);
    await ready(page);
};

test('an error is shown in place, and is gone when it is mended', async () => {
    const { page, errors } = await open(browser);
    await cursor(page, 'allReduceAdd8');
    await page.keyboard.type('zz');
    await ready(page);
    const squiggle = page.locator('.cm-lintRange-error');
    assert.match(await squiggle.first().textContent(), /zzallReduceAdd8/);
    assert.match(await text(page, '#messages'), /zzallReduceAdd8/);
    assert.match(await text(page, '#operation'), /is wrong/);
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await ready(page);
    assert.equal(await squiggle.count(), 0);
    assert.equal(await mistakes(page), 0);
    assert.deepEqual(errors, []);
});

test('the fix that a message suggests is made by its button', async () => {
    const { page } = await open(browser);
    await cursor(page, 'butterfly2');
    await page.keyboard.press('Delete');
    await ready(page);
    await page.hover('.cm-lintRange-error');
    await page.click('.cm-diagnosticAction');
    await ready(page);
    assert.match(await page.evaluate(() => window.explorer.text()), /butterfly2\(x\[i\]\)/);
    assert.equal(await mistakes(page), 0);
});

test('lines of the operation under the cursor are marked, and a line leads to its operation', async () => {
    const { page, errors } = await open(browser);
    for (const profile of ['spirv-1.6', 'nv-hopper', 'gfx1100-wave32', 'ptx-sm80', 'wgsl']) {
        await page.click(`#tabs [data-id="${profile}"]`);
        const seen = [];
        for (const operation of ['allReduceAdd8', 'butterfly2', 'exclusiveAdd16']) {
            await cursor(page, operation);
            assert.match(await text(page, '.op-now'), new RegExp(operation));
            assert.match(await text(page, '#operation .chooser [aria-pressed="true"]'), new RegExp(operation));
            const marked = await page.locator('#output .of-now').allTextContents();
            const report = await page.locator('#operation .report').evaluate((host) => host.shadowRoot.querySelector('article').textContent);
            assert.ok(marked.length > 0 || /other code computes the same/i.test(report), `${operation} on ${profile}: ${report}`);
            if (marked.length > 0) seen.push(marked.join('\n'));
        }
        assert.ok(seen.length >= 2, `operations have lines on ${profile}`);
        assert.equal(new Set(seen).size, seen.length, `each has lines of its own on ${profile}`);
    }
    await page.locator('#output .of-op:not(.of-now)').first().hover();
    assert.ok(await page.locator('#output .of-now').count() > 0);
    await page.locator('#output .of-op').first().click();
    await ready(page);
    assert.equal(await page.locator('.op-now').count(), 1);
    assert.deepEqual(errors, []);
});

test('completion and hover speak of built-in functions', async () => {
    const { page, errors } = await open(browser);
    await cursor(page, 'x[i] = sum');
    await page.keyboard.type('butterf');
    await page.waitForSelector('.cm-tooltip-autocomplete');
    assert.match(await text(page, '.cm-tooltip-autocomplete'), /butterfly16/);
    await page.keyboard.press('Escape');
    for (let n = 0; n < 7; n += 1) await page.keyboard.press('Backspace');
    await ready(page);
    await page.locator('.op').first().hover();
    await page.waitForSelector('.about');
    assert.match(await text(page, '.about'), /sum.*gfx1100-wave32/is);
    assert.deepEqual(errors, []);
});

test('the view of an operation has lanes, costs and rivals of each profile', async () => {
    const { page, errors } = await open(browser);
    await cursor(page, 'allReduceAdd8');
    const report = page.locator('#operation .report');
    assert.equal(await report.locator('article').count(), 5);
    assert.ok(await report.locator('svg rect.result').count() > 0);
    const words = await report.evaluate((host) => host.shadowRoot.textContent);
    assert.match(words, /instructions\s*\d/);
    assert.match(words, /Instead of/);
    assert.deepEqual(errors, []);
});

test('the matrix has all profiles, and its names choose them', async () => {
    const { page, errors } = await open(browser);
    await page.click('#views [data-id="matrix"]');
    await ready(page);
    const rows = page.locator('#matrix tbody th button');
    assert.ok(await rows.count() > 50);
    assert.match(await text(page, '#matrix'), /of \d+ profiles can run it/);
    await page.locator('#matrix tbody th button', { hasText: 'msl-3.0' }).click();
    await page.waitForSelector('#tabs [data-id="msl-3.0"][aria-selected="true"]');
    await ready(page);
    assert.match(await output(page), /metal_stdlib/);
    assert.deepEqual(errors, []);
});

test('profiles are found and chosen in the list', async () => {
    const { page, errors } = await open(browser);
    await page.click('#choose');
    await page.fill('#filter', 'hlsl-6.7');
    assert.equal(await page.locator('#list label:visible').count(), 1);
    await page.check('#list label:visible input');
    await page.click('#profiles [value="done"]');
    await page.waitForSelector('#tabs [data-id="hlsl-6.7"]');
    assert.deepEqual(errors, []);
});

test('runs take the buffers that are written in the page', async () => {
    const { page, errors } = await open(browser);
    await page.selectOption('#example', 'block-reduction.comp');
    await page.click('#views [data-id="run"]');
    await ready(page);
    const sums = page.locator('[aria-label="Buffer Sums"]');
    assert.match(await sums.locator('td').first().textContent(), /^2016$/);
    assert.equal(await sums.locator('.plot .after').count(), 1);
    await page.fill('[aria-label="Buffer Numbers"] input', 'u32:1,2');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#run-fault');
    assert.match(await text(page, '#run-fault'), /out of range/);
    await page.fill('[aria-label="Buffer Numbers"] input', 'zeros:u32:128');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('[aria-label="Buffer Sums"] td')?.textContent === '0');
    assert.deepEqual(errors, []);
});

test('a loop that does not end is said to be one', async () => {
    const { page, errors } = await open(browser);
    await page.evaluate(() => window.explorer.load('shader.comp', '#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { uint x[]; };\nvoid main() { while (x[0] == 0u) { x[1] += 1u; } }\n'));
    await ready(page);
    await page.click('#views [data-id="run"]');
    await ready(page);
    assert.match(await text(page, '#run-fault'), /does not end/);
    assert.deepEqual(errors, []);
});

test('a link restores the shader and the choices', async () => {
    const { page } = await open(browser);
    await page.selectOption('#example', 'softmax.comp');
    await ready(page);
    await cursor(page, 'allReduceMax4');
    await page.keyboard.type('/* ünï */ ');
    await ready(page);
    await page.click('#tabs [data-id="ptx-sm80"]');
    await page.click('#views [data-id="run"]');
    await ready(page);
    await page.fill('[aria-label="Buffer Rows"] input', 'iota:f32:64');
    await page.keyboard.press('Enter');
    await page.click('#share');
    await page.click('[role="menuitem"]:has-text("Copy link")');
    await page.waitForFunction(() => document.querySelector('#share').textContent !== 'Share');
    const fragment = new URL(page.url()).hash;
    assert.match(fragment, /^#s=[\w-]+$/);
    const { page: other, errors } = await open(browser, { fragment });
    const shown = (of) => of.evaluate(() => [window.explorer.text(), document.querySelector('#tabs [aria-selected="true"]').dataset.id, document.querySelector('#run').textContent, document.querySelector('[aria-label="Buffer Rows"] input').value]);
    assert.deepEqual(await shown(other), await shown(page));
    assert.match((await shown(other))[0], /ünï/);
    assert.deepEqual(errors, []);
});

test('links that nobody made are read as none', async () => {
    for (const fragment of ['#s=AAAA', '#s=', '#else', '#s=q1YqUbJSUkhMTgQA']) {
        const { page, errors } = await open(browser, { fragment });
        assert.match(await page.evaluate(() => window.explorer.text()), /allReduceAdd8/);
        assert.deepEqual(errors, []);
    }
});

test('the page is used by the keyboard alone', async () => {
    const { page, errors } = await open(browser);
    await page.focus('#tabs [aria-selected="true"]');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.getAttribute('#tabs [aria-selected="true"]', 'data-id'), 'nv-hopper');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.id), 'nv-hopper');
    await page.focus('.source .cm-content');
    await page.keyboard.press('Control+Enter');
    await page.waitForSelector('#run .buffer');
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => !document.activeElement.closest('.source .cm-editor')), 'Tab leaves the editor');
    assert.deepEqual(errors, []);
});

test('colours are the system\'s, or those that are chosen', async () => {
    const { page } = await open(browser, { colorScheme: 'dark' });
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await colour();
    await page.click('#theme');
    assert.notEqual(await colour(), dark);
    await page.click('#theme');
    assert.equal(await colour(), dark);
});

test('nothing is wider than the page', async () => {
    for (const width of [1400, 800, 390]) {
        const { page, errors } = await open(browser, { viewport: { width, height: 844 } });
        for (const view of ['operation', 'matrix', 'run']) {
            await page.click(`#views [data-id="${view}"]`);
            await ready(page);
            const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(over <= 0, `${view} at ${width}: ${over} pixels too wide`);
        }
        assert.deepEqual(errors, []);
    }
});
