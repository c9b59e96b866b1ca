// The editor: CodeMirror, which asks the compiler for colours, messages, completions and descriptions.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, toggleComment } from '@codemirror/commands';
import { bracketMatching, indentUnit } from '@codemirror/language';
import { lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, RangeSet, StateEffect, StateField } from '@codemirror/state';
import {
    Decoration, EditorView, closeHoverTooltips, drawSelection, hasHoverTooltips, highlightActiveLine, hoverTooltip, keymap, lineNumbers,
} from '@codemirror/view';
import { markdown } from './markdown.js';

const colours = StateEffect.define();
const places = StateEffect.define();

// Decorations that an effect replaces, and that edits move.
const field = (effect) => StateField.define({
    create: () => Decoration.none,
    update(now, transaction) {
        let next = now.map(transaction.changes);
        for (const { value } of transaction.effects.filter((one) => one.is(effect))) next = value;
        return next;
    },
    provide: (own) => EditorView.decorations.from(own),
});

const marks = new Map();
function mark(className) {
    if (!marks.has(className)) marks.set(className, Decoration.mark({ class: className }));
    return marks.get(className);
}

const TYPES = { member: 'property', macro: 'constant', extension: 'namespace', struct: 'class' };

export class Editor {
    #version = 0;
    #extensions;
    #reveal;
    // The states of the files that are not shown.
    #others = new Map();
    // The file that is shown.
    name = '';

    // `ask` is the compiler's; `changed` and `moved` are called after edits, and when the cursor is elsewhere; `open` shows another
    // file.
    constructor(parent, { ask, opened, changed, moved, hovered, run, open, isReadOnly }) {
        this.#reveal = open;
        const complete = async (context) => {
            const word = context.matchBefore(/[#\w.]*/);
            const isAsked = context.explicit || word.text.length > 1 || word.text.endsWith('.');
            if (!isAsked) return null;
            await opened();
            const items = await ask('complete', { file: this.name, at: context.pos });
            const from = context.matchBefore(/\w*/).from;
            const option = ({ label, kind, detail, doc, line }, n) => ({
                label,
                detail: detail.length > 48 ? `${detail.slice(0, 47)}…` : detail,
                type: TYPES[kind] ?? kind,
                boost: -Math.min(n, 99),
                info: doc || detail ? () => markdown([detail && `\`\`\`\n${detail}\n\`\`\``, doc].filter(Boolean).join('\n\n')) : undefined,
                apply: line ? (view, _, start, end) => view.dispatch({
                    changes: [{ from: line.from, to: line.to, insert: line.insert }, { from: start, to: end, insert: label }],
                    selection: { anchor: start + line.insert.length + label.length },
                }) : undefined,
            });
            return { from, options: items.map(option), filter: false };
        };
        const hover = hoverTooltip(async (_, at) => {
            await opened();
            const found = await ask('hover', { file: this.name, at });
            return found && { pos: found.from, end: found.to, above: true, create: () => ({ dom: markdown(found.text) }) };
        });
        this.#extensions = [
            lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(),
            highlightSelectionMatches(), indentUnit.of('    '), EditorState.tabSize.of(4),
            EditorState.languageData.of(() => [{ commentTokens: { line: '//' }, closeBrackets: { brackets: ['(', '[', '{'] } }]),
            field(colours), field(places), hover,
            autocompletion({ override: [complete], icons: false }),
            keymap.of([
                { key: 'Escape', run: (view) => hasHoverTooltips(view.state) && (view.dispatch({ effects: closeHoverTooltips }), true) },
                { key: 'Mod-Enter', run: () => (run(), true) }, { key: 'Mod-/', run: toggleComment },
                ...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...completionKeymap, ...lintKeymap,
            ]),
            EditorView.contentAttributes.of({ 'aria-label': 'Shader', spellcheck: 'false', autocapitalize: 'off' }),
            EditorView.updateListener.of((update) => {
                if (update.docChanged) {
                    this.#version += 1;
                    changed();
                }
                if (update.selectionSet || update.docChanged) moved(update.state.selection.main.head);
            }),
            EditorView.domEventHandlers({
                mousemove: (event, view) => hovered(view.posAtCoords({ x: event.clientX, y: event.clientY })),
                mouseleave: () => hovered(null),
            }),
            isReadOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false), EditorView.contentAttributes.of({ tabindex: '0' })] : [],
        ];
        this.view = new EditorView({ parent, state: this.#create('') });
    }

    #create(doc) {
        return EditorState.create({ doc, extensions: this.#extensions });
    }

    get text() {
        return this.view.state.doc.toString();
    }

    // The text of a file.
    textOf(name) {
        return (name === this.name ? this.view.state : this.#others.get(name)).doc.toString();
    }

    get version() {
        return this.#version;
    }

    get cursor() {
        return this.view.state.selection.main.head;
    }

    // Puts files in the place of all.
    replace(files, shown) {
        this.#others = new Map(files.map(({ name, text }) => [name, this.#create(text)]));
        this.name = shown;
        this.view.setState(this.#others.get(shown));
        this.#others.delete(shown);
        this.#version += 1;
    }

    // Shows another file.
    open(name) {
        if (name === this.name) return;
        if (this.name) this.#others.set(this.name, this.view.state);
        this.name = name;
        this.view.setState(this.#others.get(name));
        this.#others.delete(name);
        this.#version += 1;
    }

    add(name, text) {
        this.#others.set(name, this.#create(text));
        this.#version += 1;
    }

    // Forgets a file; if it is shown, `open` follows.
    remove(name) {
        if (name === this.name) this.name = '';
        this.#others.delete(name);
        this.#version += 1;
    }

    rename(old, name) {
        if (this.name === old) this.name = name;
        else {
            this.#others.set(name, this.#others.get(old));
            this.#others.delete(old);
        }
        this.#version += 1;
    }

    // Makes the edit that a message suggests, in its file.
    #mend({ file, from, to, insert }) {
        this.#reveal(file);
        this.view.dispatch({ changes: { from, to, insert } });
    }

    // Writes letters at the cursor; none take the one before it away.
    type(letters) {
        const to = this.cursor;
        const from = letters ? to : to - 1;
        this.view.dispatch({ changes: { from, to, insert: letters }, selection: { anchor: from + letters.length } });
    }

    // Shows what the compiler said of the text as it is now.
    show({ tokens, classes, messages }) {
        const all = [];
        const own = tokens[this.name] ?? [];
        for (let n = 0; n < own.length; n += 3) {
            if (own[n] < own[n + 1]) all.push(mark(`t-${classes[own[n + 2]]}`).range(own[n], own[n + 1]));
        }
        const end = this.view.state.doc.length;
        const found = messages.filter(({ file }) => file === this.name).map(({ from, to, severity, text, code, fix }) => ({
            from: Math.min(from, end),
            to: Math.min(Math.max(to, from), end),
            severity,
            source: code,
            message: text,
            actions: fix ? [{ name: fix.title, apply: () => this.#mend(fix) }] : [],
        }));
        this.view.dispatch(setDiagnostics(this.view.state, found), { effects: colours.of(RangeSet.of(all, true)) });
    }

    // Marks the operations, and the one of interest.
    mark(operations, now) {
        const ranges = operations.filter(({ file, from, to }) => file === this.name && from < to)
            .map(({ from, to }) => mark(now && now.file === this.name && now.from === from && now.to === to ? 'op op-now' : 'op').range(from, to));
        this.view.dispatch({ effects: places.of(RangeSet.of(ranges, true)) });
    }

    // Moves the cursor.
    go(at, focus = true) {
        this.view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
        if (focus) this.view.focus();
    }
}
