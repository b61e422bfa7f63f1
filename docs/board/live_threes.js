// Threes! in the book, to play without a kernel and thus without a player's help.

const { Model, show, kinds, data } = globalThis.lib2048Live;

kinds.threes = (root) => show("threes", root, new Model(data.threes));
