const tell = (words) => fetch("/tell?" + encodeURIComponent(String(words))).catch(() => 0);
const begin = (attack) => attack().catch(tell).finally(() => fetch("/over"));
