"""Search for the best settings of a scenario with Optuna: pip install 'cwndlab[optuna]'

    python examples/search.py [TRIALS]

CUBIC shares a link with Reno. Which buffer, and which beta and C of CUBIC, give the most goodput while packets wait
little? Optuna's sampler proposes settings, cwndlab measures them, and the next proposal learns from it. The best
settings are then measured again, with seeds that the search has not seen: the best of many is partly luck.
"""

import sys

import optuna

import cwndlab as cl

SCENARIO = "scenarios/two-flows.toml"
SHORTER = {"duration": "20 s"}
SEARCHED = range(1, 4)
HELD_OUT = range(1001, 1011)
# One more Mbit/s is worth as much as this many milliseconds less in the queue.
MS_PER_MBPS = 2.0


def settings(trial: optuna.trial.BaseTrial) -> dict[str, str]:
    """What is tried: the ranges are part of the question."""
    beta, scaling = trial.suggest_float("beta", 0.5, 0.9), trial.suggest_float("C", 0.1, 2.0, log=True)
    return {
        "link.bottleneck.queue": f"{trial.suggest_float('queue_bdp', 0.1, 4.0, log=True):.4g} bdp",
        "flow.a.cc": f"{{ name = 'cubic', beta = {beta:.4g}, C = {scaling:.4g} }}",
    }


def score(changes: dict[str, str], seeds: range) -> cl.Measure:
    """What the settings are worth, over the seeds, with its interval."""
    result = cl.run(SCENARIO, seeds, SHORTER | changes, record="none")

    def worth(one: cl.Result) -> float:
        link = one.links.filter(name="bottleneck")
        return one.flows["goodput_mbps"].sum() - link["queue_delay_ms"].item() / MS_PER_MBPS

    return result.measure(worth)


def main(trials: int) -> None:
    """Search, and measure what was found beside the scenario as it is."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(lambda trial: score(settings(trial), SEARCHED).mean, n_trials=trials)
    found = settings(study.best_trial)
    for key, value in found.items():
        print(f"{key} = {value}")
    for name, changes in (("found", found), ("as it was", {})):
        measured = score(changes, HELD_OUT)
        low, high = measured.interval
        print(f"{name}: {measured.mean:.1f}, 95 % interval ({low:.1f}, {high:.1f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
