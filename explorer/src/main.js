// The page: what is chosen, and who shows it.

import { Compiler } from './compiler.js';
import { byId, make, tabs } from './dom.js';
import { Editor } from './editor.js';
import { matrix } from './matrix.js';
import { WRONG, isWrong, messages, refusal } from './messages.js';
import { Output } from './output.js';
import { Run } from './run.js';
import { packed, unpacked } from './share.js';
import { theme } from './theme.js';
import examples from '../examples/index.json';
import sources from 'examples';

const USUAL = ['gfx1100-wave32', 'nv-hopper', 'ptx-sm80', 'spirv-1.6', 'wgsl'];
const VIEWS = [['operation', 'Operation'], ['matrix', 'All profiles'], ['run', 'Run']];
const FAMILIES = { spirv: 'SPIR-V', nv: 'NVIDIA assembly', amd: 'AMD', ptx: 'CUDA', wgsl: 'WGSL', glsl: 'GLSL', hlsl: 'HLSL', msl: 'Metal' };

const state = {
    name: 'first-look.comp', text: sources['first-look.comp'], profiles: USUAL, tab: undefined, view: 'operation',
    machine: undefined, lanes: undefined, groups: [1, 1, 1], fills: {}, types: {}, push: '',
};

const compiler = new Compiler(byId('worker').textContent, byId('wasm').textContent);
const ask = (name, details) => compiler.ask(name, details);

let choices = { profiles: [], kinds: [] };
// What the compiler said of the text as it is now, or was last.
let opened = { messages: [], tokens: [], classes: [], operations: [], outputs: [] };
// Of operations by their numbers: that under the cursor, and that under the pointer.
let [atCursor, atPointer] = [null, null];
let busy = null;
// The version of the text that `opened` is about.
let openedVersion;

const run = new Run({ ask, state, kept: () => keep() });
const output = new Output(byId('output'), {
    chosen: (operation) => editor.go(opened.operations[operation].from, false),
    hovered: (operation) => point(operation),
});
const editor = new Editor(byId('editor'), {
    ask,
    opened: () => settled(),
    changed: () => update(),
    moved: (at) => move(at),
    hovered: (at) => point(at === null ? null : operationAt(at)),
    run: () => view('run'),
});

const profileOf = (name) => choices.profiles.find((profile) => profile.name === name);
const isCompute = () => state.name.endsWith('.comp') || state.name.endsWith('.wgsl');

// ---- The compiler's answers. ----

// Has the compiler read the text; while it does, later edits and choices wait, and the last of them is read.
function update() {
    busy ??= read().finally(() => { busy = null; });
    return busy;
}

async function read() {
    for (;;) {
        const version = editor.version;
        state.text = editor.text;
        const { name, text, profiles } = state;
        const isStale = () => editor.version !== version || state.profiles !== profiles || state.name !== name;
        const began = performance.now();
        try {
            const answer = await ask('open', { name, text, profiles });
            if (isStale()) continue;
            opened = answer;
            openedVersion = version;
            show();
        } catch (error) {
            fail(error.message);
        }
        const took = performance.now() - began;
        byId('state').textContent = `${took < 10 ? took.toFixed(1) : Math.round(took)} ms`;
        keep();
        await face();
        if (isStale()) continue;
        document.documentElement.dataset.version = version;
        return;
    }
}

// Resolves when the compiler has the text as it is.
async function settled() {
    await (openedVersion === editor.version ? busy : update());
}

function fail(why) {
    byId('fault').hidden = false;
    byId('fault').textContent = `The compiler failed: ${why}`;
}

// ---- What is shown. ----

function show() {
    byId('fault').hidden = true;
    editor.show(opened);
    messages(byId('messages'), opened.messages, ({ from }) => editor.go(from));
    const isFirst = atCursor === null;
    atCursor = operationAt(editor.cursor) ?? Math.min(atCursor ?? 0, Math.max(opened.operations.length - 1, 0));
    atPointer = null;
    outputs(isFirst);
}

function outputs(reveal) {
    const names = state.profiles;
    if (!names.includes(state.tab)) state.tab = names[0];
    const isForSome = opened.outputs.some(({ text }) => text !== null);
    const items = opened.outputs.map(({ profile, text }) => ({
        id: profile, label: profile, title: profileOf(profile)?.description, className: isForSome && text === null ? 'no' : '',
    }));
    tabs(byId('tabs'), items, state.tab, (name) => {
        state.tab = name;
        outputs(true);
        keep();
        if (state.view === 'operation') face();
    });
    const now = opened.outputs.find(({ profile }) => profile === state.tab);
    const isWritten = now?.text != null;
    byId('output').hidden = !isWritten;
    byId('refused').hidden = isWritten;
    if (isWritten) output.show(now.text, now.marks);
    else byId('refused').replaceChildren(...refusal(opened, now, ({ from }) => editor.go(from)));
    mark(reveal);
}

