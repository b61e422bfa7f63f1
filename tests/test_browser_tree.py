"""The tree of a search and exact small boards, explored in a real JupyterLab, in a real browser."""

import lab
import pytest
from learners import noise_network

from lib2048 import SmallGame, record_game
from lib2048.game import board as rules
from lib2048.search.tree import SearchTree
from lib2048.show.widgets.game import from_hex, to_hex

pytestmark = pytest.mark.usefixtures("in_order")

TILES = [[4, 32, 128, 512], [2, 16, 8, 64], [0, 2, 4, 0], [0, 0, 2, 0]]
TRAP = ((32, 16, 4), (8, 0, 4))
CELLS = [
    "import numpy as np\n"
    "from lib2048 import Network, SmallBoardWidget, TreeWidget, from_tiles, record_game\n"
    "network = Network('cells:0123,4567,0145')\n"
    "network.weights[:] = 100 * np.random.default_rng(1).standard_normal(network.size, 'f4')",
    f"tree = TreeWidget(network, from_tiles({TILES}))\ntree",
    "game = TreeWidget(network, plies=2, game=record_game(network, 1))\ngame",
    f"small = SmallBoardWidget('greedy', {TRAP})\nsmall",
]
TREE, GAME, SMALL = range(3)
LAST = SMALL
BOARD = rules.from_tiles(TILES)


@pytest.fixture(scope="module")
def network():
    return noise_network()


class Searched(lab.Widget):
    """The tree of a search."""

    def item(self, path):
        return self.root.locator(f"[role=treeitem][data-path='{path}']")

    @property
    def plane(self):
        return self.root.locator(".lib-plane")

    def until_open(self, path):
        self.root.locator(f"[data-path='{path}'][aria-expanded=true]").wait_for()

    def until_grown(self):
        self.root.locator("[role=tree]:not([aria-busy])").wait_for()

    def open(self, path):
        """Unfold a node, and all that is below it at once."""
        self.click(path)
        self.until_open(path)
        more = f"{path}/more"
        if self.item(more).count() and "more" in self.item(more).inner_text():
            self.click(more)

    def opened(self, path):
        """Open a node; return the worths below it."""
        self.open(path)
        return self.worths(path)

    def box(self, path):
        return self.item(path).bounding_box()

    def at_rest(self):
        """Wait until nothing moves any more."""
        self.root.locator("[role=tree]:not([data-gliding])").wait_for()

    def click(self, path):
        """Click a node, once it moves no more."""
        self.at_rest()
        self.item(path).click()

    def open_actions(self):
        """Return the paths of the actions that are open."""
        return [
            s for s in "0123" if self.root.locator(f"[data-path='{s}'][aria-expanded=true]").count()
        ]

    def selected(self, path):
        self.root.locator(f"[data-path='{path}'][aria-selected=true]").wait_for()

    @property
    def at(self):
        """The path of the node that has the keyboard."""
        return self.page.evaluate("document.activeElement.dataset.path")

    def worths(self, path):
        """Return {step: worth} of what a node's children show."""
        items = self.root.locator("[role=treeitem][data-worth]:not([hidden])")
        shown = items.evaluate_all("all => all.map(e => [e.dataset.path, e.dataset.worth])")
        below = [(*there.rpartition("/"), worth) for there, worth in shown if there]
        return {step: float(worth) for above, _, step, worth in below if above == path}

    def work(self):
        shown = self.root.locator("td[data-work]")
        pairs = shown.evaluate_all("all => all.map(e => [e.dataset.work, e.innerText])")
        return {kind: int(text.replace("\u202f", "")) for kind, text in pairs}


MARKS = "all => all.map(e => [...e.querySelectorAll('.lib-tag')].map(tag => tag.innerText))"


class Board(lab.Widget):
    """An exact small board."""

    def card(self, number=0):
        return self.root.locator(".lib-choice").nth(number)

    def shown(self, kind):
        cards = self.root.locator(".lib-choice")
        return cards.evaluate_all(f"all => all.map(e => Number(e.dataset.{kind}))")

    def until_turn(self, turn, board=None):
        where = f"[data-board='{board}']" if board else ""
        self.page.locator(f".lib2048[data-turn={turn}]{where}").wait_for()


