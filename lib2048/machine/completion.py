"""Completion by the Tab key: a script for bash, zsh or fish, made from the parser of a command.

The script holds all that it offers, so that pressing Tab starts no Python.  What an argument offers
beside its choices stands in `offers`, {its name: `Offer`}; any other offers nothing.
"""

import argparse
import re
import shlex
from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")
FOLDERS = ("/",)  # as endings: folders alone


class Offer(NamedTuple):
    """What an argument may be: words, and files with one of these endings ("" for any file)."""

    words: tuple = ()
    endings: tuple = ()


class _Command(NamedTuple):
    """A command: its words, {a word that may follow: its help}, its options and its places.

    options: [(how it is written, its help, `Offer` or None for a flag)].
    """

    path: str
    inner: dict
    options: list
    places: Offer


def script(parser, shell, offers):
    """Return the script by which a shell completes a command; parser: of all of it."""
    commands = list(_commands(parser, "", offers))
    deeper = [shlex.quote(f" {one.path}" if " " not in one.path else one.path) for one in commands]
    text, lines = {"bash": (BASH, _bash), "zsh": (ZSH, _zsh), "fish": (FISH, _fish)}[shell]
    paths = (" " if shell == "fish" else "|").join(deeper[:-1])  # the last is the command itself
    parts = {"%PATHS%": paths} | {f"%{n}%": part for n, part in enumerate(lines(commands))}
    return re.sub("%[A-Z0-9]+%", lambda found: parts[found[0]], text).replace("NAME", parser.prog)


def _commands(parser, path, offers):
    """Yield the commands inside a parser, then its own."""
    inner, options, places = {}, [], Offer()
    for action in parser._actions:
        offer = offers.get(action.dest, Offer())
        if isinstance(action, argparse._SubParsersAction):
            inner = {one.dest: _plain(one.help) for one in action._choices_actions}
            for word, sub in action.choices.items():
                yield from _commands(sub, f"{path} {word}".strip(), offers)
            continue
        if action.choices:
            offer = Offer(tuple(map(str, action.choices)))
        if action.option_strings:
            said = action.option_strings[-1], _plain(action.help)
            options.append((*said, None if action.nargs == 0 else offer))
        else:
            places = Offer(places.words + offer.words, places.endings + offer.endings)
    yield _Command(path, inner, options, places)


def _plain(text):
    return " ".join((text or "").replace("%%", "%").split())


# ---------------------------------------------------------------- bash, which parts words at : = @

BASH = r"""# Completion of NAME for bash: source this file, or see NAME completion --help
_NAME_offer() {  # words, then endings of files; / for folders alone
    local ending
    COMPREPLY+=($(compgen -W "$1" -- "$cur"))
    shift
    (( $# )) || return
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -d -- "$cur"))
    for ending; do
        [[ $ending == / ]] || COMPREPLY+=($(compgen -f -X "!*$ending" -- "$cur"))
    done
}
_NAME() {
    local line=${COMP_LINE:0:COMP_POINT} cur at= prev= word there rest
    local -a said
    cur=${line##*[[:space:]]}
    read -ra said <<< "${line%"$cur"}"
    COMPREPLY=()
    for word in "${said[@]:1}"; do
        case "$at $word" in %PATHS%) at="${at:+$at }$word";; esac
        prev=$word
    done
    [[ $cur == --*=* ]] && { prev=${cur%%=*}; cur=${cur#*=}; }
    case "$at $prev" in
%0%
        *)  case "$at" in
%1%
            esac;;
    esac
    rest=${cur##*[:=]}  # what readline completes; an @ belongs to what follows it
    there=${cur%"$rest"}
    [[ $rest == *@* && $COMP_WORDBREAKS == *@* ]] && there+=${rest%@*}
    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"$there"}")
}
complete -F _NAME NAME
"""


def _bash(commands):
    behind, ends = [], []
    for one in commands:
        for option, _, offer in one.options:
            if offer is not None:
                behind.append(f"        {shlex.quote(f'{one.path} {option}')}) {_offered(offer)};;")
        options = _offered(Offer(tuple(option for option, *_ in one.options)))
        places = Offer((*one.inner, *one.places.words), one.places.endings)
        if any(places):
            options = f"if [[ $cur == -* ]]; then {options}; else {_offered(places)}; fi"
        ends.append(f"            {shlex.quote(one.path)}) {options};;")
    return "\n".join(behind), "\n".join(ends)


def _offered(offer):
    return shlex.join(["_NAME_offer", " ".join(offer.words), *offer.endings])


# ---------------------------------------------------------------- zsh

ZSH = r"""#compdef NAME
# Completion of NAME for zsh: source this file after compinit, or see NAME completion --help
_NAME_offer() {  # words, then endings of files; / for folders alone
    local -a names
    names=(${=1})
    shift
    (( $#names )) && compadd -- $names
    if [[ $1 == / ]]; then
        _files -/
    elif (( $# )); then
        _files -g "*${(j: *:)@}"
    fi
}
_NAME() {
    local at=
    while (( CURRENT > 2 )); do
        case "$at $words[2]" in
            %PATHS%) at="${at:+$at }$words[2]"; shift words; (( CURRENT-- ));;
            *) break;;
        esac
    done
    case "$at" in
%0%
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _NAME "$@"; else compdef _NAME NAME; fi
"""


def _zsh(commands):
    cases = []
    for one in commands:
        specs = [_spec(*option) for option in one.options]
        if one.inner:
            told = one.inner.items()
            named = " ".join(rf"{_escaped(word)}\:{_escaped(text)}" for word, text in told)
            specs.append(f"1:command:(({named}))")
        elif any(one.places):
            specs.append(f"*:: :{_action(one.places)}")
        cases.append(f"        {shlex.quote(one.path)}) _arguments {shlex.join(specs)};;")
    return ("\n".join(cases),)


def _spec(option, text, offer):
    said = option + "=" * (offer is not None) + "[" + re.sub(r"([][\\:])", r"\\\1", text) + "]"
    return said if offer is None else f"{said}: :{_action(offer)}"


def _action(offer):
    return " " + _offered(offer).replace(":", r"\:")


def _escaped(text):
    return re.sub(r"([^\w])", r"\\\1", text)


# ---------------------------------------------------------------- fish

FISH = r"""# Completion of NAME for fish: see NAME completion --help
function __NAME_at
    set -l at ''
    for word in (commandline -opc)[2..]
        switch "$at $word"
            case %PATHS%
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
complete -c NAME -f
%0%
"""


def _fish(commands):
    lines = []
    for one in commands:
        here = ["complete", "-c", "NAME", "-n", f"__NAME_at {_quoted(one.path)}"]
        lines += [[*here, "-a", word, "-d", text] for word, text in one.inner.items()]
        if any(one.places):
            lines.append([*here, "-a", _arguments(one.places)])
        for option, text, offer in one.options:
            takes = [] if offer is None else ["-x", "-a", _arguments(offer)]
            lines.append([*here, "-l", option.lstrip("-"), *takes, "-d", text])
    return ("\n".join(" ".join([*line[:4], *map(_quoted, line[4:])]) for line in lines),)


def _arguments(offer):
    files = [f"(__fish_complete_suffix {one})" for one in offer.endings if one not in FOLDERS]
    folders = ["(__fish_complete_directories)"] * (offer.endings == FOLDERS)
    return " ".join([*offer.words, *files, *folders])


def _quoted(text):
    """Return a word as fish reads it."""
    plain = re.fullmatch(r"[-\w./]+", text)
    return text if plain else "'" + re.sub(r"(['\\])", r"\\\1", text) + "'"
