// The Markdown that the compiler writes for editors: paragraphs, code, tables, and code within lines. Everything is a text node.

import { make } from './dom.js';

function inline(text) {
    return text.split(/(`[^`]+`)/).filter(Boolean).map((part) =>
        part.startsWith('`') ? make('code', { textContent: part.slice(1, -1) }) : document.createTextNode(part));
}

function row(line, cell) {
    const cells = line.replace(/^\||\|$/g, '').split('|');
    return make('tr', {}, ...cells.map((text) => make(cell, {}, ...inline(text.trim()))));
}

function table(lines) {
    const [head, , ...body] = lines;
    return make('table', {}, make('thead', {}, row(head, 'th')), make('tbody', {}, ...body.map((line) => row(line, 'td'))));
}

export function markdown(text) {
    const about = make('div', { className: 'about' });
    for (const part of text.split(/(```\w*\n[\s\S]*?\n```)|\n\n/).filter(Boolean)) {
        const code = part.match(/^```\w*\n([\s\S]*?)\n```$/);
        const lines = part.trim().split('\n');
        if (code) about.append(make('pre', { textContent: code[1] }));
        else if (lines[0].startsWith('|')) about.append(table(lines));
        else about.append(make('p', {}, ...inline(part.trim())));
    }
    return about;
}
