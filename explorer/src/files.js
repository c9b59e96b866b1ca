// The tabs of the files above the editor: what is compiled, and what it includes.

import { bringInto, byId, make, tabs } from './dom.js';
import { isShader, model, state } from './state.js';

// The first free name for a new file.
function freeName() {
    const isTaken = (name) => state.files.some((file) => file.name === name);
    for (let n = 1; ; n += 1) {
        const name = n === 1 ? 'common.glsl' : `common${n}.glsl`;
        if (!isTaken(name)) return name;
    }
}

export class Files {
    #editor;
    #changed;
    #renaming = false;

    // `changed` is called when another file is compiled, or files are there or are gone.
    constructor(editor, changed) {
        this.#editor = editor;
        this.#changed = changed;
        byId('add').onclick = () => this.add();
        byId('rename').onclick = () => this.#rename();
        byId('remove').onclick = () => this.#remove();
        byId('files').ondblclick = () => this.#rename();
        byId('files').addEventListener('keydown', ({ key }) => key === 'F2' && this.#rename());
    }

    draw() {
        // The field of a name stays until it is left.
        if (this.#renaming) return;
        const { opened } = model;
        const items = state.files.map(({ name }) => {
            const isRead = name === state.name || opened.files.includes(name);
            const title = name === state.name ? 'This file is compiled' : isRead ? `${state.name} includes it` : `${state.name} does not include it`;
            return { id: name, label: name, title, className: isRead ? '' : 'unread' };
        });
        tabs(byId('files'), items, state.shown, (name) => this.show(name));
        byId('remove').hidden = state.files.length < 2 || !state.files.some(({ name }) => name !== state.shown && isShader(name));
    }

    // Shows a file; a shader is then the one that is compiled. Texts of the compiler's own are no files.
    show(name) {
        if (name !== state.shown && state.files.some((file) => file.name === name)) {
            state.shown = name;
            if (isShader(name) && name !== state.name) Object.assign(state, { name, execution: 0, step: 0 });
            this.#editor.open(name);
            this.#changed();
        }
        this.draw();
    }

    add(name = freeName(), text = '') {
        state.files = [...state.files, { name, text }];
        this.#editor.add(name, text);
        this.show(name);
        this.#rename();
    }

    #remove() {
        const gone = state.shown;
        state.files = state.files.filter(({ name }) => name !== gone);
        this.#editor.remove(gone);
        this.show((state.files.find(({ name }) => isShader(name)) ?? state.files[0]).name);
    }

    // Puts a field in the place of the tab.
    #rename() {
        if (this.#renaming || document.documentElement.dataset.embed === 'readonly') return;
        const old = state.shown;
        const tab = byId('files').querySelector('[aria-selected="true"]');
        const field = make('input', { value: old, className: 'rename', 'aria-label': `Name of ${old}`, spellcheck: false, autocomplete: 'off' });
        const end = (name) => {
            if (!this.#renaming) return;
            this.#renaming = false;
            this.rename(old, name);
            this.draw();
            byId('files').querySelector('[aria-selected="true"]').focus();
        };
        field.onblur = () => end(field.value.trim());
        field.onkeydown = (event) => {
            event.stopPropagation();
            if (event.key === 'Enter') end(field.value.trim());
            if (event.key === 'Escape') end(old);
        };
        this.#renaming = true;
        tab.replaceWith(field);
        field.select();
        bringInto(byId('files'), field);
    }

    // A file has a name of its own, and one at least is a shader.
    #isGood(name, old) {
        const others = state.files.filter((file) => file.name !== old);
        return name !== '' && others.every((file) => file.name !== name) && [name, ...others.map((file) => file.name)].some(isShader);
    }

    // Gives a file another name, if it can have it.
    rename(old, name) {
        if (name === old || !this.#isGood(name, old)) return;
        state.files = state.files.map((file) => (file.name === old ? { ...file, name } : file));
        if (state.shown === old) state.shown = name;
        if (state.name === old) state.name = isShader(name) ? name : state.files.find((file) => isShader(file.name)).name;
        else if (isShader(name) && state.shown === name) state.name = name;
        this.#editor.rename(old, name);
        this.#changed();
        this.draw();
    }
}
