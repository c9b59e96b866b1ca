// Draws docs/guide/explain.png: the page that `explain --html` writes for a sum over eight lanes. `npm run explain -- CROSSLANE` names
// the program.

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { launch } from './browser.mjs';

const root = new URL('../../', import.meta.url).pathname;
const [crosslane] = process.argv.slice(2);
if (!crosslane) throw new Error('name the program: npm run explain -- ../target/release/crosslane');
const words = ['explain', 'fixtures/explain/sum.comp', '-p', 'gfx1100,nv-hopper', '--html', '-'];
const html = execFileSync(resolve(crosslane), words, { cwd: root, encoding: 'utf8' });

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1160, height: 900 }, colorScheme: 'light', deviceScaleFactor: 1.5 });
await page.setContent(html);
// Down to the end of the pictures.
const bottoms = await page.locator('figure').evaluateAll((all) => all.map((figure) => figure.getBoundingClientRect().bottom));
const height = Math.ceil(Math.max(...bottoms)) + 12;
await page.screenshot({ path: `${root}docs/guide/explain.png`, clip: { x: 0, y: 0, width: 1160, height }, fullPage: true });
await browser.close();
