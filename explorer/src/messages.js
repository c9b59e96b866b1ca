// The compiler's messages, each in one place: the list below the editor. Other parts of the page lead there.

import { make } from './dom.js';
import { state } from './state.js';

export const WRONG = 'The shader is wrong: see the messages.';

const isError = ({ severity }) => severity === 'error';

// True if no profile has the shader because of an error that is not about single profiles.
export const isWrong = ({ messages: all }) => all.some((message) => isError(message) && !message.profiles?.length);

// One message for all that say the same of several profiles: it is at one place and has one code.
function grouped(all) {
    const groups = new Map();
    for (const message of all) {
        const { file, from, to, code, profiles } = message;
        const key = profiles?.length ? JSON.stringify([file, from, to, code]) : message;
        groups.set(key, [...(groups.get(key) ?? []), message]);
    }
    return [...groups.values()];
}

function others(group) {
    const names = group.slice(1).flatMap(({ profiles }) => profiles);
    if (names.length === 0) return null;
    return make('small', { textContent: ` and the same on ${names.join(', ')}`, title: group.map(({ title }) => title).join('\n') });
}

// The line, with the file where that is another one.
const place = ({ file, line }) => (file === state.shown ? line : `${file}:${line}`);

export function messages(list, all, go) {
    list.replaceChildren(...grouped(all).map((group) => make('li', {},
        make('button', { type: 'button', className: group[0].severity, onclick: () => go(group[0]) },
            make('span', { textContent: place(group[0]) }), group[0].title, others(group)))));
}

// Why a profile has no output: a word, and the way to the message.
export function refusal(opened, output, go) {
    if (isWrong(opened) || !output) return [WRONG];
    const about = opened.messages.find((message) => isError(message) && message.profiles?.includes(output.profile));
    if (!about) return [output.refused ?? 'No output.'];
    return [`There is no output for ${output.profile}: `, make('button', { type: 'button', textContent: `see line ${place(about)}`, onclick: () => go(about) })];
}