@pytest.fixture
def tree(notebook):
    return Searched(notebook, TREE)


@pytest.fixture
def small(notebook):
    return Board(notebook, SMALL)


@pytest.mark.ci
def test_a_click_opens_a_node_with_the_numbers_of_the_search(tree, network):
    twin = SearchTree(network, BOARD, 3)
    tree.until_open("")
    options = twin.options()
    assert tree.worths("") == {str(o.action): float(o.worth) for o in options}
    best = next(option.action for option in options if option.best)
    tree.until_open(str(best))  # it is unfolded from the beginning
    assert tree.item(str(best)).locator(".lib-rest").inner_text() == "best"
    outcomes = twin.outcomes(str(best))
    steps = {f"{o.cell}:{o.exponent}": float(o.worth) for o in outcomes}
    some = tree.worths(str(best))
    assert len(some) == 4 and some.items() <= steps.items(), "the most likely"
    assert all(step.endswith(":1") for step in some) and list(some.values()) == sorted(
        some.values()
    )
    tree.click(f"{best}/more")
    assert tree.worths(str(best)) == steps
    state = f"{best}/{outcomes[0].cell}:{outcomes[0].exponent}"
    tree.open(state)
    after = f"{state}/{outcomes[0].action}"
    assert tree.worths(state) == {str(o.action): float(o.worth) for o in twin.options(state)}
    tree.open(after)
    spawns = twin.outcomes(after)
    leaf = f"{after}/{spawns[0].cell}:{spawns[0].exponent}"
    tree.open(leaf)
    ends = twin.options(leaf)
    assert tree.worths(leaf) == {str(o.action): float(o.worth) for o in ends}
    tree.click(f"{leaf}/{ends[0].action}")
    assert "The search ends here" in tree.root.locator(".lib-reason").inner_text()
    assert tree.item(f"{leaf}/{ends[0].action}").get_attribute("aria-expanded") is None
    lines = tree.root.locator(".lib-lines path:not(.lib-link)").count()
    assert lines == tree.root.locator(".lib-node:not([hidden])").count() - 1, "one to each node"
    assert tree.item(state).locator(".lib-fresh").count() == 1, "the tile that came"
    tree.click(str(best))
    tree.click(str(best))  # folds it
    tree.root.locator(f"[data-path='{best}'][aria-expanded=false]").wait_for()
    assert tree.worths(str(best)) == {}


LEVELS = """all => all.every(({ ariaLevel, ariaPosInSet, ariaSetSize, dataset, hidden }) =>
  Number(ariaLevel) === dataset.path.split("/").filter((step) => step).length + 1
  && (hidden || !dataset.path || Number(ariaPosInSet) <= Number(ariaSetSize)))"""


def test_it_is_a_tree_for_the_keyboard_alone(notebook, tree, network):
    known = SearchTree(network, BOARD, 3).known
    path = next(path for path in known if known[path] < path)
    keys, there = tree.page.keyboard, "document.activeElement.dataset.path === '{}'"
    tree.until_open("")
    tree.item("").focus()
    for step in path.split("/"):
        above = tree.at
        if tree.item(above).get_attribute("aria-expanded") == "false":
            keys.press("Enter")
            tree.until_open(above)
        keys.press("ArrowDown")
        while not tree.at.startswith(f"{above}/" if above else ""):
            keys.press("ArrowRight")
        while tree.at.rpartition("/")[0] == above:
            keys.press("ArrowLeft")
            if tree.at == above or tree.item(tree.at).evaluate("e => e.ariaPosInSet") == "1":
                break
        wanted = f"{above}/{step}" if above else step
        while tree.at != wanted:
            if tree.at.endswith("/more") and "more" in tree.item(tree.at).inner_text():
                keys.press("Enter")
            else:
                keys.press("ArrowRight")
    assert "its table knows this board" in tree.root.locator(".lib-reason").inner_text()
    keys.press("m")
    tree.page.wait_for_function(there.format(known[path]))
    assert tree.root.locator(".lib-link:not([hidden])").count() == 1
    keys.press("Backspace")
    tree.page.wait_for_function(there.format(path))
    assert "its table knows this board" in tree.root.locator(".lib-reason").inner_text()
    keys.press("Backspace")
    tree.until("nothing to go back to")
    keys.press("ArrowUp")
    assert tree.at == path.rpartition("/")[0]
    keys.press("Home")
    assert tree.at == ""
    keys.press("Enter")
    assert tree.item("").get_attribute("aria-expanded") == "false"
    assert tree.root.locator(".lib-node:not([hidden])").count() == 1
    keys.press("Enter")
    keys.press("ArrowDown")
    keys.press("End")
    assert tree.at == "3"
    assert tree.root.locator("[tabindex='0'][role=treeitem]").count() == 1
    assert tree.root.locator("[role=treeitem]").evaluate_all(LEVELS)


