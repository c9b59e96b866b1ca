// The lanes of one operation in a run, step by step: a slider moves through the steps, and every lane shows its value.

import { byId, input, labelled, make } from './dom.js';
import { model, state } from './state.js';

const PARTS = ['x', 'y', 'z', 'w'];

// Which execution it is, in words.
function where({ workgroup, wave, part, round }, all) {
    const words = [`workgroup ${workgroup.join(', ')}`, `wave ${wave}`];
    if (all.some((one) => one.part > 0)) words.push(`part ${PARTS[part] ?? part}`);
    if (all.some((one) => one.round > 0)) words.push(`round ${round}`);
    return words.join(', ');
}

// The lanes that a value came from, where that is more than one symbol.
function origin(text) {
    if (/^\d+$/.test(text)) return `lane ${text}`;
    return /^\d/.test(text) ? `lanes ${text}` : '';
}

function cell(executed, step, lane) {
    const { values, origins, sources } = executed.rows[step];
    const isActive = executed.active[lane];
    const from = sources[lane];
    const isMoved = from !== undefined && from !== null && from !== lane;
    const value = values[lane] || (isActive ? '?' : '–');
    const isChanged = isActive && step > 0 && executed.rows[step - 1].values[lane] !== values[lane];
    const of = isMoved ? `← ${from}` : origin(origins[lane] ?? '');
    const words = [`lane ${lane}`, isActive ? value : 'inactive', isMoved ? `from lane ${from}` : of].filter(Boolean).join(', ');
    const className = [isActive ? '' : 'inactive', isMoved ? 'moved' : isChanged ? 'changed' : ''].join(' ').trim();
    return make('li', { className, title: words, 'aria-label': words, 'data-lane': lane, 'data-from': isMoved ? from : '' },
        make('span', { className: 'number', textContent: lane }), make('span', { className: 'value mono', textContent: value }),
        make('span', { className: 'from', textContent: isActive ? of : 'inactive' }));
}

// Marks the lane that the one under the pointer reads.
function point(grid, event) {
    for (const old of grid.querySelectorAll('.read')) old.classList.remove('read');
    const from = event.target.closest('[data-from]')?.dataset.from;
    if (from) grid.querySelector(`[data-lane="${from}"]`)?.classList.add('read');
}

export class Steps {
    #ask;
    #request;
    #kept;
    #turn = 0;

    // `request` makes the run of a profile; `kept` is called when the choices change.
    constructor({ ask, request, kept }) {
        this.#ask = ask;
        this.#request = request;
        this.#kept = kept;
    }

    async show(chooser) {
        const turn = ++this.#turn;
        const question = (execution) => this.#ask('steps', { operation: model.cursor, execution, run: this.#request(state.tab) });
        let answer = await question(state.execution);
        if (!answer.executed && state.execution > 0) {
            state.execution = 0;
            answer = await question(0);
        }
        if (turn === this.#turn) this.#draw(chooser, answer);
    }

    #draw(chooser, { executions, executed, fault }) {
        const parent = byId('lanes');
        const problem = fault ? make('p', { className: 'verdict bad', textContent: fault }) : null;
        if (!executed) {
            const why = executions.length === 0 ? 'The run does not reach this operation.' : 'This operation gives its lanes no value.';
            return parent.replaceChildren(...[chooser, problem, make('p', { className: 'dim', textContent: why })].filter(Boolean));
        }
        state.step = Math.min(state.step, executed.rows.length - 1);
        const grid = make('ol', { className: 'grid', 'aria-label': 'Lanes', onmouseover: (event) => point(grid, event), onmouseleave: (event) => point(grid, event) });
        const title = make('output', { className: 'step', id: 'step-name', 'aria-live': 'polite' });
        const slider = make('input', { type: 'range', id: 'step', min: 0, max: executed.rows.length - 1, value: state.step, 'aria-label': 'Step', oninput: () => go(Number(slider.value)) });
        const back = make('button', { type: 'button', textContent: '‹', 'aria-label': 'Step before', onclick: () => go(state.step - 1) });
        const next = make('button', { type: 'button', textContent: '›', 'aria-label': 'Next step', id: 'next-step', onclick: () => go(state.step + 1) });
        const go = (step) => {
            state.step = Math.max(0, Math.min(step, executed.rows.length - 1));
            slider.value = state.step;
            slider.setAttribute('aria-valuetext', executed.rows[state.step].label);
            back.disabled = state.step === 0;
            next.disabled = state.step === executed.rows.length - 1;
            title.replaceChildren(make('span', { className: 'dim', textContent: `${state.step + 1} of ${executed.rows.length} ` }), make('code', { textContent: executed.rows[state.step].label }));
            grid.replaceChildren(...executed.active.map((_, lane) => cell(executed, state.step, lane)));
            this.#kept();
        };
        go(state.step);
        const stepper = make('div', { className: 'stepper' }, back, slider, next, title);
        parent.replaceChildren(...[chooser, this.#execution(executions), problem, stepper, grid].filter(Boolean));
    }

    // The choice of the execution.
    #execution(executions) {
        const words = make('span', { className: 'dim', textContent: `${state.tab}: ${where(executions[state.execution], executions)}` });
        if (executions.length === 1) return make('p', { className: 'execution' }, words);
        const set = (value) => {
            state.execution = Math.max(0, Math.min(Number(value) - 1 || 0, executions.length - 1));
            this.#kept();
            this.show(byId('lanes').firstChild).then(() => byId('execution')?.focus());
        };
        const field = input(state.execution + 1, set, { type: 'number', min: 1, max: executions.length, id: 'execution' });
        return make('p', { className: 'execution controls' }, labelled('Execution', field), make('span', { className: 'dim', textContent: `of ${executions.length}` }), words);
    }
}
