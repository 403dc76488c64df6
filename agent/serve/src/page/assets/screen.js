// The desktop as it is now, and a person's hands on it.
import { keysymOf } from "./keys.js";

const BUTTONS = [1, 2, 3];

export class Screen {
  constructor(url, frame) {
    this.url = url;
    this.frame = frame;
    this.canvas = frame.querySelector("canvas");
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.mine = false;
    this.wait = 500;
    this.drawing = Promise.resolve();
    this.held = new Map();
    if (this.canvas.id === "screen") this.listen();
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(this.url);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("open", () => { this.wait = 500; });
    this.socket.addEventListener("message", ({ data }) => {
      // One after the other: an update holds only what changed since the one before.
      this.drawing = this.drawing.then(() => this.draw(data)).catch(() => {});
    });
    this.socket.addEventListener("close", ({ code }) => {
      if (code === 1000) return;
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(this.wait * 2, 10000);
    });
  }

  async draw(buffer) {
    const view = new DataView(buffer);
    const [width, height, count] = [view.getUint16(2, true), view.getUint16(4, true), view.getUint16(10, true)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    let at = 12;
    const pictures = [];
    for (let index = 0; index < count; index += 1) {
      const [x, y] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
      const length = view.getUint32(at + 8, true);
      const bytes = new Uint8Array(buffer, at + 12, length);
      pictures.push(createImageBitmap(new Blob([bytes], { type: "image/png" })).then((picture) => ({ picture, x, y })));
      at += 12 + length;
    }
    for (const { picture, x, y } of await Promise.all(pictures)) {
      this.context.drawImage(picture, x, y);
      picture.close();
    }
    this.canvas.dataset.updates = String(Number(this.canvas.dataset.updates ?? 0) + 1);
  }

  // Marks a place of the screen.
  mark(place) {
    const mark = this.frame.querySelector("#mark");
    mark.hidden = !place || !this.canvas.width;
    if (mark.hidden) return;
    const [x, y, width, height] = place;
    const share = (part, whole) => `${(100 * part) / whole}%`;
    mark.style.left = share(x, this.canvas.width);
    mark.style.top = share(y, this.canvas.height);
    mark.style.width = share(width, this.canvas.width);
    mark.style.height = share(height, this.canvas.height);
  }

  hands(mine) {
    if (mine === this.mine) return;
    this.mine = mine;
    this.frame.classList.toggle("yours", mine);
    this.canvas.tabIndex = mine ? 0 : -1;
    document.getElementById("hands").hidden = !mine;
    if (mine) this.canvas.focus();
    else this.letGo();
  }

  send(input) {
    if (this.mine && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(input));
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.canvas.width / box.width;
    return { x: Math.round((event.clientX - box.left) * scale), y: Math.round((event.clientY - box.top) * scale) };
  }

  letGo() {
    for (const keysym of this.held.values()) this.send({ t: "key", keysym, down: false });
    this.held.clear();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointermove", (event) => this.send({ t: "move", ...this.place(event) }));
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.mine) return;
      event.preventDefault();
      canvas.focus();
      canvas.setPointerCapture(event.pointerId);
      this.send({ t: "down", button: BUTTONS[event.button] ?? 1, ...this.place(event) });
    });
    canvas.addEventListener("pointerup", (event) => this.send({ t: "up", button: BUTTONS[event.button] ?? 1, ...this.place(event) }));
    canvas.addEventListener("contextmenu", (event) => { if (this.mine) event.preventDefault(); });
    canvas.addEventListener("wheel", (event) => {
      if (!this.mine) return;
      event.preventDefault();
      const button = event.deltaY < 0 ? 4 : 5;
      this.send({ t: "down", button, ...this.place(event) });
      this.send({ t: "up", button, ...this.place(event) });
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (!this.mine) return;
      // Three keys that stand for nothing together, neither in a browser nor in a program.
      if (event.ctrlKey && event.altKey && event.shiftKey && ["Control", "Alt", "Shift"].includes(event.key)) {
        event.preventDefault();
        this.letGo();
        document.querySelector('[data-do="hand_back"]').focus();
        return;
      }
      const keysym = keysymOf(event);
      if (keysym === null) return;
      event.preventDefault();
      this.held.set(event.code, keysym);
      this.send({ t: "key", keysym, down: true });
    });
    canvas.addEventListener("keyup", (event) => {
      const keysym = this.held.get(event.code);
      if (keysym === undefined) return;
      event.preventDefault();
      this.held.delete(event.code);
      this.send({ t: "key", keysym, down: false });
    });
    canvas.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain");
      if (text) this.send({ t: "text", text });
    });
    canvas.addEventListener("blur", () => this.letGo());
  }
}
