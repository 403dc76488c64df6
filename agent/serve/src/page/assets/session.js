// One session: the story as it goes, what it asks, and the buttons that steer it.
import { ask, tell } from "./ask.js";
import { onSubmit, runOptions } from "./forms.js";
import { Screen } from "./screen.js";
import { useShortcuts } from "./shortcuts.js";
import { alertTo, speak } from "./speak.js";

const main = document.getElementById("main");
const id = main.dataset.session;
const story = document.getElementById("story");
const stage = document.getElementById("stage");
const place = document.getElementById("prompt");
const FOCUSABLE = "a[href], button, input, summary";
// Where the task is, if it is one of a fleet: `open` or `ended`.
let task = main.dataset.task ?? null;
let seq = Number(main.dataset.seq);
let promptKey = place.dataset.key || null;
let screen = null;
let wait = 500;

// Hides what is there; a task of a fleet has other buttons.
function hide(selector, is) {
  const found = document.querySelector(selector);
  if (found) found.hidden = is;
}

function socketUrl(path) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}

// What scrolls: the story itself beside a desktop, the page where all is below each other.
function scroller() {
  return story.scrollHeight > story.clientHeight && getComputedStyle(story).overflowY === "auto" ? story : document.documentElement;
}

// Takes the place of a part, and keeps what a person has opened and where they are in it.
function replace(part, html) {
  const open = [...part.querySelectorAll("details")].map((one) => one.open);
  const focused = [...part.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  part.innerHTML = html;
  part.querySelectorAll("details").forEach((one, index) => { one.open = open[index] ?? one.open; });
  if (focused >= 0) part.querySelectorAll(FOCUSABLE)[focused]?.focus({ preventScroll: true });
}

function put({ seq: now, anew, parts }) {
  if (anew) story.replaceChildren();
  const scrolled = scroller();
  const atEnd = scrolled.scrollTop + scrolled.clientHeight >= scrolled.scrollHeight - 80;
  for (const { id: name, html } of parts) {
    let part = story.querySelector(`[data-part="${CSS.escape(name)}"]`);
    if (!part) {
      part = document.createElement("div");
      part.className = "part";
      part.dataset.part = name;
      story.append(part);
    }
    replace(part, html);
  }
  seq = now;
  if (atEnd && parts.length) scroller().scrollTo({ top: scroller().scrollHeight });
  const done = [...story.querySelectorAll(".acts li")].at(-1);
  if (done && parts.length) speak(`${done.querySelector(".badge").textContent}: ${done.querySelector(".what p").textContent}`);
}

function show(state) {
  const now = document.getElementById("now");
  if (now.innerHTML !== state.now) now.innerHTML = state.now;
  const badge = now.querySelector(".badge").textContent;
  if (now.dataset.badge !== badge) speak(badge);
  now.dataset.badge = badge;
  prompt(state.prompt);
  steer(state);
  if (state.has_screen && !screen) startScreen();
  if (!task) screen?.hands(state.taken_over);
  screen?.mark(state.state.mark);
  document.title = state.prompt ? `? ${document.title.replace(/^\? /, "")}` : document.title.replace(/^\? /, "");
}

function steer(state) {
  const focused = document.activeElement;
  hide("[data-do=pause]", state.paused);
  hide("[data-do=resume]", !state.paused || state.taken_over);
  hide("[data-do=take_over]", state.taken_over);
  hide("[data-do=hand_back]", !state.taken_over);
  hide("#controls", !state.running);
  hide("#say", !state.running);
  hide("#resume", state.running);
  hide("#teach", state.running);
  if (state.task) {
    task = state.task.ended ? "ended" : "open";
    hide("#cancel", state.task.ended || state.task.cancelled);
    hide("#again", !state.task.again);
  }
  // What it showed has ended with it.
  if (stage && !state.running) stage.hidden = true;
  // A button that is gone hands the focus to the one that takes its place.
  if (focused?.dataset?.do && focused.hidden) document.querySelector("#controls button:not([hidden])").focus({ preventScroll: true });
}

function prompt(asked) {
  const key = asked?.key ?? null;
  if (key === promptKey) return;
  const wasIn = place.contains(document.activeElement);
  promptKey = key;
  place.innerHTML = asked?.html ?? "";
  const form = place.querySelector("form");
  if (form) {
    const what = form.querySelector("li, legend");
    alertTo([form.querySelector("h2"), what].filter(Boolean).map((one) => one.textContent.trim()).join(" "));
    settle(form, wasIn || document.activeElement === document.body || document.activeElement === place);
  } else {
    alertTo("");
    // Who has just answered stays where they were.
    if (wasIn) place.focus({ preventScroll: true });
  }
}

// What was meant for something else must not answer a prompt that has just come: its buttons wait a moment, and it takes the focus from
// nobody.
function settle(form, focus) {
  const buttons = [...form.querySelectorAll("button")];
  buttons.forEach((one) => { one.disabled = true; });
  setTimeout(() => buttons.forEach((one) => { one.disabled = false; }), 600);
  if (focus) {
    form.tabIndex = -1;
    form.focus({ preventScroll: true });
  }
}

function watch() {
  const socket = new WebSocket(socketUrl(`/api/sessions/${id}/watch?after=${seq}`));
  let over = false;
  socket.addEventListener("open", () => { wait = 500; });
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(data);
    if (message.event === "parts") put(message);
    if (message.event === "now") {
      show(message);
      // A task of a fleet may go on on another machine.
      over = !message.running && task !== "open";
    }
  });
  socket.addEventListener("close", () => {
    if (over) return;
    if (task) {
      setTimeout(() => location.reload(), 1000);
      return;
    }
    setTimeout(watch, wait);
    wait = Math.min(wait * 2, 10000);
  });
}

