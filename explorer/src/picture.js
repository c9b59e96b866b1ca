// The picture of a fragment shader, drawn on the browser's GPU by way of the profile `wgsl`.

import { byId, input, labelled, make } from './dom.js';
import { SIDE, draw } from './draw.js';
import { device } from './gpu.js';
import { state } from './state.js';

export class Picture {
    #ask;
    #kept;
    #turn = 0;

    constructor({ ask, kept }) {
        this.#ask = ask;
        this.#kept = kept;
    }

    async show() {
        const turn = ++this.#turn;
        let made;
        try {
            made = await this.#made();
        } catch (error) {
            made = { parts: [make('p', { className: 'verdict bad', id: 'run-fault', textContent: error.message })] };
        }
        if (turn === this.#turn) byId('run').replaceChildren(...made.parts);
    }

    // The canvas, and the controls of what the shader reads.
    async #made() {
        const { gpu, name, lanes, size } = await device();
        const drawing = await this.#ask('draw', { lanes: size, fills: state.fills });
        if (!drawing.text) throw new Error(`Not on ${name} (${lanes} lanes): ${drawing.refused}`);
        const reflection = JSON.parse(drawing.reflection);
        const canvas = make('canvas', { id: 'picture', width: SIDE, height: SIDE, role: 'img', 'aria-label': `The picture that ${state.name} draws` });
        const controls = drawing.buffers.map((filled, n) => this.#buffer(filled, reflection.buffers[n]));
        const parts = [make('div', { className: 'picture' }, canvas, make('div', { className: 'about-picture' }, this.#words(reflection, name), ...controls))];
        try {
            const pixels = await draw(gpu, drawing, reflection);
            canvas.getContext('2d', { willReadFrequently: true }).putImageData(new ImageData(pixels, SIDE, SIDE), 0, 0);
        } catch (error) {
            parts.unshift(make('p', { className: 'verdict bad', id: 'run-fault', textContent: error.message }));
        }
        return { parts };
    }

    #words({ inputs, images = [] }, name) {
        const places = inputs.filter(({ location }) => location !== undefined).map((one) => one.name);
        const lines = [`Drawn by ${name}, ${SIDE} by ${SIDE} pixels.`];
        if (places.length > 0) lines.push(`${places.join(', ')}: from 0 at the left and the top to 1 at the right and the bottom.`);
        if (images.length > 0) lines.push(`${images.map((image) => image.name).join(', ')}: a test pattern.`);
        return make('div', {}, ...lines.map((textContent) => make('p', { className: 'dim', textContent })));
    }

    #buffer({ slot, fill }, { name, bytes }) {
        const set = (value) => {
            state.fills = { ...state.fills, [slot]: value };
            this.#kept();
            this.show();
        };
        const field = input(fill, set, { className: 'mono', 'aria-label': `Contents of ${name}` });
        return make('section', { className: 'buffer', 'aria-label': `Buffer ${name}` }, labelled(`${name}, binding ${slot}${bytes > 0 ? `, ${bytes} bytes` : ''}`, field));
    }
}
