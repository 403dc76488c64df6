// Keys that do what a button does, and the list of them. A person can switch them off.
const SETTING = "deskhand-keys";

const isOn = () => localStorage.getItem(SETTING) !== "off";

// Text goes where it is typed; so does everything while the desktop has the keyboard.
const takesText = (element) => element.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=range]), .yours canvas");

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function listOf(shortcuts) {
  const rows = shortcuts.flatMap(({ key, words }) => [make("dt", {}, make("kbd", { textContent: key })), make("dd", { textContent: words })]);
  const works = make("input", { type: "checkbox", checked: isOn() });
  works.addEventListener("change", () => localStorage.setItem(SETTING, works.checked ? "on" : "off"));
  const dialog = make("dialog", { className: "keys" },
    make("h2", { id: "keys-of-this-page", textContent: "Keys of this page" }),
    make("dl", {}, ...rows),
    make("label", { className: "choice" }, works, " These keys work"),
    make("form", { method: "dialog" }, make("button", { className: "primary", textContent: "Close" })));
  dialog.setAttribute("aria-labelledby", "keys-of-this-page");
  document.body.append(dialog);
  return dialog;
}

// `shortcuts` are objects with the key, what it does in words, and a function that does it.
export function useShortcuts(shortcuts) {
  const dialog = listOf([...shortcuts, { key: "?", words: "This list" }]);
  const button = make("button", { type: "button", className: "quiet", title: "Keys of this page (?)" }, "Keys");
  button.addEventListener("click", () => dialog.showModal());
  document.querySelector(".site").append(button);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
    if (dialog.open || takesText(event.target) || !isOn()) return;
    if (event.key === "?") {
      event.preventDefault();
      dialog.showModal();
      return;
    }
    const found = shortcuts.find(({ key }) => key === event.key);
    if (found && found.act() !== false) event.preventDefault();
  });
}
