// Speed: from a key press to the new output, and from the page's script to a compiler that answers. `npm run bench`.

import { launch, open, ready } from './browser.mjs';

const browser = await launch();
const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1].toFixed(1);

const starts = [];
for (let n = 0; n < 7; n += 1) {
    const { page } = await open(browser);
    starts.push(Number(await page.evaluate(() => document.documentElement.dataset.started)));
    await page.context().close();
}
console.log(`the compiler starts in ${middle(starts)} ms (${starts.map((n) => n.toFixed(0)).join(' ')})`);

const { page } = await open(browser);
await page.evaluate(() => window.explorer.go('x[i] = sum'));
const keys = [];
for (let n = 0; n < 60; n += 1) {
    const took = await page.evaluate(async (letter) => {
        const began = performance.now();
        window.explorer.type(letter);
        await window.explorer.settled();
        return performance.now() - began;
    }, n % 2 === 0 ? ' ' : '');
    keys.push(took);
}
const warm = keys.slice(10);
console.log(`from a key press to all that is shown ${middle(warm)} ms, at most ${Math.max(...warm).toFixed(1)} ms, the first ${keys[0].toFixed(1)} ms`);
await ready(page);
await browser.close();
