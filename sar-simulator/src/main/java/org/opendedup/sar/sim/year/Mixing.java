package org.opendedup.sar.sim.year;

/** Mixes the bits of a number (the finalizer of Steele, Lea and Flood's SplitMix, OOPSLA 2014). */
final class Mixing {
    /** Difference of two numbers of a sequence that is mixed. */
    static final long STEP = 0x9e3779b97f4a7c15L;

    private static final int FRACTION_BITS = 53;

    private Mixing() {}

    static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }

    /** Returns a number from 0 to 1, without 1, that depends on {@code value} alone. */
    static double fraction(long value) {
        return (mix(value + STEP) >>> Long.SIZE - FRACTION_BITS) * 0x1p-53;
    }
}
