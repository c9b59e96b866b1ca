// The pane of the facts: the chosen operation, its lanes, all profiles, and the run.

import { byId, make, tabs } from './dom.js';
import { matrix } from './matrix.js';
import { WRONG, isWrong } from './messages.js';
import { Picture } from './picture.js';
import { Run } from './run.js';
import { FAMILIES, VIEWS, isCompute, isFragment, model, profileOf, state } from './state.js';
import { Steps } from './steps.js';

const note = (id, textContent) => byId(id).replaceChildren(make('p', { className: 'dim', textContent }));

export class Facts {
    #actions;
    #run;
    #steps;
    #picture;
    // Resolves when all is shown.
    shown = Promise.resolve();

    // `ask` is the compiler's, `kept` is called when the state changes, `go` with an operation that is chosen, and `choose` with
    // profiles.
    constructor(actions) {
        const { ask, kept } = actions;
        this.#actions = actions;
        this.#run = new Run({ ask, kept });
        this.#steps = new Steps({ ask, kept, request: (profile) => this.#run.request(profile) });
        this.#picture = new Picture({ ask, kept });
    }

    forget() {
        this.#run.forget();
    }

    view(id) {
        state.view = id;
        this.#actions.kept();
        return this.show();
    }

    show() {
        this.shown = this.#show();
        return this.shown;
    }

    async #show() {
        const { view } = state;
        for (const [id] of VIEWS) byId(id).hidden = id !== view;
        const label = (id, name) => (id === 'run' && isFragment() ? 'Picture' : name);
        tabs(byId('views'), VIEWS.map(([id, name]) => ({ id, label: label(id, name) })), view, (id) => this.view(id));
        if (isWrong(model.opened)) return note(view, WRONG);
        try {
            await { operation: () => this.#operation(), lanes: () => this.#lanes(), matrix: () => this.#all(), run: () => this.#runs() }[view]();
        } catch (error) {
            byId(view).replaceChildren(make('p', { className: 'bad', textContent: error.message }));
        }
    }

    // The operations of the shader, of which one is chosen.
    #chooser(parent) {
        const chosen = model.cursor;
        return make('ul', { className: 'chooser' }, ...model.opened.operations.map((operation, n) => make('li', {}, make('button', {
            type: 'button', title: operation.code, 'aria-pressed': String(n === chosen), 'data-operation': n,
            onclick: () => {
                this.#actions.go(n);
                this.shown.then(() => parent.querySelector(`[data-operation="${n}"]`)?.focus());
            },
        }, `${operation.line}  `, make('code', { textContent: operation.code })))));
    }

    async #operation() {
        const parent = byId('operation');
        if (model.opened.operations.length === 0) return note('operation', 'The shader has no cross-lane operations.');
        const { html, style } = await this.#actions.ask('explain', { operation: model.cursor });
        const report = make('div', { className: 'report' });
        const shadow = report.attachShadow({ mode: 'open' });
        // The page's own rules for the whole of a page do not hold inside.
        shadow.innerHTML = `<style>${style}\nsection { border: 0; padding: 0.6rem 0 0; }\n.source { display: none; }</style>${html}`;
        // The profile whose output is shown comes first.
        const cards = [...shadow.querySelectorAll('article')];
        const first = cards[state.profiles.indexOf(state.tab)];
        first?.parentElement.prepend(first);
        parent.replaceChildren(this.#chooser(parent), report);
    }

    async #lanes() {
        if (model.opened.operations.length === 0) return note('lanes', 'The shader has no cross-lane operations.');
        if (!isCompute()) return note('lanes', 'The simulator runs compute shaders. “Operation” shows the lanes of other stages as symbols.');
        const chooser = this.#chooser(byId('lanes'));
        try {
            await this.#steps.show(chooser);
        } catch (error) {
            byId('lanes').replaceChildren(chooser, make('p', { className: 'bad', textContent: error.message }));
        }
    }

    async #all() {
        const found = await this.#actions.ask('check');
        const toggle = (name) => {
            const isChosen = state.profiles.includes(name);
            this.#actions.choose(isChosen ? state.profiles.filter((one) => one !== name) : [...state.profiles, name], name);
        };
        matrix(byId('matrix'), found, { chosen: state.profiles, now: model.cursor, families: FAMILIES, toggle });
    }

    async #runs() {
        if (isFragment()) return this.#picture.show();
        if (!isCompute()) return note('run', 'Compute and fragment shaders run here: other stages need a pipeline around them.');
        await this.#run.show(state.profiles.map(profileOf));
    }
}
