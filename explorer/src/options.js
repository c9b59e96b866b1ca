// The options of the compilation, in a row that a button opens.

import { byId, input, labelled, select } from './dom.js';
import { OPTIONS, definitions, state } from './state.js';

const WAVES = [['', 'the profile\'s'], ['any', 'any'], ...[8, 16, 32, 64].map((lanes) => [`${lanes}..`, `${lanes} and more`]), ...[4, 8, 16, 32, 64, 128].map((lanes) => [String(lanes), String(lanes)])];
const GOALS = [['none', 'none'], ['speed', 'speed (-O)'], ['size', 'size (-Os)']];

let changed = () => {};

function set(changes) {
    state.options = { ...state.options, ...changes };
    label();
    changed();
}

// How many options are set.
function label() {
    const { defines, entry, wave, optimize } = state.options;
    const count = definitions(defines).length + [entry, wave, optimize].filter((value, n) => value !== ['', '', OPTIONS.optimize][n]).length;
    byId('options-toggle').textContent = count > 0 ? `Options (${count})` : 'Options';
}

// Shows the options of the state.
export function show() {
    const { defines, entry, wave, optimize } = state.options;
    const controls = [
        labelled('Define (-D)', input(defines, (value) => set({ defines: value }), { id: 'defines', className: 'mono', placeholder: 'NAME N=4' })),
        labelled('Wave size', select(WAVES, wave, (value) => set({ wave: value }), { id: 'wave' })),
        labelled('Optimize SPIR-V', select(GOALS, optimize, (value) => set({ optimize: value }), { id: 'optimize' })),
    ];
    if (state.name.endsWith('.wgsl')) {
        controls.splice(1, 0, labelled('Entry point', input(entry, (value) => set({ entry: value }), { id: 'entry', className: 'mono', placeholder: 'the only one' })));
    }
    byId('options').replaceChildren(...controls);
    label();
}

export function setUp(onchange) {
    changed = onchange;
    const toggle = byId('options-toggle');
    toggle.onclick = () => {
        byId('options').hidden = !byId('options').hidden;
        toggle.setAttribute('aria-expanded', String(!byId('options').hidden));
    };
}