def test_the_best_line_is_unfolded_to_the_end_and_seen_as_a_whole(tree, network):
    twin, path = SearchTree(network, BOARD, 3), ""
    tree.press("b")
    while True:
        best = next(option for option in twin.options(path) if option.best)
        path = f"{path}/{best.action}" if path else str(best.action)
        tree.item(path).wait_for()
        assert "lib-on-line" in tree.item(path).get_attribute("class")
        if path.count("/") == 4:
            break
        worst = min(o.worth for o in twin.outcomes(path) if o.exponent == 1)
        below = f"[role=treeitem][data-path^='{path}/']:not([hidden])"
        tree.root.locator(below).first.wait_for()
        first = next(iter(tree.worths(path).items()))
        assert first[1] == float(worst)
        path = f"{path}/{first[0]}"
    tree.selected(path)
    tree.at_rest()
    box = tree.plane.bounding_box()
    for node in ("", path):
        found = tree.box(node)
        assert found["y"] >= box["y"] and found["x"] >= box["x"]
        assert found["y"] + found["height"] <= box["y"] + box["height"]
        assert found["x"] + found["width"] <= box["x"] + box["width"]


def test_buttons_keys_wheel_and_fingers_zoom(tree):
    zoom, keys = tree.root.locator(".lib-zoom"), tree.page.keyboard

    def shown():
        return int(zoom.inner_text().removesuffix(" %"))

    tree.press("0")
    whole = shown()
    tree.button("Zoom in").click()
    nearer = shown()
    assert nearer > whole
    tree.item("").focus()
    keys.press("-")
    assert shown() == whole
    for _ in range(3):
        keys.press("+")
    keys.press("Home")
    tree.at_rest()
    near, middle = shown(), tree.box("")
    tree.item("").hover(position={"x": 20, "y": 20})
    tree.page.mouse.wheel(0, 1)
    assert shown() == near, "without Ctrl it scrolls"
    middle = tree.box("")
    keys.down("Control")
    tree.page.mouse.wheel(0, -60)
    keys.up("Control")
    tree.page.wait_for_function("([e, was]) => parseInt(e.innerText) > was",
                                arg=[zoom.element_handle(), near])  # fmt: skip
    there = tree.box("")
    grown = there["width"] / middle["width"]
    assert abs(middle["y"] + 20 - 20 * grown - there["y"]) < 3, "what is under the pointer stays"
    larger = shown()
    tree.plane.evaluate(PINCH)
    assert shown() == round(larger / 2)
    tree.button("Fit").click()
    assert shown() == whole


PINCH = """plane => {
  const { left, top } = plane.getBoundingClientRect();
  const at = (name, apart) => plane.dispatchEvent(new TouchEvent(name, {
    cancelable: true, bubbles: true,
    touches: [-apart, apart].map((x, identifier) => new Touch({
      identifier, target: plane, clientX: left + 150 + x, clientY: top + 100 })) }));
  at("touchstart", 80);
  at("touchmove", 40) }"""


