// The list of profiles, of which some are chosen.

import { byId, make } from './dom.js';
import { FAMILIES, model, state } from './state.js';

function box({ name, description }) {
    const check = make('input', { type: 'checkbox', value: name, checked: state.profiles.includes(name) });
    return make('label', { title: description }, check, name);
}

function filter() {
    const words = byId('filter').value.toLowerCase();
    for (const label of byId('list').querySelectorAll('label')) {
        label.hidden = !`${label.textContent} ${label.title}`.toLowerCase().includes(words);
    }
    for (const set of byId('list').querySelectorAll('fieldset')) set.hidden = !set.querySelector('label:not([hidden])');
}

export function setUp(choose) {
    const dialog = byId('profiles');
    byId('filter').oninput = filter;
    byId('cancel').onclick = () => dialog.close();
    dialog.onclose = () => {
        if (dialog.returnValue === 'done') choose([...byId('list').querySelectorAll('input:checked')].map(({ value }) => value));
    };
    byId('choose').onclick = () => {
        const families = Object.groupBy(model.choices.profiles, ({ target }) => target);
        byId('list').replaceChildren(...Object.entries(families).map(([family, list]) =>
            make('fieldset', {}, make('legend', { textContent: FAMILIES[family] ?? family }), ...list.map(box))));
        byId('filter').value = '';
        // Escape closes it without a value, and then nothing changes.
        dialog.returnValue = '';
        dialog.showModal();
    };
}
