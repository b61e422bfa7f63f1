"""The tree of a search, node by node, against the search itself: the same numbers, to the bit."""

import numpy as np
import pytest
from learners import noise_network
from tiers import one_in

from lib2048 import Network, SearchPlayer, heuristic_network, record_game
from lib2048.game import board as rules
from lib2048.search.expectimax import Search
from lib2048.search.tree import MOST_PLIES, SearchTree

FULL = rules.from_tiles([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])


@pytest.fixture(scope="module")
def network():
    return noise_network()


@pytest.fixture(scope="module")
def boards():
    """Positions of whole games, from the nearly empty board to the full one."""
    games = [record_game("heuristic", 1, number)[:-1] for number in range(4)]
    return [step.board for game in games for step in [*game[:6], *game[6::150], game[-1]]]


def chance_value(outcomes):
    """Add up an afterstate's value from its spawns, as the search does."""
    deep = max(outcome.plies for outcome in outcomes)
    apart = 0.0  # a search that is reduced adds up the shallow part by itself
    cells, total = len(outcomes) // 2, 0.0
    chances = {1: 1 - 0.1, 2: 0.1}
    for outcome in outcomes:
        part = chances[outcome.exponent] * np.float64(outcome.worth)
        if outcome.reduced and outcome.plies == 1 < deep:
            apart += part
        else:
            total += part
    return np.float32(apart / cells + total / cells) if apart else np.float32(total / cells)


@pytest.mark.parametrize("plies", range(1, MOST_PLIES + 1))
@pytest.mark.parametrize("reduce", [False, True])
def test_the_root_is_what_the_player_thinks(plies, reduce, network, boards):
    for board in boards:
        tree = SearchTree(network, board, plies, reduce)
        action, values = SearchPlayer(network, plies, reduce=reduce).decide(board)
        options = tree.options()
        assert {option.action: float(option.worth) for option in options} == values
        assert [option.action for option in options if option.best] == [action]


def test_a_hand_made_value_speaks_of_all(boards):
    made = heuristic_network()
    for board in boards[::5]:
        values = Search(made, 2, pays=False).decide(board)[1]
        options = SearchTree(made, board, 2, pays=False).options()
        assert {option.action: float(option.worth) for option in options} == values


def below(tree, path, option):
    """Go down from an option: check every number against the search, return the leaves' count."""
    here = f"{path}/{option.action}" if path else str(option.action)
    outcomes = tree.outcomes(here)
    if not outcomes:
        return 1
    assert sum(outcome.chance for outcome in outcomes) == pytest.approx(1)
    image = min(rules.symmetries(option.afterstate).tolist())
    count, turns = 0, tree.at(here).turn
    for outcome in outcomes:
        there = f"{here}/{outcome.cell}:{outcome.exponent}"
        options = tree.options(there)
        theirs = tree.at(there).image
        _, values, _ = Search(
            tree.network, outcome.plies, reduce=tree.reduce, pays=tree.pays
        ).decide(theirs)
        assert sorted(float(o.worth) for o in options) == sorted(values.values())
        assert float(outcome.worth) == max(values.values(), default=0)
        assert outcome.action == next((o.action for o in options if o.best), None)
        assert theirs in rules.symmetries(outcome.state)
        count += len(options) if outcome.plies == 1 else sum(below(tree, there, o) for o in options)
    order = sorted(outcomes, key=lambda o: (place_of(o.cell, turns), o.exponent))
    assert chance_value(order) == option.value
    assert image == int(tree.at(here).image)
    return count


def place_of(cell, turn):
    """Return where a cell lies in an image of the board."""
    return (int(rules.symmetries(np.uint64(1 << 4 * cell))[turn]).bit_length() - 1) // 4


@pytest.mark.parametrize("plies", one_in(2, [2, 3]))
@pytest.mark.parametrize("reduce", [False, True])
def test_every_node_has_the_numbers_of_the_search(plies, reduce, network, boards):
    crowded = [board for board in boards if 1 <= rules.count_empty(board) <= 4]
    for board in boards[::5] if plies == 2 else crowded[:2]:
        tree = SearchTree(network, board, plies, reduce)
        options = tree.options()
        leaves = sum(below(tree, "", option) for option in options)
        assert leaves + len(options) == tree.work(table=False)["leaves"]


@pytest.mark.parametrize("plies", [2, 3])
@pytest.mark.parametrize("reduce", [False, True])
def test_the_table_is_asked_and_answers_as_in_the_search(plies, reduce, network, boards):
    hits = 0
    for board in boards:
        tree = SearchTree(network, board, plies, reduce)
        work, bare = tree.work(), tree.work(table=False)
        assert (tree.asked, len(tree.known)) == (work["probes"], work["hits"])
        assert work["nodes"] == work["probes"] - work["hits"]
        assert bare["hits"] == 0 and bare["nodes"] >= work["nodes"]
        hits += len(tree.known)
        for path, before in tree.known.items():
            here, there = tree.at(path), tree.at(before)
            assert here.image == there.image and here.plies == there.plies and path != before
            assert here.board in rules.symmetries(there.board)
    assert hits > (0 if plies == 2 or reduce else 1000)


def test_a_dead_end_has_no_options_and_a_leaf_no_spawns(network):
    assert SearchTree(network, FULL).options() == []
    tree = SearchTree(network, rules.from_tiles([[2, 2, 4, 8], *[[0] * 4] * 3]), 1)
    assert [tree.outcomes(str(option.action)) for option in tree.options()] == [[], [], []]


def test_what_cannot_be_is_refused(network, boards, refused):
    tree = SearchTree(network, boards[0], 2)
    action = tree.options()[0].action
    refused(lambda: SearchTree(network, boards[0], 4), "a tree of 4 plies: use 1 to 3")
    refused(lambda: SearchTree(Network("cells:012", "state"), boards[0]), "values of afterstates")
    refused(lambda: tree.options(f"{action}"), "does not end at such a node")
    refused(lambda: tree.outcomes("5:1"), "come in turn")
    full = next(c for c, e in enumerate(rules.to_exponents(boards[0])) if e)
    refused(lambda: tree.options(f"{action}/{full}:3"), "no tile can spawn")