def test_a_mouse_drags_the_tree_and_opens_nothing(tree):
    tree.press("0")
    for _ in range(6):
        tree.press("+")
    tree.press("Home")
    tree.at_rest()
    tree.item("").scroll_into_view_if_needed()
    box, nodes = tree.box(""), tree.root.locator(".lib-node:not([hidden])").count()
    tree.page.mouse.move(box["x"] + 60, box["y"] + 60)
    tree.page.mouse.down()
    tree.page.mouse.move(box["x"] + 40, box["y"] + 10, steps=4)
    tree.page.mouse.up()
    assert abs(tree.box("")["y"] - box["y"] + 50) < 2
    assert tree.root.locator(".lib-node:not([hidden])").count() == nodes
    tree.press("0")


@pytest.mark.ci
def test_plies_and_the_cut_change_the_tree_and_its_counts(tree, network):
    menu, less = tree.root.locator("select"), tree.root.locator("input[type=checkbox]")
    for plies, reduce in ((2, False), (3, True), (3, False)):
        menu.select_option(str(plies))
        less.set_checked(reduce)
        twin = SearchTree(network, BOARD, plies, reduce)
        wanted = twin.work()
        leaves = f"{wanted['leaves']:,}".replace(",", "\u202f")
        tree.root.locator("td[data-work=leaves]").get_by_text(leaves, exact=True).wait_for()
        assert tree.work() == wanted
        assert tree.worths("") == {str(o.action): float(o.worth) for o in twin.options()}


def test_what_is_open_stays_open_where_it_is_still_there(notebook, tree, network):
    notebook.ask(f"setattr(tree, 'board', {int(from_hex(tree.data('board')))})")
    menu, less = tree.root.locator("select"), tree.root.locator("input[type=checkbox]")
    tree.until_grown()
    path = next(step for step in "0123" if tree.item(step).count())
    state = f"{path}/{next(step for step in tree.opened(path) if step.endswith(':2'))}"
    after = f"{state}/{next(iter(tree.opened(state)))}"
    tree.opened(after)
    less.set_checked(True)  # behind a 4 the tree now ends one ply earlier
    twin = SearchTree(network, BOARD, 3, True)
    wanted = {str(o.action): float(o.worth) for o in twin.options(state)}
    worth = wanted[after.split("/")[-1]]
    tree.root.locator(f"[data-path='{after}'][data-worth='{worth!r}']").wait_for()
    tree.selected(after)
    assert tree.worths(state) == wanted
    menu.select_option("1")
    tree.page.wait_for_function(
        "e => !e.querySelector(\"[data-path*='/']\")", arg=tree.root.element_handle()
    )
    tree.selected(path)
    less.set_checked(False)
    menu.select_option("3")
    tree.until_open(after)
    assert tree.page.evaluate("document.activeElement.type") == "checkbox", "it stays there"


def test_back_returns_to_a_position_as_it_was_left(notebook, tree):
    begin = tree.data("board")
    path, *_ = tree.open_actions()
    lab.paste(tree, "2 4 2 4  4 2 4 2  2 4 2 4  4 2 4 8")
    tree.button("Look at this").click()
    tree.root.locator(".lib-reason", has_text="A dead end").wait_for()
    tree.button("Back").click()
    tree.until_open(path)
    assert tree.data("board") == begin
    notebook.until("int(tree.board)", int(from_hex(begin)))


def test_positions_of_a_recorded_game(notebook, network):
    game = Searched(notebook, GAME)
    steps = record_game(network, 1)
    turns = game.root.locator("input[type=range]")
    turns.focus()
    game.page.keyboard.press("End")
    assert game.data("board") == to_hex(steps[-1].board)
    game.root.locator(".lib-reason", has_text="A dead end").wait_for()
    game.button("Back").click()
    notebook.until("int(game.board)", int(steps[0].board))
    assert game.data("board") == to_hex(steps[0].board)
    assert game.root.locator(".lib-turns output").inner_text() == f"1 of {len(steps)}"
    turns.evaluate("e => { e.value = 7; e.oninput() }")
    twin = SearchTree(network, steps[7].board, 2)
    notebook.until("int(game.board)", int(steps[7].board))
    wanted = {str(o.action): float(o.worth) for o in twin.options()}
    path, worth = next(iter(wanted.items()))
    game.root.locator(f"[data-path='{path}'][data-worth='{worth!r}']").wait_for()
    assert game.worths("") == wanted


