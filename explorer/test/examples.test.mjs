// Every example on every profile, in the simulator, and on the driver that Chromium brings.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { launch, open, ready } from './browser.mjs';

const examples = JSON.parse(readFileSync(new URL('../examples/index.json', import.meta.url), 'utf8'));

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

for (const { file } of examples) {
    test(file, async () => {
        const { page, errors } = await open(browser);
        await page.selectOption('#example', file);
        await ready(page);
        const outputs = await page.evaluate(() => window.explorer.everywhere());
        assert.ok(outputs.length > 50);
        for (const { profile, text, refused } of outputs) {
            // `wasm/tests` knows the reasons.
            assert.ok(text?.length > 100 || refused?.length > 10, `${profile}: ${refused}`);
        }
        assert.ok(outputs.filter(({ text }) => text).length > 20);
        await page.click('#views [data-id="run"]');
        await ready(page);
        if (file.endsWith('.frag')) {
            assert.equal(await page.locator('#run-fault').count(), 0);
            const colours = await page.locator('#picture').evaluate((canvas) => {
                const { data } = canvas.getContext('2d').getImageData(0, 0, 256, 256);
                return new Set(new Uint32Array(data.buffer)).size;
            });
            assert.ok(colours > 10, `the picture has ${colours} colours`);
        } else {
            assert.equal(await page.locator('#run-fault').count(), 0);
            assert.ok(await page.locator('#run td.changed').count() > 0, 'a run changes a buffer');
            await page.click('#gpu');
            const verdict = await page.waitForSelector('#verdict');
            // SwiftShader has subgroups of four lanes.
            assert.match(await verdict.textContent(), /and the simulator agree|a segment of \d+ lanes does not fit into a subgroup of 4/);
        }
        assert.deepEqual(errors, []);
    });
}
