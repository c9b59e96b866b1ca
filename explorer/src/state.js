// What the page shows: the reader's choices, and what the compiler said last.

import examples from '../examples/index.json';
import sources from 'examples';

export const USUAL = ['gfx1100-wave32', 'nv-hopper', 'ptx-sm80', 'spirv-1.6', 'wgsl'];
export const VIEWS = [['operation', 'Operation'], ['lanes', 'Lanes'], ['matrix', 'All profiles'], ['run', 'Run']];
export const FAMILIES = { spirv: 'SPIR-V', nv: 'NVIDIA assembly', amd: 'AMD', ptx: 'CUDA', wgsl: 'WGSL', glsl: 'GLSL', hlsl: 'HLSL', msl: 'Metal' };
export const OPTIONS = { defines: '', entry: '', wave: '', optimize: 'none' };
export const GROUPS = [1, 1, 1];

// The choices; `name` is the file that is compiled, and `shown` the one in the editor.
export const state = {
    files: [], name: '', shown: '', profiles: USUAL, tab: undefined, against: '', view: 'operation', options: OPTIONS,
    machine: undefined, lanes: undefined, groups: GROUPS, fills: {}, types: {}, push: '', within: undefined,
    execution: 0, step: 0,
};

// The compiler's answers. `cursor` and `pointer` are the numbers of operations, or null; `version` is that of the texts that
// `opened` is about.
export const model = {
    choices: { profiles: [], kinds: [] },
    opened: { files: [], messages: [], tokens: {}, classes: [], operations: [], outputs: [] },
    version: undefined,
    cursor: null,
    pointer: null,
};

export const profileOf = (name) => model.choices.profiles.find((profile) => profile.name === name);

// True if the ending of a name says a language and a stage.
export const isShader = (name) => name.split('.').slice(1).some((part) => model.choices.kinds.some(([ending]) => ending === part));

export const isFragment = () => model.opened.stage === 'frag';
export const isCompute = () => model.opened.stage === 'comp';

// The operation of interest.
export const now = () => model.pointer ?? model.cursor;

// Definitions as `-D` has them, apart by spaces; quotes keep spaces together.
export function definitions(text) {
    const words = text.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
    return words.map((word) => word.replace(/["']/g, '').replace(/^-D/, '')).filter(Boolean);
}

// The question about a shader for some profiles.
export function question(files, profiles = state.profiles) {
    const { defines, entry, wave, optimize } = state.options;
    const { name } = state;
    const { text } = files.find((file) => file.name === name);
    const options = { defines: definitions(defines), entry, wave, optimize };
    return { name, text, files: files.filter((file) => file.name !== name), profiles, options };
}

// Puts one file in the place of all, with the choices that belong to it.
export function begin(files, { fills = {}, groups = GROUPS, within } = {}) {
    const [{ name }] = files;
    Object.assign(state, {
        files, name, shown: name, fills, groups, within, types: {}, push: '', machine: undefined, options: OPTIONS, execution: 0, step: 0,
    });
}

// An example's files: itself, and what its row names beside it.
export function example(name) {
    const row = examples.find(({ file }) => file === name);
    const files = [name, ...(row.includes ?? [])].map((file) => ({ name: file, text: sources[file] }));
    return { files, row };
}

// The name of the example that the files are, or nothing.
export function exampleOf(files) {
    const text = JSON.stringify(files);
    return examples.find(({ file }) => JSON.stringify(example(file).files) === text)?.file ?? '';
}