@pytest.mark.ci
def test_a_small_board_shows_what_the_solver_says(small):
    game = SmallGame(2, 3, progress=False)
    optimal, own = game.optimal(), game.follow("greedy")
    small.until_turn("you", to_hex(game.pack(TRAP)))
    assert small.shown("best") == list(optimal.actions(TRAP).values())
    assert small.shown("own") == list(own.actions(TRAP).values())
    assert float(small.data("best")) == optimal.of(TRAP)
    odds = small.root.locator("[data-odds='best:128']").inner_text()
    assert odds == f"{100 * optimal.odds(128).of(TRAP):.2f} %"
    marks = small.root.locator(".lib-choice").evaluate_all(MARKS)
    assert marks == [[], ["★ optimal", "◆ by greedy"], [], []]
    assert "greedy: 0 + " in small.card(1).inner_text()
    small.card(1).click()  # Right
    small.until_turn("luck")
    chances = small.root.locator(".lib-choice b").all_inner_texts()
    assert chances == ["90.00 %", "10.00 %"]
    next_state = small.card(0).get_attribute("data-spawn")
    assert next_state == "3:1"
    small.card(0).click()
    state = ((32, 16, 4), (2, 8, 4))
    small.until_turn("you", to_hex(game.pack(state)))
    assert small.shown("best") == list(optimal.actions(state).values())


def test_a_small_board_is_explored_by_keys_alone(notebook, small):
    small.press("Backspace", "Backspace")
    game = SmallGame(2, 3, progress=False)
    small.until_turn("you", to_hex(game.pack(TRAP)))
    small.page.keyboard.press("ArrowRight")
    small.until_turn("luck")
    small.page.keyboard.press("ArrowRight")
    assert small.page.evaluate("document.activeElement.dataset.spawn") == "3:2"
    small.page.keyboard.press("Enter")
    state = to_hex(game.pack(((32, 16, 4), (4, 8, 4))))
    small.until_turn("you", state)
    notebook.until("int(small.board)", int(from_hex(state)))
    small.page.keyboard.press("ArrowLeft")
    small.until("Left changes nothing")
    small.press("e")
    for tile in ("4096", "2", "0", "0", "0", "0"):
        small.page.keyboard.type(tile)
        small.page.keyboard.press("Tab")
    small.root.locator("[data-field='0']").press("Enter")
    small.until("4096 is not a tile (row 1, column 1): the largest on a board of 6 cells is 128")
    small.root.locator("[data-field='0']").fill("2b")
    small.root.locator("[data-field='0']").press("Enter")
    small.until("b is no digit")
    small.page.keyboard.press("Escape")
    small.press("n")
    small.page.wait_for_function(
        "([e, state]) => e.dataset.board !== state", arg=[small.root.element_handle(), state]
    )


def test_no_key_reaches_the_notebook(notebook):
    of_trees = (".lib-node", ".lib-board", "select", "input[type=checkbox]", ".lib-table")
    of_small = (".lib-choice", ".lib-mini", ".lib-table")
    trees = [(TREE, part) for part in of_trees] + [(GAME, "input[type=range]")]
    lab.check_keys(notebook, *trees, *((SMALL, part) for part in of_small))


def test_it_fits_a_phone_and_everything_has_a_name(notebook):
    lab.check_looks(notebook)
    lab.check_names(notebook, "button, input, select, [role=treeitem]:not([hidden]), [role=tree]")


def test_a_restarted_kernel_is_told_in_words(notebook, tree, small):
    notebook.restart()
    tree.until("The kernel has ended or was restarted")
    small.until("The kernel has ended or was restarted")
    small.press("n")
    small.until("then run this cell")
