// The text of a profile, read only, with the lines of operations marked.

import { StreamLanguage, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, RangeSet, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { search, searchKeymap } from '@codemirror/search';
import { tags } from '@lezer/highlight';

const lines = StateEffect.define();

const field = StateField.define({
    create: () => Decoration.none,
    update(now, transaction) {
        let next = transaction.docChanged ? Decoration.none : now;
        for (const { value } of transaction.effects.filter((one) => one.is(lines))) next = value;
        return next;
    },
    provide: (own) => EditorView.decorations.from(own),
});

// Comments and numbers look alike in all of the languages.
const language = StreamLanguage.define({
    token(stream) {
        if (stream.eatSpace()) return null;
        if (stream.match(/^(\/\/|;(?=\s|$)|# ).*/)) return 'comment';
        if (stream.match(/^"[^"]*"/)) return 'string';
        if (stream.match(/^(0x[\da-f]+|\d[\d.]*(e[+-]?\d+)?)\b/i)) return 'number';
        if (stream.match(/^(fn|void|float|uint|int|bool|vec[234]|let|var|if|else|for|loop|while|return|struct|layout|buffer|shared)\b/)) return 'keyword';
        if (!stream.match(/^[\w.$%]+/)) stream.next();
        return null;
    },
});

const colours = syntaxHighlighting(HighlightStyle.define([
    { tag: tags.comment, class: 't-comment' },
    { tag: tags.number, class: 't-number' },
    { tag: tags.string, class: 't-text' },
    { tag: tags.keyword, class: 't-keyword' },
]));

const OF_OPERATION = Decoration.line({ class: 'of-op' });
const OF_NOW = Decoration.line({ class: 'of-op of-now' });

// One text, in a view that the page makes of `extensions` and gives to `attach`.
export class Listing {
    #marks = new Map();
    view;

    // `chosen` and `hovered` are called with the operation of a line.
    constructor({ chosen, hovered, label = 'Output' }) {
        const at = (event) => {
            const position = this.view.posAtCoords({ x: event.clientX, y: event.clientY });
            return position === null ? null : this.#marks.get(this.view.state.doc.lineAt(position).number - 1)?.[0] ?? null;
        };
        this.extensions = [
            lineNumbers(), field, language, colours, EditorState.readOnly.of(true), EditorView.editable.of(false),
            search(), keymap.of(searchKeymap),
            EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
            EditorView.domEventHandlers({
                mousemove: (event) => hovered(at(event)),
                mouseleave: () => hovered(null),
                click: (event) => {
                    const operation = at(event);
                    if (operation !== null) chosen(operation);
                },
            }),
        ];
    }

    attach(view) {
        this.view = view;
        return this;
    }

    // Makes a view of its own.
    open(parent) {
        return this.attach(new EditorView({ parent, state: EditorState.create({ extensions: this.extensions }) }));
    }

    get text() {
        return this.view.state.doc.toString();
    }

    show(text, marks) {
        this.#marks = new Map(marks);
        if (this.text !== text) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    }

    // Marks the lines of operations, and those of the one of interest.
    mark(now, reveal) {
        const { doc } = this.view.state;
        const known = [...this.#marks].filter(([line]) => line < doc.lines);
        const isNow = (operations) => operations.includes(now);
        const ranges = known.map(([line, operations]) => (isNow(operations) ? OF_NOW : OF_OPERATION).range(doc.line(line + 1).from));
        // What is set up once comes long before the rest.
        const last = known.findLast(([, operations]) => isNow(operations));
        const effects = [lines.of(RangeSet.of(ranges, true))];
        if (reveal && last) effects.push(EditorView.scrollIntoView(doc.line(last[0] + 1).from, { y: 'center' }));
        this.view.dispatch({ effects });
    }
}
