// Small helpers for elements.

const ATTRIBUTES = ['role', 'scope', 'colspan', 'popover', 'for'];

// An element with properties and children; names with a dash and those above become attributes.
export function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key.includes('-') || ATTRIBUTES.includes(key)) element.setAttribute(key, value);
        else element[key] = value;
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

export const byId = (id) => document.getElementById(id);

// A control below or beside its name.
export function labelled(text, control) {
    return make('label', {}, text, control);
}

// A choice among values, or pairs of a value and its name.
export function select(items, chosen, onchange, properties = {}) {
    const pairs = items.map((item) => (Array.isArray(item) ? item : [item, item]));
    return make('select', { onchange: (event) => onchange(event.target.value), ...properties },
        ...pairs.map(([value, textContent]) => make('option', { value, textContent, selected: String(value) === String(chosen) })));
}

export function input(value, onchange, properties = {}) {
    return make('input', { value, onchange: (event) => onchange(event.target.value), spellcheck: false, autocomplete: 'off', ...properties });
}

// Scrolls a list so far that an element of it is seen.
export function bringInto(list, element) {
    const [inner, outer] = [element.getBoundingClientRect(), list.getBoundingClientRect()];
    if (inner.left < outer.left) list.scrollLeft -= outer.left - inner.left;
    else if (inner.right > outer.right) list.scrollLeft += inner.right - outer.right;
}

// A list of tabs: arrows move among them, and one is reached by the Tab key.
export function tabs(list, items, chosen, choose) {
    const had = list.contains(document.activeElement);
    list.replaceChildren(...items.map(({ id, label, title, className }) => make('button', {
        type: 'button', role: 'tab', textContent: label, title: title ?? '', className: className ?? '',
        tabIndex: id === chosen ? 0 : -1, 'aria-selected': String(id === chosen), onclick: () => choose(id), 'data-id': id,
    })));
    list.onkeydown = (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const at = items.findIndex(({ id }) => id === chosen);
        const next = items[(at + step + items.length) % items.length];
        choose(next.id);
        list.querySelector(`[data-id="${CSS.escape(next.id)}"]`)?.focus();
        event.preventDefault();
    };
    const now = list.querySelector('[aria-selected="true"]');
    if (had) now?.focus();
    if (now) bringInto(list, now);
}

// Keeps a popover at its button, within the page.
function place(popover, button) {
    const { left, right, top, bottom } = button.getBoundingClientRect();
    const { width, height } = popover.getBoundingClientRect();
    popover.style.left = `${Math.max(8, Math.min(left, right - width < 8 ? left : right - width, innerWidth - width - 8))}px`;
    popover.style.top = `${bottom + height + 8 > innerHeight ? Math.max(8, top - height - 4) : bottom + 4}px`;
}

// Makes a button open a menu of actions: pairs of a name and a function, made anew each time.
export function menu(button, items) {
    const list = make('div', { role: 'menu', popover: 'auto', className: 'menu', 'aria-label': button.textContent });
    button.after(list);
    button.setAttribute('aria-haspopup', 'menu');
    button.popoverTargetElement = list;
    list.addEventListener('beforetoggle', ({ newState }) => {
        if (newState !== 'open') return;
        list.replaceChildren(...items().map(([name, act]) => make('button', {
            type: 'button', role: 'menuitem', textContent: name, tabIndex: -1,
            onclick: () => {
                list.hidePopover();
                button.focus();
                act();
            },
        })));
    });
    list.addEventListener('toggle', ({ newState }) => {
        button.setAttribute('aria-expanded', String(newState === 'open'));
        if (newState !== 'open') return;
        place(list, button);
        list.firstElementChild?.focus();
    });
    list.onkeydown = (event) => {
        const all = [...list.children];
        const at = all.indexOf(document.activeElement);
        const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
        if (next === undefined) return;
        all.at(next % all.length).focus();
        event.preventDefault();
    };
}
