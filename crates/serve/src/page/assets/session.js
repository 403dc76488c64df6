// One session: the story as it goes, what it asks, and the buttons that steer it.
import { ask, tell } from "./ask.js";
import { Screen } from "./screen.js";

const main = document.getElementById("main");
const id = main.dataset.session;
const story = document.getElementById("story");
let seq = Number(main.dataset.seq);
let promptKey = null;
let screen = null;
let wait = 500;

function socketUrl(path) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}

function put({ seq: now, anew, parts }) {
  if (anew) story.replaceChildren();
  const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 80;
  for (const part of parts) {
    let place = story.querySelector(`[data-part="${CSS.escape(part.id)}"]`);
    if (!place) {
      place = document.createElement("div");
      place.className = "part";
      place.dataset.part = part.id;
      story.append(place);
    }
    const open = [...place.querySelectorAll("details")].map((one) => one.open);
    place.innerHTML = part.html;
    place.querySelectorAll("details").forEach((one, index) => { one.open = open[index] ?? one.open; });
  }
  seq = now;
  if (atEnd && parts.length) window.scrollTo({ top: document.documentElement.scrollHeight });
}

function show(state) {
  document.getElementById("now").innerHTML = state.now;
  const key = state.prompt?.key ?? null;
  if (key !== promptKey) {
    promptKey = key;
    const place = document.getElementById("prompt");
    place.innerHTML = state.prompt?.html ?? "";
    settle(place);
  }
  const button = (name) => document.querySelector(`[data-do="${name}"]`);
  button("pause").hidden = state.paused;
  button("resume").hidden = !state.paused || state.taken_over;
  button("take_over").hidden = state.taken_over;
  button("hand_back").hidden = !state.taken_over;
  document.getElementById("controls").hidden = !state.running;
  document.getElementById("say").hidden = !state.running;
  document.getElementById("resume").hidden = state.running;
  document.getElementById("teach").hidden = state.running;
  screen?.hands(state.taken_over);
  screen?.mark(state.state.mark);
  document.title = state.prompt ? `? ${document.title.replace(/^\? /, "")}` : document.title.replace(/^\? /, "");
}

// What was meant for something else must not answer a prompt that has just come: its buttons wait a moment, and it takes the focus from
// nobody.
function settle(place) {
  const buttons = [...place.querySelectorAll("button")];
  buttons.forEach((button) => { button.disabled = true; });
  setTimeout(() => buttons.forEach((button) => { button.disabled = false; }), 600);
  const form = place.querySelector("form");
  if (form && document.activeElement === document.body) {
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
      over = !message.running;
    }
  });
  socket.addEventListener("close", () => {
    if (over) return;
    setTimeout(watch, wait);
    wait = Math.min(wait * 2, 10000);
  });
}

const wish = (line) => ask(`/api/sessions/${id}/do`, line).catch(tell);

document.getElementById("controls").addEventListener("click", ({ target }) => {
  const name = target.dataset?.do;
  if (name) wish({ do: name });
});

document.getElementById("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = event.target.elements.text;
  if (!input.value.trim()) return;
  await wish({ do: "say", text: input.value });
  input.value = "";
});

document.getElementById("resume").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  button.disabled = true;
  try {
    await ask(`/api/sessions/${id}/resume`, { request: event.target.elements.request.value });
    location.reload();
  } catch (problem) {
    tell(problem);
  } finally {
    button.disabled = false;
  }
});

// Return in a text is not the answer to an approval: which button it would press is not to be seen.
document.getElementById("prompt").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.target.name !== "instruction") return;
  event.preventDefault();
  event.target.form.querySelector("button[value=no]").focus();
});

document.getElementById("prompt").addEventListener("submit", (event) => {
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

if (document.getElementById("screen")) {
  screen = new Screen(socketUrl(`/api/sessions/${id}/screen`), document.getElementById("frame"));
}
promptKey = document.querySelector("#prompt form") ? "first" : null;
document.getElementById("resume").hidden = main.dataset.running === "true";
document.getElementById("teach").hidden = main.dataset.running === "true";
document.getElementById("say").hidden = main.dataset.running !== "true";
document.getElementById("controls").hidden = main.dataset.running !== "true";
watch();
