// What a reader sees and how they leave it: Escape, themes, wide texts, messages.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, mistakes, open, ready } from './browser.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const text = (page, selector) => page.textContent(selector);
const cursor = async (page, words) => {
    const found = await page.evaluate((wanted) => window.explorer.go(wanted), words);
    assert.ok(found, `the shader has ${words}`);
    await ready(page);
};

test('Escape leaves the list of profiles, and nothing changes', async () => {
    const { page, errors } = await open(browser);
    await page.click('#choose');
    await page.uncheck('#list input[value="wgsl"]');
    await page.fill('#filter', 'hlsl');
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.querySelector('#profiles').open), false);
    await ready(page);
    assert.equal(await page.locator('#tabs [data-id="wgsl"]').count(), 1);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'choose');
    assert.deepEqual(errors, []);
});

test('Escape leaves a description and the search', async () => {
    const { page, errors } = await open(browser);
    await page.locator('.op').first().hover();
    await page.waitForSelector('.about');
    await page.focus('.source .cm-content');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.about', { state: 'detached' });
    await page.keyboard.press('Control+f');
    await page.waitForSelector('.cm-search');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.cm-search').count(), 0);
    assert.deepEqual(errors, []);
});

// The contrast of two colours, as WCAG counts it.
const contrast = (page, selector) => page.locator(selector).first().evaluate((element) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const light = (colours) => {
        for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
            const share = value / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = [];
    for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    const [a, b] = [light(behind), light([...behind, getComputedStyle(element).color])].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
});

test('texts are readable in every theme', async () => {
    for (const colorScheme of ['light', 'dark']) {
        const { page } = await open(browser, { colorScheme });
        for (let turn = 0; turn < 3; turn += 1) {
            await page.focus('.source .cm-content');
            await page.keyboard.press('Control+f');
            for (const selector of ['.cm-search .cm-button', '.cm-search .cm-textfield', '.cm-search label', '#tabs button', '#output .cm-gutterElement', '.t-comment', '#theme']) {
                const ratio = await contrast(page, selector);
                assert.ok(ratio >= 4.4, `${selector} in ${colorScheme} after ${turn} turns: ${ratio}`);
                const image = await page.locator(selector).first().evaluate((element) => getComputedStyle(element).backgroundImage);
                assert.equal(image, 'none', selector);
            }
            await page.click('#theme');
        }
    }
});

test('a press of the theme\'s button changes what is seen', async () => {
    for (const colorScheme of ['light', 'dark']) {
        const { page } = await open(browser, { colorScheme });
        const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const before = await colour();
        await page.click('#theme');
        assert.notEqual(await colour(), before);
    }
});

test('the numbers of lines stay where wide lines scroll', async () => {
    for (const width of [1600, 1000, 420]) {
        const { page, errors } = await open(browser, { viewport: { width, height: 900 } });
        await page.click('#tabs [data-id="wgsl"]');
        await cursor(page, 'exclusiveAdd16');
        const seen = await page.locator('#output').evaluate((pane) => {
            const scroller = pane.querySelector('.cm-scroller');
            scroller.scrollLeft = 80;
            const gutters = pane.querySelector('.cm-gutters');
            const { left, right, top } = gutters.getBoundingClientRect();
            const { left: edge } = scroller.getBoundingClientRect();
            const over = document.elementFromPoint(right - 4, Math.max(top, scroller.getBoundingClientRect().top) + 30);
            return { wide: scroller.scrollWidth > scroller.clientWidth, moved: scroller.scrollLeft, stays: left - edge, over: !!over?.closest('.cm-gutters'), colour: getComputedStyle(gutters).backgroundColor };
        });
        if (width < 1600) assert.ok(seen.wide && seen.moved > 0, `the lines are wide at ${width}`);
        assert.ok(Math.abs(seen.stays) < 1, 'the gutter stays');
        assert.ok(!/rgba\(.*, 0\)|transparent/.test(seen.colour), `lines pass below it: ${seen.colour}`);
        assert.deepEqual(errors, []);
    }
});

test('a message is in one place', async () => {
    const { page, errors } = await open(browser);
    await cursor(page, 'allReduceAdd8');
    await page.keyboard.type('zz');
    await ready(page);
    const times = async () => (await page.evaluate(() => document.body.innerText)).split('zzallReduceAdd8` is').length - 1;
    for (const view of ['operation', 'matrix', 'run']) {
        await page.click(`#views [data-id="${view}"]`);
        await ready(page);
        assert.equal(await times(), 1, view);
    }
    assert.match(await text(page, '#refused'), /see the messages/);
    assert.deepEqual(errors, []);
});

test('a message about several profiles is in one line, and the profiles lead to it', async () => {
    const { page, errors } = await open(browser);
    await page.evaluate(() => window.explorer.choose(['spirv-1.0', 'spirv-1.1', 'spirv-1.6']));
    await ready(page);
    assert.equal(await mistakes(page), 1);
    assert.match(await text(page, '#messages'), /spirv-1\.0.*spirv-1\.1/);
    await page.click('#tabs [data-id="spirv-1.1"]');
    await page.click('#refused button');
    assert.ok(await page.evaluate(() => !!document.activeElement.closest('.source')));
    assert.deepEqual(errors, []);
});
