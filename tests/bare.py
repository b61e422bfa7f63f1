"""A widget on a page of its own, without JupyterLab: its Python side hears it at once."""

import json

import lab

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}"><meta charset="utf-8"><title>bare</title>
<style>html {{ color-scheme: {theme}; font-family: sans-serif }} body {{ margin: 8px }}
[data-theme=dark] {{ background: #111 }} [data-theme=light] {{ background: white }}
{css}</style><div id="here"></div></html>"""
MODEL = """
const state = STATE, listeners = {};
const fire = (name, ...more) => (listeners[name] ?? []).forEach((heard) => heard(...more));
window.model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; fire(`change:${name}`); },
  on: (name, heard) => (listeners[name] ??= []).push(heard),
  send: (message) => window.heard(JSON.stringify(message)).then((told) => window.hear(told)),
};
window.hear = ({ messages, traits }) => {
  Object.entries(traits).forEach(([name, value]) => window.model.set(name, value));
  messages.forEach((message) => fire("msg:custom", message));
};
const blob = new Blob([ESM], { type: "text/javascript" });
const { default: widget } = await import(URL.createObjectURL(blob));
widget.render({ model: window.model, el: document.querySelector("#here") });
window.ready = true;
"""


class Bare(lab.Watched):
    """A widget in a browser, and what it complained of."""

    def __init__(self, chromium, widget, width=1200, height=900, theme="light", **more):
        super().__init__(chromium, width, height, **more)
        self.widget, self.number = widget, 0
        self.page.expose_function("heard", self.answered)
        self.page.set_content(PAGE.format(theme=theme, css=widget._css))
        names = [name for name in widget.keys if not name.startswith("_")]
        state = {name: getattr(widget, name) for name in names if name not in ("layout", "tooltip")}
        script = MODEL.replace("STATE", json.dumps(state, default=str))
        script = script.replace("ESM", json.dumps(widget._esm))
        self.page.add_script_tag(type="module", content=script)
        self.page.wait_for_function("window.ready", timeout=10_000) if not self.errors else None
        assert self.errors == []
        self.root = self.page.locator(".lib2048").first

    def answered(self, message):
        """Give a message to the widget; return what it sends and which traits have changed."""
        sent, changed = [], {}
        self.widget.send = lambda content, buffers=None: sent.append(content)
        self.widget.observe(lambda change: changed.update({change.name: change.new}))
        self.widget._handle_custom_msg(json.loads(message), [])
        self.widget.unobserve_all()
        changed.pop("game", None)  # the page has told it
        return json.loads(json.dumps({"messages": sent, "traits": changed}))

    @property
    def message(self):
        """What the widget says."""
        return self.page.locator(".lib-message").first.inner_text()

    press = lab.Widget.press
