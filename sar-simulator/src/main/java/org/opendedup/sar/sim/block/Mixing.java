package org.opendedup.sar.sim.block;

/** Mixes the bits of a number (the finalizer of Steele, Lea and Flood's SplitMix, OOPSLA 2014). */
final class Mixing {
    private Mixing() {}

    static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }
}
