// From the key of a browser to a keysym of X11 (Appendix A of the X Window System Protocol).

const NAMED = {
  Backspace: 0xff08, Tab: 0xff09, Enter: 0xff0d, Pause: 0xff13, ScrollLock: 0xff14, Escape: 0xff1b, Delete: 0xffff,
  Home: 0xff50, ArrowLeft: 0xff51, ArrowUp: 0xff52, ArrowRight: 0xff53, ArrowDown: 0xff54, PageUp: 0xff55, PageDown: 0xff56,
  End: 0xff57, PrintScreen: 0xff61, Insert: 0xff63, ContextMenu: 0xff67, NumLock: 0xff7f, CapsLock: 0xffe5, AltGraph: 0xfe03,
};
const SIDED = {
  Shift: [0xffe1, 0xffe2], Control: [0xffe3, 0xffe4], Alt: [0xffe9, 0xffea], Meta: [0xffeb, 0xffec],
};

export function keysymOf({ key, code }) {
  if (SIDED[key]) return SIDED[key][code.endsWith("Right") ? 1 : 0];
  if (NAMED[key]) return NAMED[key];
  const functionKey = /^F([1-9]|1[0-9]|2[0-4])$/.exec(key);
  if (functionKey) return 0xffbd + Number(functionKey[1]);
  const points = [...key];
  if (points.length !== 1) return null;
  const point = points[0].codePointAt(0);
  // Latin-1 is itself; all else is Unicode.
  return (point >= 0x20 && point <= 0x7e) || (point >= 0xa0 && point <= 0xff) ? point : 0x01000000 + point;
}
