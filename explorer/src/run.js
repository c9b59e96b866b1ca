// Runs: the simulator over chosen buffers, and the browser's GPU beside it.

import { byId, make } from './dom.js';
import { device, run as runOn } from './gpu.js';
import { plot } from './plot.js';

const SHOWN = 256;
const ROW = 8;
const TYPES = ['f32', 'u32', 'i32', 'f16', 'u16', 'i16', 'u8', 'i8', 'f64', 'u64', 'i64'];
const SIZES = [4, 8, 16, 32, 64];

function labelled(text, control) {
    return make('label', {}, text, control);
}

function select(items, chosen, onchange) {
    return make('select', { onchange: (event) => onchange(event.target.value) },
        ...items.map((item) => make('option', { value: item, textContent: item, selected: String(item) === String(chosen) })));
}

function input(value, onchange, properties = {}) {
    return make('input', { value, onchange: (event) => onchange(event.target.value), spellcheck: false, ...properties });
}

// Numbers in rows of eight, those of the other machine in lines of their own where they differ.
function numbers(before, after, other) {
    const cells = after.length > 0 ? after : before;
    const rows = [];
    for (let at = 0; at < cells.length; at += ROW) {
        const part = cells.slice(at, at + ROW);
        const changed = (cell, n) => (after.length > 0 && cell !== before[at + n] ? 'changed' : '');
        rows.push(make('tr', {}, make('th', { scope: 'row', textContent: at }), ...part.map((cell, n) => make('td', { textContent: cell, className: changed(cell, n), title: after.length > 0 ? `before: ${before[at + n]}` : '' }))));
    }
    return make('div', { className: 'numbers', tabIndex: 0 }, make('table', { className: 'mono' }, make('tbody', {}, ...rows)));
}

export class Run {
    #ask;
    #state;
    #kept;
    #verdict = null;
    #lastGpu = 0;

    // `state` is what the page keeps and shares; `kept` is called when it changes.
    constructor({ ask, state, kept }) {
        this.#ask = ask;
        this.#state = state;
        this.#kept = kept;
    }

    // Forgets what belongs to another shader.
    forget() {
        Object.assign(this.#state, { fills: {}, types: {}, groups: [1, 1, 1], push: '', machine: undefined });
        this.#verdict = null;
    }

    // Runs the shader as it is in the compiler, and shows what came of it.
    async show(profiles, gpuLanes) {
        const { fills, types, groups, push } = this.#state;
        const machine = profiles.find(({ name }) => name === this.#state.machine) ?? profiles[0];
        const request = { profile: machine.name, lanes: this.#state.lanes ?? 32, groups, fills, push, types, shown: SHOWN };
        let answer;
        try {
            answer = await this.#ask('run', request);
        } catch (error) {
            answer = { buffers: [], fault: error.message, lanes: request.lanes, pushBytes: 0 };
        }
        if (gpuLanes === undefined) this.#verdict = null;
        this.#draw(answer, machine, profiles);
        return answer;
    }

    #set(changes, profiles) {
        Object.assign(this.#state, changes);
        this.#kept();
        this.show(profiles);
    }

    #draw(answer, machine, profiles) {
        const { groups, push } = this.#state;
        const set = (changes) => this.#set(changes, profiles);
        const group = (n) => input(groups[n], (value) => set({ groups: groups.map((old, at) => (at === n ? Math.max(1, Number(value) | 0) : old)) }), { type: 'number', min: 1, 'aria-label': `Workgroups in ${'xyz'[n]}` });
        const controls = make('div', { className: 'controls' },
            labelled('Simulated as', select(profiles.map(({ name }) => name), machine.name, (value) => set({ machine: value }))),
            machine.waveSize ? null : labelled('Lanes', select(SIZES, answer.lanes, (value) => set({ lanes: Number(value) }))),
            labelled('Workgroups', make('span', {}, group(0), ' ', group(1), ' ', group(2))),
            answer.pushBytes > 0 ? labelled('Push constants', input(push, (value) => set({ push: value }), { placeholder: 'f32:1,2' })) : null,
            make('button', { type: 'button', id: 'gpu', textContent: 'Compare with my GPU', onclick: () => this.compare(profiles) }),
        );
        const fault = answer.fault ? make('p', { className: 'verdict bad', id: 'run-fault', textContent: answer.fault }) : null;
        const buffers = answer.buffers.map((buffer) => this.#buffer(buffer, set));
        byId('run').replaceChildren(...[controls, this.#verdict, fault, ...buffers].filter(Boolean));
    }

    #buffer(buffer, set) {
        const { slot, name, isUniform, isWritable, bytes, fill, ty, before, after } = buffer;
        const kind = isUniform ? 'uniform' : isWritable ? 'read and written' : 'read';
        const change = (key, value) => set({ [key]: { ...this.#state[key], [slot]: value } });
        const shown = isWritable ? after : [];
        const count = bytes / ({ f: 1, u: 1, i: 1 }[ty[0]] * (Number(ty.slice(1)) / 8));
        return make('section', { className: 'buffer', 'aria-label': `Buffer ${name}` },
            make('h3', {}, name, make('span', { textContent: ` binding ${slot}, ${kind}, ${bytes} bytes${count > SHOWN ? `, the first ${SHOWN} of ${count} numbers` : ''}` })),
            make('div', { className: 'inputs' },
                labelled('Before', input(fill, (value) => change('fills', value), { className: 'mono' })),
                labelled('Shown as', select(TYPES, ty, (value) => change('types', value)))),
            plot(before, shown, name),
            make('div', { className: 'legend' }, make('span', { textContent: 'before' }), shown.length > 0 ? make('span', { className: 'after', textContent: 'after' }) : null),
            numbers(before, shown));
    }

    // Runs the shader on the GPU and in the simulator with as many lanes, and compares all buffers.
    async compare(profiles) {
        const turn = ++this.#lastGpu;
        const say = (className, text) => {
            if (turn === this.#lastGpu) this.#verdict = make('p', { className: `verdict ${className}`, id: 'verdict', role: 'status', textContent: text });
        };
        try {
            const { gpu, name, lanes } = await device();
            const wgsl = await this.#ask('wgsl', { lanes });
            const where = `${name} (${lanes} lanes)`;
            if (!wgsl.text) {
                say('bad', `Not on ${where}: ${wgsl.refused}`);
            } else {
                const { fills, types, groups, push } = this.#state;
                const request = { profile: 'wgsl', lanes, groups, fills, push, types, shown: SHOWN };
                const simulated = await this.#ask('run', request);
                if (simulated.fault) {
                    say('bad', `Not run on ${where}, as the simulator says: ${simulated.fault}`);
                } else {
                    const words = await runOn(gpu, { text: wgsl.text, entry: wgsl.entry, groups, buffers: simulated.buffers });
                    const different = await this.#ask('compare', { words, within: this.#state.within ?? 1e-5 });
                    if (different.length === 0) say('good', `${where} and the simulator agree in ${words.length === 1 ? 'the buffer' : `all ${words.length} buffers`}.`);
                    else say('bad', `${where} and the simulator differ.\n${different.map(({ slot, text }) => `Binding ${slot}: ${text} (here: the simulator)`).join('\n')}`);
                }
            }
        } catch (error) {
            say('bad', error.message);
        }
        await this.show(profiles, 0);
    }
}
