// Runs: the simulator over chosen buffers, and the browser's GPU beside it.

import { byId, input, labelled, make, select } from './dom.js';
import { device, run as runOn } from './gpu.js';
import { plot } from './plot.js';
import { state } from './state.js';

const SHOWN = 256;
const ROW = 8;
const TYPES = ['f32', 'u32', 'i32', 'f16', 'u16', 'i16', 'u8', 'i8', 'f64', 'u64', 'i64'];
const SIZES = [4, 8, 16, 32, 64];

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
    #kept;
    #verdict = null;
    #lastGpu = 0;

    // `kept` is called when the state changes.
    constructor({ ask, kept }) {
        this.#ask = ask;
        this.#kept = kept;
    }

    // Forgets what belongs to another shader.
    forget() {
        this.#verdict = null;
    }

    // The run that the state describes, on a profile.
    request(profile, lanes = state.lanes ?? 32) {
        const { fills, types, groups, push } = state;
        return { profile, lanes, groups, fills, push, types, shown: SHOWN };
    }

    // Runs the shader as it is in the compiler, and shows what came of it.
    async show(profiles, gpuLanes) {
        const machine = profiles.find(({ name }) => name === state.machine) ?? profiles[0];
        const request = this.request(machine.name);
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
        Object.assign(state, changes);
        this.#kept();
        this.show(profiles);
    }

    #draw(answer, machine, profiles) {
        const { groups, push } = state;
        const set = (changes) => this.#set(changes, profiles);
        const group = (n) => input(groups[n], (value) => set({ groups: groups.map((old, at) => (at === n ? Math.max(1, Number(value) | 0) : old)) }), { type: 'number', min: 1, 'aria-label': `Workgroups in ${'xyz'[n]}` });
        const controls = make('div', { className: 'controls' },
            labelled('Simulated as', select(profiles.map(({ name }) => name), machine.name, (value) => set({ machine: value }))),
            machine.waveSize || Number(state.options.wave) ? null : labelled('Lanes', select(SIZES, answer.lanes, (value) => set({ lanes: Number(value) }))),
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
        const change = (key, value) => set({ [key]: { ...state[key], [slot]: value } });
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
            const { gpu, name, lanes, least, size } = await device();
            const wgsl = await this.#ask('wgsl', { lanes: size });
            const where = `${name} (${lanes} lanes)`;
            if (!wgsl.text) {
                say('bad', `Not on ${where}: ${wgsl.refused}`);
            } else {
                const { groups } = state;
                const simulated = await this.#ask('run', this.request('wgsl', lanes));
                if (simulated.fault) {
                    say('bad', `Not run on ${where}, as the simulator says: ${simulated.fault}`);
                } else {
                    const { text, entry } = wgsl;
                    const reflection = JSON.parse(wgsl.reflection);
                    const words = await runOn(gpu, { text, entry, reflection, least, groups, buffers: simulated.buffers });
                    const different = await this.#ask('compare', { words, within: state.within ?? 1e-5 });
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
