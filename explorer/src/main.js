// The page: what is chosen, and who shows it.

import { Compiler } from './compiler.js';
import { byId, make, menu } from './dom.js';
import { Editor } from './editor.js';
import { Facts } from './facts.js';
import { Files } from './files.js';
import { messages } from './messages.js';
import * as options from './options.js';
import { Outputs } from './outputs.js';
import * as profiles from './profiles.js';
import { address, keep, restore } from './share.js';
import { begin, example, exampleOf, model, now, question, state } from './state.js';
import { theme } from './theme.js';
import examples from '../examples/index.json';

// `?embed` is the page within another one, `?embed=readonly` a page whose shader stays.
const embed = new URLSearchParams(location.search).get('embed');

const compiler = new Compiler(byId('worker').textContent, byId('wasm').textContent);
const ask = (name, details) => compiler.ask(name, details);

let busy = null;

const goMessage = ({ file, from }) => {
    files.show(file);
    editor.go(from);
};
const chosen = (operation) => {
    const { file, from } = model.opened.operations[operation];
    files.show(file);
    editor.go(from, false);
};

const facts = new Facts({
    ask,
    kept: keep,
    choose,
    go(operation) {
        chosen(operation);
        model.cursor = operation;
        Object.assign(state, { execution: 0 });
        mark(true);
        facts.show();
    },
});
const outputs = new Outputs({
    ask,
    chosen,
    hovered: (operation) => point(operation),
    go: goMessage,
    changed() {
        keep();
        if (['operation', 'lanes'].includes(state.view)) facts.show();
    },
});
const editor = new Editor(byId('editor'), {
    ask,
    opened: () => settled(),
    changed: () => update(),
    moved: (at) => move(at),
    hovered: (at) => point(at === null ? null : operationAt(at)),
    run: () => facts.view('run'),
    open: (name) => files.show(name),
    isReadOnly: embed === 'readonly',
});
const files = new Files(editor, () => {
    kind();
    update();
});

// ---- The compiler's answers. ----

// Has the compiler read the files; while it does, later edits and choices wait, and the last of them is read.
function update() {
    busy ??= read().finally(() => { busy = null; });
    return busy;
}

async function read() {
    for (;;) {
        const version = editor.version;
        state.files = state.files.map(({ name }) => ({ name, text: editor.textOf(name) }));
        const { name, profiles: list, options: chosenOptions } = state;
        const isStale = () => editor.version !== version || state.profiles !== list || state.name !== name || state.options !== chosenOptions;
        const began = performance.now();
        try {
            const answer = await ask('open', question(state.files));
            if (isStale()) continue;
            [model.opened, model.version] = [answer, version];
            show();
        } catch (error) {
            fail(error.isAnswer ? error.message : `The compiler failed: ${error.message}`);
        }
        const took = performance.now() - began;
        byId('state').textContent = `${took < 10 ? took.toFixed(1) : Math.round(took)} ms`;
        keep();
        await facts.show();
        if (isStale()) continue;
        document.documentElement.dataset.version = version;
        return;
    }
}

// Resolves when the compiler has the files as they are.
async function settled() {
    await (model.version === editor.version ? busy : update());
}

function fail(why) {
    byId('fault').hidden = false;
    byId('fault').textContent = why;
}

// ---- What is shown. ----

function show() {
    byId('fault').hidden = true;
    const { opened } = model;
    editor.show(opened);
    messages(byId('messages'), opened.messages, goMessage);
    files.draw();
    byId('example').value = exampleOf(state.files);
    const isFirst = model.cursor === null;
    model.cursor = operationAt(editor.cursor) ?? Math.min(model.cursor ?? 0, Math.max(opened.operations.length - 1, 0));
    model.pointer = null;
    editor.mark(opened.operations, opened.operations[now()]);
    outputs.show(isFirst);
}

// The operation at a position of the file in the editor: of those within each other the shortest.
function operationAt(at) {
    let best = null;
    const { operations } = model.opened;
    operations.forEach(({ file, from, to }, n) => {
        const isShorter = best === null || to - from < operations[best].to - operations[best].from;
        if (file === state.shown && from <= at && at <= to && isShorter) best = n;
    });
    return best;
}

