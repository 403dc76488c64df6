const { Gio, Meta } = imports.gi;
const Main = imports.ui.main;

