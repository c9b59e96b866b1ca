// Light, dark, or as the system; the choice is kept where the browser keeps it.

const THEMES = ['auto', 'light', 'dark'];
// The order of the button: the first press changes what is seen.
const turns = () => (matchMedia('(prefers-color-scheme: dark)').matches ? THEMES : ['auto', 'dark', 'light']);
const NAMES = { auto: 'Auto', light: 'Light', dark: 'Dark' };
const WORDS = { auto: 'as the system', light: 'light', dark: 'dark' };

function kept() {
    try {
        return localStorage.getItem('theme') ?? 'auto';
    } catch {
        return 'auto';
    }
}

export function theme(button) {
    let now = THEMES.includes(kept()) ? kept() : 'auto';
    const show = () => {
        document.documentElement.dataset.theme = now;
        button.textContent = NAMES[now];
        button.setAttribute('aria-label', `Colours: ${WORDS[now]}`);
        try {
            localStorage.setItem('theme', now);
        } catch {
            // A page without storage asks the system each time.
        }
    };
    button.onclick = () => {
        const order = turns();
        now = order[(order.indexOf(now) + 1) % order.length];
        show();
    };
    show();
}
