/** Orders from growing per-rank lists. */

import { type Order, type OrderSizes, orderByRank } from '../order.ts';

/** Per rank, the ids in the order in which it runs them. */
export function orderFromLists(sizes: OrderSizes, lists: readonly (readonly number[])[]): Order {
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  return orderByRank(sizes, total, (ids, at, rank) => {
    const list = lists[rank]!;
    ids.set(list, at);
    return at + list.length;
  });
}
