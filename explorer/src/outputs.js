// The pane of the outputs: a tab for each profile, the text of one or the difference of two, and files to save.

import { Diff } from './diff.js';
import { byId, make, menu, tabs } from './dom.js';
import { refusal } from './messages.js';
import { Listing } from './output.js';
import { model, now, profileOf, state } from './state.js';

export class Outputs {
    #actions;
    #listing;
    #diff;
    #isDiff = false;

    // `ask` is the compiler's. `chosen` and `hovered` are called with operations, `go` with a message, and `changed` when another
    // profile is shown.
    constructor(actions) {
        this.#actions = actions;
        const { chosen, hovered } = actions;
        this.#listing = new Listing({ chosen, hovered }).open(byId('output'));
        this.#diff = new Diff(byId('diff'), { chosen, hovered, drawn: () => this.mark(false) });
        byId('against').onchange = ({ target }) => {
            state.against = target.value;
            this.show(true);
            actions.changed();
        };
        menu(byId('download'), () => this.#files());
    }

    get text() {
        return this.#listing.text;
    }

    #of(profile) {
        return model.opened.outputs.find((output) => output.profile === profile);
    }

    show(reveal) {
        const names = state.profiles;
        if (!names.includes(state.tab)) state.tab = names[0];
        if (!names.includes(state.against) || state.against === state.tab) state.against = '';
        this.#tabs();
        this.#against();
        const own = this.#of(state.tab);
        const other = this.#of(state.against);
        const isWritten = own?.text != null && (!state.against || other?.text != null);
        this.#isDiff = isWritten && state.against !== '';
        byId('output').hidden = !isWritten || this.#isDiff;
        byId('diff').hidden = !this.#isDiff;
        byId('refused').hidden = isWritten;
        if (isWritten) this.#listing.show(own.text, own.marks);
        if (this.#isDiff) this.#diff.show([own, other]);
        else this.#diff.close();
        if (!isWritten) byId('refused').replaceChildren(...refusal(model.opened, own?.text == null ? own : other, this.#actions.go));
        byId('download').disabled = own?.text == null;
        const count = this.#isDiff ? this.#diff.changes : 0;
        byId('changes').textContent = !this.#isDiff ? '' : count === 0 ? 'no differences' : `${count} ${count === 1 ? 'difference' : 'differences'}`;
        this.mark(reveal);
    }

    mark(reveal) {
        if (this.#isDiff) this.#diff.mark(now(), reveal);
        else this.#listing.mark(now(), reveal);
    }

    #tabs() {
        const { outputs } = model.opened;
        const isForSome = outputs.some(({ text }) => text !== null);
        const items = outputs.map(({ profile, text }) => ({
            id: profile, label: profile, title: profileOf(profile)?.description, className: isForSome && text === null ? 'no' : '',
        }));
        tabs(byId('tabs'), items, state.tab, (name) => {
            // The one that is compared and the one that is shown change places.
            if (name === state.against) state.against = state.tab;
            state.tab = name;
            this.show(true);
            this.#actions.changed();
        });
    }

    #against() {
        const others = state.profiles.filter((name) => name !== state.tab);
        const option = (value, textContent) => make('option', { value, textContent, selected: value === state.against });
        byId('against').replaceChildren(option('', 'nothing'), ...others.map((name) => option(name, name)));
        byId('against').disabled = others.length === 0;
    }

    // The files of the profile that is shown.
    #files() {
        const { ending, textEnding } = profileOf(state.tab);
        const save = (form) => () => this.#save(form);
        return [
            [`Text (${textEnding})`, save('text')],
            ...(ending === textEnding ? [] : [[`Binary (${ending})`, save('binary')]]),
            ['Bindings (.json)', save('reflection')],
        ];
    }

    async #save(form) {
        try {
            const { name, bytes } = await this.#actions.ask('emit', { profile: state.tab, form });
            const url = URL.createObjectURL(new Blob([new Uint8Array(bytes)]));
            make('a', { href: url, download: name }).click();
            setTimeout(() => URL.revokeObjectURL(url), 1000);
        } catch (error) {
            byId('changes').textContent = error.message;
        }
    }
}
