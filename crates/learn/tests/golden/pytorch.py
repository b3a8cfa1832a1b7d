"""Writes pytorch.txt, what PyTorch makes of the same networks: python pytorch.py > pytorch.txt (torch and numpy needed).

Two steps of Q-learning on nearly the same weights differ by little, so each case takes 60, with a copy to the target
network every 20. Weights, inputs and dropout come from a sequence that the test in Rust draws too.
"""

from __future__ import annotations

import itertools

import torch


class Sequence:
    """Multiples of 1/512 in [-0.5, 0.5)."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def next(self) -> float:
        self._state = (self._state * 1103515245 + 12345) % 2**31
        return ((self._state >> 16) % 512) / 512 - 0.5

    def take(self, *shape: int) -> torch.Tensor:
        count = 1
        for length in shape:
            count *= length
        return torch.tensor([self.next() for _ in range(count)]).reshape(shape)


class Net(torch.nn.Module):
    """Linear layers with ReLU between them, and given dropout after each."""

    def __init__(self, sizes: list[int], seed: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(*pair) for pair in itertools.pairwise(sizes))
        sequence = Sequence(seed)
        with torch.no_grad():
            for layer in self.layers:
                layer.weight.copy_(sequence.take(*layer.weight.shape))
                layer.bias.copy_(sequence.take(*layer.bias.shape))

    def forward(self, x: torch.Tensor, masks: list[torch.Tensor] | None = None) -> torch.Tensor:
        for n, layer in enumerate(self.layers):
            x = layer(x)
            if n + 1 < len(self.layers):
                x = torch.relu(x)
                if masks is not None:
                    x = x * masks[n]
        return x


STEPS, BATCH, SYNC, DISCOUNT = 60, 32, 20, 0.9


def case(name: str, sizes: list[int], loss: str, *, double: bool, dropout: bool) -> None:
    online, target = Net(sizes, 1), Net(sizes, 1)
    adam = torch.optim.Adam(online.parameters(), lr=1e-3)
    cost = {"mse": torch.nn.MSELoss(), "huber": torch.nn.SmoothL1Loss()}[loss]
    sequence = Sequence(2)
    print("case", name)
    for step in range(1, STEPS + 1):
        states, after = sequence.take(BATCH, sizes[0]), sequence.take(BATCH, sizes[0])
        actions = ((sequence.take(BATCH) + 0.5) * sizes[-1]).long()
        rewards = 4 * sequence.take(BATCH)
        masks = None
        if dropout:
            # Feature by feature, so the mask is turned over; kept are nine of ten.
            masks = [(sequence.take(size, BATCH).T >= -0.4).float() / 0.9 for size in sizes[1:-1]]
        with torch.no_grad():
            values = target(after)
            best = online(after).argmax(1) if double else values.argmax(1)
            wanted = rewards + DISCOUNT * values.gather(1, best[:, None])[:, 0]
        taken = online(states, masks).gather(1, actions[:, None])[:, 0]
        error = cost(taken, wanted)
        adam.zero_grad()
        error.backward()
        adam.step()
        if step % SYNC == 0:
            target.load_state_dict(online.state_dict())
        if step in (1, 2, 3, 10, 20, 21, 30, 40, 60):
            norm = sum(float((p.detach().double() ** 2).sum()) for p in online.parameters())
            print("step", step, f"{float(error.detach()):.9g}", f"{norm:.9g}")
    with torch.no_grad():
        outputs = online(Sequence(3).take(1, sizes[0]))[0]
    print("outputs", *(f"{float(value):.9g}" for value in outputs))


if __name__ == "__main__":
    torch.set_num_threads(1)
    small, newreno, cubic = [3, 8, 8, 2], [3, 30, 30, 30, 7], [5, 50, 50, 50, 50, 50, 4]
    case("small mse", small, "mse", double=False, dropout=False)
    case("small huber double", small, "huber", double=True, dropout=False)
    case("newreno mse dropout", newreno, "mse", double=False, dropout=True)
    case("cubic mse dropout", cubic, "mse", double=False, dropout=True)
    case("cubic huber double", cubic, "huber", double=True, dropout=False)
