// Pictures of the page at three widths, light and dark, in `shots/`, to be looked at. `npm run shots`.

import { mkdirSync } from 'node:fs';
import { launch, open, ready } from './browser.mjs';

const folder = new URL('../shots/', import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const colorScheme of ['light', 'dark']) {
    for (const [width, height] of [[1400, 900], [800, 1000], [390, 844]]) {
        const { page } = await open(browser, { viewport: { width, height }, colorScheme });
        for (const view of ['operation', 'matrix', 'run']) {
            await page.click(`#views [data-id="${view}"]`);
            await ready(page);
            await page.screenshot({ path: `${folder}${width}-${colorScheme}-${view}.png`, fullPage: width < 1000 });
        }
    }
}
await browser.close();
