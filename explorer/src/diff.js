// The outputs of two profiles with their differences: side by side, or one in the other where there is no room.

import { MergeView, getChunks, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { Listing } from './output.js';

// Pixels that two listings need beside each other.
const ROOM = 640;

const OPTIONS = { highlightChanges: true, gutter: true };

export class Diff {
    #parent;
    #actions;
    #made;
    #sides = [];
    #key;

    constructor(parent, actions) {
        this.#parent = parent;
        this.#actions = actions;
        new ResizeObserver(() => this.#made && this.#isWide() !== this.#made.isWide && this.#again()).observe(parent);
    }

    // Shows two outputs; each has a profile, a text and its marks.
    show(outputs) {
        const key = JSON.stringify([outputs.map(({ profile, text }) => [profile, text]), this.#isWide()]);
        if (key !== this.#key) this.#make(outputs);
        this.#key = key;
        this.#sides.forEach(([side, n]) => side.show(outputs[n].text, outputs[n].marks));
    }

    mark(now, reveal) {
        for (const [side] of this.#sides) side.mark(now, reveal);
    }

    // The number of stretches that differ.
    get changes() {
        return getChunks(this.#sides.at(-1)[0].view.state)?.chunks.length ?? 0;
    }

    close() {
        this.#made?.view.destroy();
        this.#parent.replaceChildren();
        [this.#made, this.#key, this.#sides] = [undefined, undefined, []];
    }

    #isWide() {
        return this.#parent.clientWidth >= ROOM;
    }

    #again() {
        const { outputs } = this.#made;
        this.#make(outputs);
        this.#sides.forEach(([side, n]) => side.show(outputs[n].text, outputs[n].marks));
        this.#actions.drawn();
    }

    #make(outputs) {
        this.close();
        const isWide = this.#isWide();
        const view = isWide ? this.#beside(outputs) : this.#within(outputs);
        this.#made = { view, isWide, outputs };
    }

    #listing({ profile }) {
        return new Listing({ ...this.#actions, label: `Output for ${profile}` });
    }

    #beside(outputs) {
        const [a, b] = outputs.map((output) => this.#listing(output));
        const side = (listing, { text }) => ({ doc: text, extensions: listing.extensions });
        const view = new MergeView({ parent: this.#parent, a: side(a, outputs[0]), b: side(b, outputs[1]), ...OPTIONS });
        this.#sides = [[a.attach(view.a), 0], [b.attach(view.b), 1]];
        return view;
    }

    // The second, with the lines of the first that it lacks.
    #within([first, second]) {
        const listing = this.#listing(second);
        const merge = unifiedMergeView({ original: first.text, mergeControls: false, ...OPTIONS });
        const state = EditorState.create({ doc: second.text, extensions: [listing.extensions, merge] });
        const view = new EditorView({ parent: this.#parent, state });
        this.#sides = [[listing.attach(view), 1]];
        return view;
    }
}
