"""A plain 1F1B simulator as one would write it in an afternoon: lists of actions, a dictionary of finished ones, ranks
polled in turn. The measure that the engine is compared with in one run; prints makespan and milliseconds."""

import sys
import time


def order(pp, microbatches, rank):
    warm_up = min(microbatches, pp - 1 - rank)
    actions = [("F", m) for m in range(warm_up)]
    for i in range(microbatches - warm_up):
        actions += [("F", warm_up + i), ("B", i)]
    return actions + [("B", m) for m in range(microbatches - warm_up, microbatches)]


def simulate(pp, microbatches, forward=1.0, backward=2.0):
    lists = [order(pp, microbatches, rank) for rank in range(pp)]
    done, at, clock = {}, [0] * pp, [0.0] * pp
    moved = True
    while moved:
        moved = False
        for rank in range(pp):
            while at[rank] < len(lists[rank]):
                kind, m = lists[rank][at[rank]]
                if kind == "F":
                    ready = 0.0 if rank == 0 else done.get(("F", rank - 1, m))
                else:
                    ready = done.get(("F", rank, m)) if rank == pp - 1 else done.get(("B", rank + 1, m))
                if ready is None:
                    break
                clock[rank] = max(clock[rank], ready) + (forward if kind == "F" else backward)
                done[(kind, rank, m)] = clock[rank]
                at[rank] += 1
                moved = True
    return max(clock)


if __name__ == "__main__":
    pp, microbatches = int(sys.argv[1]), int(sys.argv[2])
    began = time.perf_counter()
    makespan = simulate(pp, microbatches)
    print(makespan, (time.perf_counter() - began) * 1000)