// The operation at a position: of those within each other the shortest.
function operationAt(at) {
    let best = null;
    opened.operations.forEach(({ from, to }, n) => {
        const isShorter = best === null || to - from < opened.operations[best].to - opened.operations[best].from;
        if (from <= at && at <= to && isShorter) best = n;
    });
    return best;
}

const now = () => atPointer ?? atCursor;

function mark(reveal) {
    editor.mark(opened.operations, opened.operations[now()]);
    output.mark(now(), reveal);
}

function move(at) {
    const operation = operationAt(at);
    if (operation === null || operation === atCursor || openedVersion !== editor.version) return;
    atCursor = operation;
    mark(true);
    if (state.view !== 'run') face();
}

function point(operation) {
    if (operation === atPointer || openedVersion !== editor.version) return;
    atPointer = operation;
    mark(false);
}

let faced = Promise.resolve();

// The facts in the view that is chosen.
function face() {
    faced = facts();
    return faced;
}

async function facts() {
    for (const [id] of VIEWS) byId(id).hidden = id !== state.view;
    tabs(byId('views'), VIEWS.map(([id, label]) => ({ id, label })), state.view, view);
    if (isWrong(opened)) {
        return byId(state.view).replaceChildren(make('p', { className: 'dim', textContent: WRONG }));
    }
    try {
        if (state.view === 'operation') await operation();
        if (state.view === 'matrix') await all();
        if (state.view === 'run') await runs();
    } catch (error) {
        byId(state.view).replaceChildren(make('p', { className: 'bad', textContent: error.message }));
    }
}

function view(id) {
    state.view = id;
    keep();
    return face();
}

async function operation() {
    const parent = byId('operation');
    const list = opened.operations;
    if (list.length === 0) {
        return parent.replaceChildren(make('p', { className: 'dim', textContent: 'The shader has no cross-lane operations.' }));
    }
    const chosen = atCursor;
    const { html, style } = await ask('explain', { operation: chosen });
    const chooser = make('ul', { className: 'chooser' }, ...list.map(({ line, code, from }, n) => make('li', {}, make('button', {
        type: 'button', title: code, 'aria-pressed': String(n === chosen), 'data-operation': n,
        onclick: () => {
            atCursor = n;
            editor.go(from, false);
            mark(true);
            face().then(() => parent.querySelector(`[data-operation="${n}"]`)?.focus());
        },
    }, `${line}  `, make('code', { textContent: code })))));
    const report = make('div', { className: 'report' });
    const shadow = report.attachShadow({ mode: 'open' });
    // The page's own rules for the whole of a page do not hold inside.
    shadow.innerHTML = `<style>${style}\nsection { border: 0; padding: 0.6rem 0 0; }\n.source { display: none; }</style>${html}`;
    // The profile whose output is shown comes first.
    const cards = [...shadow.querySelectorAll('article')];
    const first = cards[state.profiles.indexOf(state.tab)];
    first?.parentElement.prepend(first);
    parent.replaceChildren(chooser, report);
}

async function all() {
    const found = await ask('check');
    const toggle = (name) => choose(state.profiles.includes(name) ? state.profiles.filter((one) => one !== name) : [...state.profiles, name], name);
    matrix(byId('matrix'), found, { chosen: state.profiles, now: atCursor, families: FAMILIES, toggle });
}

async function runs() {
    if (!isCompute()) {
        return byId('run').replaceChildren(make('p', { className: 'dim', textContent: 'Only compute shaders run here: other stages need a pipeline around them.' }));
    }
    await run.show(state.profiles.map(profileOf));
}

// ---- What is chosen. ----

function choose(profiles, show) {
    if (profiles.length === 0) return;
    state.profiles = profiles;
    if (show && profiles.includes(show)) state.tab = show;
    update();
}

function load(name, text, fills = {}, groups = [1, 1, 1]) {
    run.forget();
    Object.assign(state, { name, fills, groups });
    atCursor = null;
    byId('kind').value = name.split('.').pop();
    editor.replace(text);
}

function example(file) {
    const { fills, groups, within } = examples.find((one) => one.file === file);
    state.within = within;
    load(file, sources[file], fills, groups);
}

