// A buffer's numbers before and after a run, as two lines.

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, MARGIN] = [600, 100, 4];

function path(numbers, [low, high], className) {
    const step = WIDTH / Math.max(numbers.length - 1, 1);
    const y = (value) => HEIGHT - MARGIN - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * MARGIN);
    let d = '';
    let pen = 'M';
    numbers.forEach((value, n) => {
        if (!Number.isFinite(value)) {
            pen = 'M';
            return;
        }
        d += `${pen}${(n * step).toFixed(1)} ${y(value).toFixed(1)}`;
        pen = 'L';
    });
    const element = document.createElementNS(SVG, 'path');
    element.setAttribute('class', className);
    element.setAttribute('d', d);
    return element;
}

// A picture of two lists of numbers as text; null where there is nothing to see.
export function plot(before, after, name) {
    const lists = [before, after].map((cells) => cells.map(Number));
    const all = lists.flat().filter(Number.isFinite);
    if (all.length === 0 || Math.max(...lists.map((list) => list.length)) < 2) return null;
    const range = [Math.min(...all), Math.max(...all)];
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('class', 'plot');
    svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', `${name} before and after the run, from ${range[0]} to ${range[1]}`);
    svg.append(path(lists[0], range, 'before'));
    if (after.length > 0) svg.append(path(lists[1], range, 'after'));
    return svg;
}
