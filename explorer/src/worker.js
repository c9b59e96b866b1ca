// The compiler in a thread of its own. It gets the module once, then one question at a time; a panic ends the instance, and
// the next question starts a new one.

let module;
let instance;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

// The module is in the page as deflated bytes in base64.
async function unpacked(text) {
    const packed = await fetch(`data:application/octet-stream;base64,${text}`);
    const stream = packed.body.pipeThrough(new DecompressionStream('deflate-raw'));
    return WebAssembly.compileStreaming(new Response(stream, { headers: { 'content-type': 'application/wasm' } }));
}

async function exports() {
    if (!instance) {
        instance = (await WebAssembly.instantiate(module)).exports;
        instance.start();
    }
    return instance;
}

const text = (compiler, start, bytes) => decoder.decode(new Uint8Array(compiler.memory.buffer, start, bytes));

function answer(compiler, question) {
    const bytes = encoder.encode(question);
    const at = compiler.alloc(bytes.length);
    new Uint8Array(compiler.memory.buffer, at, bytes.length).set(bytes);
    const length = compiler.ask(at, bytes.length);
    return text(compiler, compiler.answer(), length);
}

// The words of a panic, else those of the engine, which ends programs that recurse too deep.
function fault(compiler, error) {
    const said = compiler.fault_len();
    return said > 0 ? text(compiler, compiler.fault(), said) : String(error);
}

self.onmessage = async ({ data: { id, wasm, question } }) => {
    try {
        if (wasm) module = await unpacked(wasm);
        const compiler = await exports();
        try {
            self.postMessage({ id, answer: wasm ? '{}' : answer(compiler, question) });
        } catch (error) {
            const why = fault(compiler, error);
            instance = undefined;
            self.postMessage({ id, fault: why });
        }
    } catch (error) {
        self.postMessage({ id, fault: String(error) });
    }
};