function startScreen() {
  stage.hidden = false;
  screen = new Screen(socketUrl(`/api/sessions/${id}/screen`), document.getElementById("frame"));
}

const wish = (line) => ask(`/api/sessions/${id}/do`, line).catch(tell);

document.getElementById("controls")?.addEventListener("click", ({ target }) => {
  const name = target.dataset?.do;
  if (name) wish({ do: name });
});

document.getElementById("say")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = event.target.elements.text;
  if (!input.value.trim()) return;
  await wish({ do: "say", text: input.value });
  input.value = "";
});

const resume = document.getElementById("resume");
if (resume) {
  onSubmit(resume, async () => {
    await ask(`/api/sessions/${id}/resume`, { request: resume.elements.request.value, ...runOptions(resume) });
    location.reload();
  });
}

document.getElementById("cancel")?.addEventListener("click", ({ target }) => {
  target.disabled = true;
  wish({ do: "stop" }).finally(() => { target.disabled = false; });
});

document.getElementById("again")?.addEventListener("click", async ({ target }) => {
  target.disabled = true;
  try {
    const sent = await ask(`/api/sessions/${id}/resume`, {});
    location.href = `/sessions/${sent.id}`;
  } catch (problem) {
    tell(problem);
    target.disabled = false;
  }
});

// Return in a text is not the answer to an approval: which button it would press is not to be seen.
place.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.target.name !== "instruction") return;
  event.preventDefault();
  event.target.form.querySelector("button[value=no]").focus();
});

place.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  const asked = form.dataset.id ? JSON.parse(form.dataset.id) : null;
  if (form.dataset.kind === "approval") {
    const approve = event.submitter?.value ?? "no";
    const instruction = form.elements.instruction.value.trim();
    if (approve !== "no" && instruction) {
      tell("What to do instead goes with No. Empty the field to say yes.");
      return;
    }
    const line = { do: "decide", id: asked, approve };
    if (approve === "no" && instruction) line.instruction = instruction;
    wish(line);
  } else if (form.dataset.kind === "questions") {
    const count = form.querySelectorAll("fieldset").length;
    const given = new FormData(form);
    const answers = Array.from({ length: count }, (_, index) => given.get(`q${index + 1}`) || null);
    wish({ do: "answer", id: asked, answers });
  } else if (event.submitter?.name === "end") {
    wish({ do: "end" });
  } else {
    wish({ do: "request", text: form.elements.text.value });
  }
});

// Presses the first of these buttons that can be pressed.
function presses(selector) {
  const found = [...document.querySelectorAll(selector)].find((one) => !one.disabled && one.getClientRects().length);
  found?.click();
  return Boolean(found);
}

function goesTo(selector) {
  const found = [...document.querySelectorAll(selector)].find((one) => one.getClientRects().length);
  found?.focus();
  return Boolean(found);
}

useShortcuts([
  { key: "y", words: "Yes, this once", act: () => presses("#prompt button[value=once]") },
  { key: "n", words: "No", act: () => presses("#prompt button[value=no]") },
  { key: "a", words: "Go to what is asked", act: () => goesTo("#prompt input:checked, #prompt input, #prompt button") },
  { key: "p", words: "Pause, or go on", act: () => presses("[data-do=pause], [data-do=resume]") },
  { key: "t", words: "Take over", act: () => presses("[data-do=take_over]") },
  { key: "b", words: "Hand back", act: () => presses("[data-do=hand_back]") },
  { key: "s", words: "Say something", act: () => goesTo("#words, #next") },
]);

hide("#resume", main.dataset.running === "true");
hide("#teach", main.dataset.running === "true");
hide("#say", main.dataset.running !== "true");
hide("#controls", main.dataset.running !== "true");
if (stage && !stage.hidden) startScreen();
if (place.querySelector("form")) settle(place.querySelector("form"), true);
if (main.dataset.running === "true") scroller().scrollTo({ top: scroller().scrollHeight, behavior: "instant" });
if (task !== "ended") watch();
