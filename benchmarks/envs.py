"""How many steps a second the Gymnasium environments make, observations and masks included.

    python benchmarks/envs.py [--games 4096] [--steps 200] [--rounds 5]

Every step is taken in full: legal actions by their masks, observations, rewards, masks.  The time
is that of `step` alone (CPU time of one thread, so that a busy machine tells the same), medians
over the rounds; "with choosing" has the choice of a legal random action in it, too.
"""

import argparse
import statistics
import time

import gymnasium
import numpy as np

from lib2048.envs import NAME


def legal(rng, masks):
    """Choose a legal action by each mask, at random: int[n]."""
    return np.argmax(masks * rng.random(masks.shape, np.float32), axis=-1)


def measure(env, steps, rng):
    """Return (steps a second of `step`, with choosing) of one round."""
    _, info = env.reset(seed=1)
    count = getattr(env.unwrapped, "num_envs", 1)
    inside, begun = 0.0, time.thread_time()
    for _ in range(steps):
        actions = legal(rng, info["action_mask"])
        before = time.thread_time()
        _, _, over, _, info = env.step(actions if count > 1 else int(actions))
        inside += time.thread_time() - before
        if count == 1 and over:
            _, info = env.reset()
    return steps * count / inside, steps * count / (time.thread_time() - begun)


def main():
    """Print a line for each form."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=4096, help="in step")
    parser.add_argument("--steps", type=int, default=200, help="of all games, in each round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    many = gymnasium.make_vec(NAME, options.games, vectorization_mode="vector_entry_point")
    forms = {
        "one game": (gymnasium.make(NAME), 50 * options.steps),
        f"{options.games} in step": (many, options.steps),
    }
    rng = np.random.default_rng(1)
    for name, (env, steps) in forms.items():
        measure(env, 10, rng)  # compiles
        rounds = [measure(env, steps, rng) for _ in range(options.rounds)]
        alone, choosing = map(statistics.median, zip(*rounds))
        print(f"{name:>14}: {alone:12,.0f} steps/s, with choosing {choosing:12,.0f}")


if __name__ == "__main__":
    main()
