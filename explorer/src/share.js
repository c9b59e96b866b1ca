// The page's state in the fragment of its address: JSON, deflated, in base64 for addresses.

async function through(bytes, stream) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function packed(state) {
    const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'));
    const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

// The state of a fragment; null for others.
export async function unpacked(fragment) {
    const text = fragment.match(/^#s=([\w-]+)$/)?.[1];
    if (!text) return null;
    try {
        const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
        const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
        const json = await through(bytes, new DecompressionStream('deflate-raw'));
        return checked(JSON.parse(new TextDecoder().decode(json)));
    } catch {
        return null;
    }
}

// Fragments come from anywhere: what is not of the right type is dropped.
function checked(state) {
    const { name, text, profiles } = state ?? {};
    if (typeof name !== 'string' || typeof text !== 'string' || !Array.isArray(profiles)) return null;
    const word = (value) => (typeof value === 'string' ? value : undefined);
    const run = typeof state.run === 'object' && state.run ? state.run : {};
    const groups = Array.isArray(run.groups) && run.groups.length === 3 ? run.groups.map((n) => Number(n) || 1) : [1, 1, 1];
    const words = (object) => Object.fromEntries(Object.entries(object ?? {}).filter(([, value]) => typeof value === 'string'));
    return {
        name, text, groups,
        profiles: profiles.filter((profile) => typeof profile === 'string'),
        tab: word(state.tab), view: word(state.view), machine: word(run.machine), push: word(run.push) ?? '',
        lanes: Number(run.lanes) || undefined, fills: words(run.fills), types: words(run.types),
    };
}
