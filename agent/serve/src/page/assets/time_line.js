// A finished or running session, moment by moment: the picture, what was seen, asked, replied and done.
import { answer, ask, tell } from "./ask.js";
import { useShortcuts } from "./shortcuts.js";

const id = document.getElementById("main").dataset.session;
const range = document.getElementById("at");
const picture = document.getElementById("picture");
const parts = document.getElementById("parts");
let moments = [];
let wanted = 0;

const get = async (path) => answer(await fetch(path));

function add(title, text, open) {
  if (!text) return;
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const pre = document.createElement("pre");
  summary.textContent = title;
  pre.textContent = text;
  details.open = open;
  details.append(summary, pre);
  parts.append(details);
}

async function show(index) {
  wanted += 1;
  const mine = wanted;
  const moment = moments[index];
  if (!moment) return;
  range.value = String(index);
  range.setAttribute("aria-valuetext", moment.words);
  const place = [`${index + 1} of ${moments.length}`, moment.step ? `step ${moment.step}` : "", moment.agent, moment.words];
  document.getElementById("which").textContent = place.filter(Boolean).join(" · ");
  const file = moment.picture ?? moment.shown;
  picture.hidden = !file;
  document.getElementById("no-picture").hidden = Boolean(file);
  if (file) {
    const source = `/sessions/${id}/pictures/${file.replace(/\.[a-z]+$/, "")}`;
    if (picture.getAttribute("src") !== source) picture.src = source;
    picture.alt = `The screen at ${moment.words}`;
  }
  history.replaceState(null, "", `#${moment.record}`);
  try {
    const found = await get(`/api/sessions/${id}/moments/${moment.record}`);
    if (mine !== wanted) return;
    parts.replaceChildren();
    const line = document.createElement("h2");
    line.textContent = moment.words;
    parts.append(line);
    for (const call of found.calls ?? []) {
      add(`${call.words}: ${call.verdict}`, [call.result, JSON.stringify(call.arguments, null, 2), call.output].filter(Boolean).join("\n\n"), true);
    }
    if (found.reply) add(`Reply of ${found.reply.model || "no model"}`, found.reply.text, true);
    for (const message of found.prompt ?? []) add(`Prompt: ${message.speaker}`, message.text, false);
    add("What was seen", (found.tree ?? []).join("\n"), false);
  } catch (problem) {
    if (mine === wanted) tell(problem);
  }
}

const step = (by) => show(Math.max(0, Math.min(moments.length - 1, Number(range.value) + by)));
range.addEventListener("input", () => show(Number(range.value)));
document.getElementById("earlier").addEventListener("click", () => step(-1));
document.getElementById("later").addEventListener("click", () => step(1));

useShortcuts([
  { key: "ArrowLeft", words: "The moment before", act: () => document.activeElement !== range && step(-1) },
  { key: "ArrowRight", words: "The moment after", act: () => document.activeElement !== range && step(1) },
]);

document.getElementById("fork")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const moment = moments[Number(range.value)];
    const started = await ask(`/api/sessions/${id}/fork`, { at: moment.answer ?? moment.record, request: event.target.elements.request.value });
    location.href = `/sessions/${started.id}`;
  } catch (problem) {
    tell(problem);
  }
});

try {
  ({ moments } = await get(`/api/sessions/${id}/moments`));
  range.max = String(Math.max(0, moments.length - 1));
  const named = moments.findIndex((moment) => String(moment.record) === location.hash.slice(1));
  await show(named >= 0 ? named : 0);
} catch (problem) {
  tell(problem);
}