function mark(reveal) {
    editor.mark(model.opened.operations, model.opened.operations[now()]);
    outputs.mark(reveal);
}

function move(at) {
    const operation = operationAt(at);
    if (operation === null || operation === model.cursor || model.version !== editor.version) return;
    model.cursor = operation;
    state.execution = 0;
    mark(true);
    if (state.view !== 'run') facts.show();
}

function point(operation) {
    if (operation === model.pointer || model.version !== editor.version) return;
    model.pointer = operation;
    mark(false);
}

// ---- What is chosen. ----

function choose(list, shown) {
    if (list.length === 0) return;
    state.profiles = list;
    if (shown && list.includes(shown)) state.tab = shown;
    update();
}

// Shows the files of the state.
function open() {
    model.cursor = null;
    facts.forget();
    options.show();
    kind();
    editor.replace(state.files, state.shown);
    update();
}

function load(name, text, rest) {
    begin([{ name, text }], rest);
    open();
}

function kind() {
    byId('kind').value = state.name.split('.').findLast((part) => model.choices.kinds.some(([ending]) => ending === part)) ?? '';
    options.show();
}

function take(name) {
    const { files: list, row } = example(name);
    begin(list, row);
    open();
}

const IFRAME = (url) => `<iframe src="${url}" title="crosslane explorer" width="100%" height="600" style="border: 0"></iframe>`;

async function copy(form, around = (url) => url) {
    const text = around(await address(form));
    const button = byId('share');
    try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
    } catch {
        // Pages from files may not write there; the address has it all the same.
        button.textContent = form === 'page' ? 'The link is in the address bar' : 'The browser does not let the page copy';
    }
    setTimeout(() => { button.textContent = 'Share'; }, 1500);
    return text;
}

// ---- The start. ----

function setUp() {
    const { kinds } = model.choices;
    byId('kind').replaceChildren(...kinds.map(([value, textContent]) => make('option', { value, textContent })));
    byId('kind').onchange = ({ target }) => {
        files.rename(state.name, `${state.name.split('.')[0]}.${target.value}`);
        kind();
    };
    byId('example').replaceChildren(make('option', { value: '', textContent: 'Your own' }), ...examples.map(({ file, title }) => make('option', { value: file, textContent: title })));
    byId('example').onchange = ({ target }) => target.value && take(target.value);
    menu(byId('share'), () => [
        ['Copy link', () => copy('page')],
        ['Copy code to embed', () => copy('embed', IFRAME)],
        ['Copy code to embed, read-only', () => copy('readonly', IFRAME)],
    ]);
    profiles.setUp(choose);
    options.setUp(update);
    addEventListener('hashchange', async () => {
        if (await restore()) open();
    });
}

// Within another page, that page has the head.
function setUpEmbedding() {
    if (embed === null) return;
    document.documentElement.dataset.embed = embed;
    byId('whole').hidden = false;
    byId('whole').onclick = async (event) => {
        event.preventDefault();
        window.open(await address('page'), '_blank', 'noopener');
    };
    byId('whole').href = '#';
}

async function start() {
    theme(byId('theme'));
    setUpEmbedding();
    const began = performance.now();
    compiler.onfault = (why) => fail(`The compiler failed: ${why}`);
    await compiler.start();
    document.documentElement.dataset.started = performance.now() - began;
    model.choices = await ask('profiles');
    setUp();
    if (await restore()) open();
    else take(examples[0].file);
}

// For tests.
window.explorer = {
    load,
    choose,
    copy,
    add: (name, text) => files.add(name, text),
    text: () => editor.text,
    output: () => outputs.text,
    // Resolves when everything is shown.
    async settled() {
        await settled();
        await facts.shown;
    },
    // Moves the cursor to some words; false where the file has none such.
    go(words) {
        const at = editor.text.indexOf(words);
        if (at >= 0) editor.go(at);
        return at >= 0;
    },
    // Writes letters at the cursor, or takes one away.
    type: (letters) => editor.type(letters),
    // The outputs of all profiles.
    async everywhere() {
        const answer = await ask('open', question(state.files, model.choices.profiles.map((profile) => profile.name)));
        model.version = undefined;
        await update();
        return answer.outputs;
    },
};

start().catch((error) => fail(`The compiler failed: ${error.message}`));
