// Pictures of the page at three widths, light and dark, in `shots/`, to be looked at. `npm run shots`.

import { mkdirSync } from 'node:fs';
import { launch, open, ready } from './browser.mjs';

const folder = new URL('../shots/', import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const browser = await launch();

const view = (id) => async (page) => page.click(`#views [data-id="${id}"]`);

// What is looked at, each on a page of its own.
const SCENES = {
    operation: view('operation'),
    matrix: view('matrix'),
    run: view('run'),
    async lanes(page) {
        await page.click('#views [data-id="lanes"]');
        await ready(page);
        await page.click('#next-step');
        await page.click('#next-step');
        await page.hover('.grid [data-lane="5"]');
    },
    async diff(page) {
        await page.evaluate(() => window.explorer.choose(['gfx1100-wave32', 'gfx1100-wave64', 'nv-hopper', 'nv-volta', 'spirv-1.6']));
        await ready(page);
        await page.selectOption('#against', 'gfx1100-wave64');
    },
    async options(page) {
        await page.click('#options-toggle');
        await page.fill('#defines', 'N=4 FAST');
        await page.keyboard.press('Enter');
        await page.evaluate(() => window.explorer.add('common.glsl', 'float twice(float x) { return 2.0 * x; }\n'));
    },
    async picture(page) {
        await page.selectOption('#example', 'quad-derivatives.frag');
        await page.click('#views [data-id="run"]');
    },
    async share(page) {
        await page.click('#share');
    },
    async embed(page) {
        await page.goto(await page.evaluate(() => window.explorer.copy('readonly')));
    },
    async wrong(page) {
        await page.evaluate(() => window.explorer.go('allReduceAdd8'));
        await page.keyboard.type('zz');
        await ready(page);
        await page.keyboard.press('Control+f');
    },
};

// `npm run shots lanes share` makes those alone.
const wanted = process.argv.slice(2);
const scenes = Object.entries(SCENES).filter(([name]) => wanted.length === 0 || wanted.includes(name));

for (const colorScheme of ['light', 'dark']) {
    for (const [width, height] of [[1600, 900], [1000, 800], [420, 844]]) {
        for (const [name, make] of scenes) {
            const { page } = await open(browser, { viewport: { width, height }, colorScheme });
            await make(page);
            await ready(page);
            await page.waitForTimeout(200);
            await page.screenshot({ path: `${folder}${name}-${width}-${colorScheme}.png`, fullPage: width < 900 });
            await page.context().close();
        }
    }
}
await browser.close();
