// The page's state in the fragment of its address: JSON, deflated, in base64 for addresses.

import { GROUPS, OPTIONS, USUAL, VIEWS, isShader, profileOf, state } from './state.js';

async function through(bytes, stream) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function packed(content) {
    const bytes = await through(new TextEncoder().encode(JSON.stringify(content)), new CompressionStream('deflate-raw'));
    const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

// The content of a fragment; null for others.
async function unpacked(fragment) {
    const text = fragment.match(/^#s=([\w-]+)$/)?.[1];
    if (!text) return null;
    try {
        const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
        const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
        const json = await through(bytes, new DecompressionStream('deflate-raw'));
        return JSON.parse(new TextDecoder().decode(json));
    } catch {
        return null;
    }
}

const word = (value) => (typeof value === 'string' ? value : undefined);
const words = (object) => Object.fromEntries(Object.entries(object ?? {}).filter(([, value]) => typeof value === 'string'));
const count = (value) => (Number.isSafeInteger(value) && value >= 0 ? value : 0);

// The files of a link; the first links had one.
function files({ name, text, files: all }) {
    const list = Array.isArray(all) ? all : [{ name, text }];
    const isFile = (file) => word(file?.name) && word(file?.text) !== undefined;
    return list.filter(isFile).map((file) => ({ name: file.name, text: file.text }));
}

// Links come from anywhere: what is not of the right type is dropped.
function checked(content) {
    if (typeof content !== 'object' || !content || !Array.isArray(content.profiles)) return null;
    const all = files(content);
    const name = [word(content.name), ...all.map((file) => file.name)].find((one) => all.some((file) => file.name === one) && isShader(one));
    if (!name) return null;
    const run = typeof content.run === 'object' && content.run ? content.run : {};
    const profiles = content.profiles.filter((profile) => profileOf(profile));
    return {
        files: all, name,
        shown: all.some((file) => file.name === content.shown) ? content.shown : name,
        profiles: profiles.length > 0 ? profiles : USUAL,
        options: { ...OPTIONS, ...words(content.options) },
        groups: Array.isArray(run.groups) && run.groups.length === 3 ? run.groups.map((n) => Number(n) || 1) : GROUPS,
        tab: word(content.tab), against: word(content.against) ?? '',
        view: VIEWS.some(([id]) => id === content.view) ? content.view : 'operation',
        machine: word(run.machine), push: word(run.push) ?? '', lanes: Number(run.lanes) || undefined,
        fills: words(run.fills), types: words(run.types), execution: count(run.execution), step: count(run.step), within: undefined,
    };
}

// Takes the state that an address has; false where it has none.
export async function restore() {
    const kept = checked(await unpacked(location.hash));
    if (kept) Object.assign(state, kept);
    return kept !== null;
}

// Puts the state into the address.
export async function put() {
    const { files: all, name, shown, profiles, tab, against, view, options } = state;
    const { machine, lanes, groups, fills, types, push, execution, step } = state;
    const run = { machine, lanes, groups, fills, types, push, execution, step };
    const content = { name, files: all, shown, profiles, tab, against, view, options, run };
    history.replaceState(null, '', `${location.search}#s=${await packed(content)}`);
}

let timer;

// The same once no more changes come.
export function keep() {
    clearTimeout(timer);
    timer = setTimeout(put, 250);
}

// The address of the page, or of the page within another one.
export async function address(embed) {
    clearTimeout(timer);
    await put();
    const url = new URL(location.href);
    url.search = { page: '', embed: '?embed', readonly: '?embed=readonly' }[embed];
    return url.href;
}
