// The compiler as promises. Questions are answered in their order; a worker that does not answer is replaced.

const PATIENCE = 20_000;

export class Compiler {
    #script;
    #wasm;
    #worker;
    #waiting = new Map();
    #last = 0;
    // Called with the words of a fault of the compiler.
    onfault = () => {};

    constructor(script, wasm) {
        this.#script = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
        this.#wasm = wasm;
    }

    // Starts the worker.
    start() {
        this.#worker = new Worker(this.#script);
        this.#worker.onmessage = ({ data }) => this.#settle(data);
        this.#worker.onerror = (event) => this.#restart(event.message);
        return this.#send({ wasm: this.#wasm });
    }

    // The answer to a question; throws with the reason where there is none.
    async ask(ask, details = {}) {
        const answer = JSON.parse(await this.#send({ question: JSON.stringify({ ask, ...details }) }));
        // The compiler's word on a question, not a fault of it.
        if (answer?.error && Object.keys(answer).length === 1) throw Object.assign(new Error(answer.error), { isAnswer: true });
        return answer;
    }

    #send(message) {
        const id = ++this.#last;
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => this.#restart('it does not answer'), PATIENCE);
            this.#waiting.set(id, { resolve, reject, timer });
            this.#worker.postMessage({ id, ...message });
        });
    }

    #settle({ id, answer, fault }) {
        const { resolve, reject, timer } = this.#waiting.get(id) ?? {};
        if (!resolve) return;
        this.#waiting.delete(id);
        clearTimeout(timer);
        if (fault === undefined) return resolve(answer);
        this.onfault(fault);
        reject(new Error(fault));
    }

    #restart(why) {
        this.#worker.terminate();
        const waiting = [...this.#waiting.values()];
        this.#waiting.clear();
        for (const { timer, reject } of waiting) {
            clearTimeout(timer);
            reject(new Error(why));
        }
        this.onfault(why);
        this.start().catch(() => {});
    }
}
