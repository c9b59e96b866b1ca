// Which profiles can run the shader, operation by operation.

import { make } from './dom.js';

const reason = (support) => (support.status === 'no' ? support.reason : '');

function cell(support, isNow) {
    const words = {
        yes: () => (support.instructions > 1 ? `${support.instructions} instr` : 'yes'),
        spanning: () => `${support.subgroups} subgroups`,
        gone: () => 'free',
        no: () => 'no',
        absent: () => '–',
    }[support.status]();
    const className = [support.status === 'no' ? 'no' : '', isNow ? 'now' : ''].join(' ').trim();
    return make('td', { textContent: words, title: reason(support), className });
}

function row(matrix, n, { chosen, now, toggle }) {
    const profile = matrix.profiles[n];
    const isChosen = chosen.includes(profile.name);
    const name = make('button', {
        type: 'button', textContent: profile.name, title: profile.description, 'aria-pressed': String(isChosen),
        onclick: () => toggle(profile.name),
    });
    const head = make('th', { scope: 'row' }, name);
    if (profile.refused) {
        return make('tr', {}, head, make('td', { className: 'no', colspan: matrix.operations.length || 1, textContent: `no: ${profile.refused}`, title: profile.refused }));
    }
    const cells = matrix.operations.map((operation, at) => cell(operation.profiles[n], at === now));
    if (cells.length === 0) cells.push(make('td', { textContent: matrix.can[n] ? 'yes' : 'no' }));
    return make('tr', {}, head, ...cells);
}

export function matrix(parent, { matrix: found, error }, options) {
    if (!found) return parent.replaceChildren(make('p', { className: 'bad', textContent: error }));
    const able = found.can.filter(Boolean).length;
    const heads = found.operations.map(({ place }) => make('th', { scope: 'col', title: place.code }, make('span', { className: 'dim', textContent: `${place.line} ` }), make('code', { textContent: place.code.length > 22 ? `${place.code.slice(0, 21)}…` : place.code })));
    const body = make('tbody');
    let family = '';
    found.profiles.forEach((profile, n) => {
        if (profile.target !== family) {
            family = profile.target;
            body.append(make('tr', { className: 'family' }, make('th', { scope: 'rowgroup', textContent: options.families[family] ?? family })));
        }
        body.append(row(found, n, options));
    });
    parent.replaceChildren(
        make('p', { textContent: able === found.can.length ? 'Every profile can run it.' : `${able} of ${found.can.length} profiles can run it.` }),
        make('table', {}, make('thead', {}, make('tr', {}, make('th', { scope: 'col', textContent: 'profile' }), ...heads)), body),
    );
}
