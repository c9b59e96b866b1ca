// Small helpers for elements.

// An element with properties and children; names with a dash and `role` become attributes.
export function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key.includes('-') || key === 'role' || key === 'scope' || key === 'colspan') element.setAttribute(key, value);
        else element[key] = value;
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

export const byId = (id) => document.getElementById(id);

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
    if (now && now.offsetLeft + now.offsetWidth > list.scrollLeft + list.clientWidth) list.scrollLeft = now.offsetLeft;
}
