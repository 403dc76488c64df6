// What is new, for who listens to the page in place of looking at it: at most one text in a few seconds, and only the newest.
const PAUSE_MS = 4000;

let waiting = null;
let resting = false;

function next() {
  resting = false;
  if (waiting === null) return;
  const place = document.getElementById("spoken");
  if (place.textContent !== waiting) place.textContent = waiting;
  waiting = null;
  resting = true;
  setTimeout(next, PAUSE_MS);
}

export function speak(words) {
  waiting = words;
  if (!resting) next();
}

// Cuts in: somebody is waited for.
export function alertTo(words) {
  document.getElementById("alerted").textContent = words;
}
