// A small seeded generator of random numbers (mulberry32): the same seed gives
// the same scenario on every machine.
export class Random {
  constructor (seed) { this.state = seed >>> 0 }

  uint32 () {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let t = this.state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  // below returns an integer in [0, n).
  below (n) { return this.uint32() % n }

  pick (list) { return list[this.below(list.length)] }

  chance (percent) { return this.below(100) < percent }
}