function profiles() {
    const dialog = byId('profiles');
    const families = Object.groupBy(choices.profiles, ({ target }) => target);
    const box = ({ name, description }) => make('label', { title: description }, make('input', {
        type: 'checkbox', value: name, checked: state.profiles.includes(name),
    }), name);
    byId('list').replaceChildren(...Object.entries(families).map(([family, list]) =>
        make('fieldset', {}, make('legend', { textContent: FAMILIES[family] ?? family }), ...list.map(box))));
    byId('filter').value = '';
    // Escape closes it without a value, and then nothing changes.
    dialog.returnValue = '';
    dialog.onclose = () => {
        if (dialog.returnValue === 'done') choose([...byId('list').querySelectorAll('input:checked')].map(({ value }) => value));
    };
    byId('cancel').onclick = () => dialog.close();
    dialog.showModal();
}

function filter() {
    const words = byId('filter').value.toLowerCase();
    for (const label of byId('list').querySelectorAll('label')) {
        label.hidden = !`${label.textContent} ${label.title}`.toLowerCase().includes(words);
    }
    for (const set of byId('list').querySelectorAll('fieldset')) set.hidden = !set.querySelector('label:not([hidden])');
}

let timer;

// Puts the state into the address.
function keep() {
    clearTimeout(timer);
    timer = setTimeout(async () => history.replaceState(null, '', `#s=${await packed(shared())}`), 250);
}

function shared() {
    const { name, text, profiles: list, tab, view: seen, machine, lanes, groups, fills, types, push } = state;
    return { name, text, profiles: list, tab, view: seen, run: { machine, lanes, groups, fills, types, push } };
}

async function copy() {
    history.replaceState(null, '', `#s=${await packed(shared())}`);
    try {
        await navigator.clipboard.writeText(location.href);
        byId('share').textContent = 'Copied';
    } catch {
        // Pages from files may not write there; the address has it all the same.
        byId('share').textContent = 'It is in the address';
    }
    setTimeout(() => { byId('share').textContent = 'Copy link'; }, 1500);
}

// ---- The start. ----

async function restore() {
    const kept = await unpacked(location.hash);
    if (!kept) return false;
    const known = kept.profiles.filter((name) => profileOf(name));
    Object.assign(state, kept, { profiles: known.length > 0 ? known : USUAL });
    if (!VIEWS.some(([id]) => id === state.view)) state.view = 'operation';
    if (!choices.kinds.some(([ending]) => state.name.endsWith(`.${ending}`))) state.name = 'shader.comp';
    return true;
}

async function start() {
    theme(byId('theme'));
    const began = performance.now();
    compiler.onfault = fail;
    await compiler.start();
    document.documentElement.dataset.started = performance.now() - began;
    choices = await ask('profiles');
    byId('kind').replaceChildren(...choices.kinds.map(([value, textContent]) => make('option', { value, textContent })));
    byId('example').replaceChildren(make('option', { value: '', textContent: 'Your own' }), ...examples.map(({ file, title }) => make('option', { value: file, textContent: title })));
    byId('example').onchange = ({ target }) => target.value && example(target.value);
    byId('kind').onchange = ({ target }) => {
        state.name = `shader.${target.value}`;
        update();
    };
    byId('choose').onclick = profiles;
    byId('filter').oninput = filter;
    byId('share').onclick = copy;
    addEventListener('hashchange', async () => {
        if (await restore()) open();
    });
    if (!await restore()) {
        const { fills, groups } = examples[0];
        Object.assign(state, { fills, groups: groups ?? [1, 1, 1] });
    }
    open();
}

function open() {
    byId('kind').value = state.name.split('.').pop();
    byId('example').value = sources[state.name] === state.text ? state.name : '';
    atCursor = null;
    editor.replace(state.text);
}

// For tests.
window.explorer = {
    load,
    choose,
    text: () => editor.text,
    output: () => output.view.state.doc.toString(),
    // Resolves when everything is shown.
    async settled() {
        await settled();
        await faced;
    },
    // Moves the cursor to some words; false where the shader has none such.
    go(words) {
        const at = editor.text.indexOf(words);
        if (at >= 0) editor.go(at);
        return at >= 0;
    },
    // Writes letters at the cursor, or takes one away.
    type: (letters) => editor.type(letters),
    // The outputs of all profiles.
    async everywhere() {
        const { name, text } = state;
        const answer = await ask('open', { name, text, profiles: choices.profiles.map((profile) => profile.name) });
        await update();
        return answer.outputs;
    },
};

start().catch((error) => fail(error.message));
