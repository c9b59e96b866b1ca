// A page of headless Chromium with the explorer in it. CROSSLANE_CHROMIUM names another browser than Debian's.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const PAGE = new URL('../dist/index.html', import.meta.url).href;

const BROWSERS = [process.env.CROSSLANE_CHROMIUM, '/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'];

// WebGPU on the driver that Chromium brings.
const ARGUMENTS = ['--no-sandbox', '--enable-unsafe-webgpu', '--enable-features=Vulkan', '--ignore-gpu-blocklist', '--use-webgpu-adapter=swiftshader'];

export function launch(extra = {}) {
    const executablePath = BROWSERS.find((path) => path && existsSync(path));
    if (!executablePath) throw new Error('there is no Chromium: install Debian\'s package `chromium`, or set CROSSLANE_CHROMIUM');
    if (!existsSync(new URL(PAGE))) throw new Error('there is no dist/index.html: run `npm run build`');
    return chromium.launch({ executablePath, args: ARGUMENTS, ...extra });
}

// A page, and the errors that it reports.
export async function open(browser, { fragment = '', ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) errors.push(message.text());
    });
    await page.goto(PAGE + fragment);
    await ready(page);
    return { page, errors };
}

// Waits until the page shows what the compiler says of the text as it is.
export async function ready(page) {
    await page.waitForFunction(() => document.documentElement.dataset.version !== undefined || !document.querySelector('#fault').hidden);
    await page.evaluate(() => window.explorer.settled());
}

// The errors in the list of messages.
export const mistakes = (page) => page.locator('#messages .error').count();
